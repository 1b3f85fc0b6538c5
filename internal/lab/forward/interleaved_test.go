package forward

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"linerate/internal/lab"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed/bedtest"
)

const turnsSpec = `name: sim
question: What do rules cost?
variants:
  - name: none
  - name: rules-100
    settings:
      - firewall: {linear: 100}
  - name: set
    settings:
      - firewall: {table: 1000}
retries: 1
parts:
  - {name: cost, mode: cost, blocks: 4, seconds: 0.2}
`

// takeTurns runs a task on a simulated testbed with interleaved arms; kept are the files of raw slices.
func takeTurns(t *testing.T, sim *bedtest.Turns, task lab.Task) (trials []study.Trial, kept map[string][]byte, err error) {
	t.Helper()
	trials, kept, _, err = bedtest.Run(t, &lab.Lab{Machine: sim.Simulated, Runners: []lab.Runner{&Runner{Bed: bedtest.On(sim.Simulated), Engine: sim}}}, task)
	return trials, kept, err
}

// runners runs packet trials on a simulated testbed.
func runners(sim *bedtest.Simulated) []lab.Runner {
	return []lab.Runner{&Runner{Bed: bedtest.On(sim), Engine: sim}}
}

func simulate(t *testing.T, sim *bedtest.Simulated, task lab.Task) ([]study.Trial, lab.Outcome, error) {
	t.Helper()
	trials, _, out, err := bedtest.Run(t, &lab.Lab{Machine: sim, Runners: runners(sim)}, task)
	return trials, out, err
}

func TestTurnsFindKnownCosts(t *testing.T) {
	s := bedtest.Parse(t, turnsSpec)
	sim := &bedtest.Turns{Simulated: &bedtest.Simulated{Noise: 0.001, Seed: 1}}
	trials, kept, err := takeTurns(t, sim, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(trials) != 4*len(s.Arms()) || len(kept) != 4 || sim.Opened != 1 {
		t.Fatalf("%d trials, %d files of slices, %d slicers", len(trials), len(kept), sim.Opened)
	}
	r := study.Analyse(s, 5, study.Environment{}, trials)
	want := map[string]float64{"rules-100": bedtest.HookNS + 100*bedtest.RuleNS, "set": bedtest.HookNS + bedtest.SetNS}
	for _, v := range r.Verdicts {
		if v.Metric != study.CostNS {
			continue
		}
		effect := 100 * want[v.Variant] / bedtest.ForwardNS
		if math.Abs(v.EffectPercent.Float()-effect) > 0.5 || v.N != 4 || v.Interleaved != study.BySlices {
			t.Errorf("%s: %+v over %d instances (%s), want %.1f %%", v.Variant, v.Effect, v.N, v.Interleaved, effect)
		}
	}
	for _, tr := range trials {
		o := tr.Observed.Interleaved
		if sum := sha256.Sum256(kept[o.Raw]); hex.EncodeToString(sum[:]) != o.SHA256 {
			t.Errorf("%s of block %d: its slices are not the file %s", tr.Variant, tr.Block, o.Raw)
		}
	}
}

// TestOrderOfMakingIsRandom: no arm is always created first, because that affects its place in memory.
func TestOrderOfMakingIsRandom(t *testing.T) {
	s := bedtest.Parse(t, strings.Replace(turnsSpec, "blocks: 4", "blocks: 12", 1))
	trials, _, err := takeTurns(t, &bedtest.Turns{Simulated: &bedtest.Simulated{}}, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]map[int]bool{}
	for _, tr := range trials {
		if places[tr.Variant] == nil {
			places[tr.Variant] = map[int]bool{}
		}
		places[tr.Variant][tr.Observed.Interleaved.Lane] = true
	}
	for arm, at := range places {
		if len(at) < 3 {
			t.Errorf("%s was created at positions %v in 12 instances", arm, at)
		}
	}
}

// TestTornInstanceIsRunAgainWhole: after a crash between two trials of an instance all its arms are measured
// again, and only those count.
func TestTornInstanceIsRunAgainWhole(t *testing.T) {
	s := bedtest.Parse(t, turnsSpec)
	whole, _, err := takeTurns(t, &bedtest.Turns{Simulated: &bedtest.Simulated{}}, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{1, 3, 4, 6, len(whole)} {
		rest, _, err := takeTurns(t, &bedtest.Turns{Simulated: &bedtest.Simulated{}}, lab.Task{Spec: s, Seed: 5, Done: slices.Clone(whole[:cut])})
		if err != nil {
			t.Fatal(err)
		}
		if want := len(whole) - cut/4*4; len(rest) != want {
			t.Errorf("resumed after %d: %d trials, want %d", cut, len(rest), want)
		}
		r := study.Analyse(s, 5, study.Environment{}, append(slices.Clone(whole[:cut]), rest...))
		if !r.Complete || r.Verdicts[0].N != 4 {
			t.Errorf("resumed after %d: complete %v, %d blocks", cut, r.Complete, r.Verdicts[0].N)
		}
	}
}

func TestUnavailableArmLeavesTheOthers(t *testing.T) {
	sim := &bedtest.Turns{Simulated: &bedtest.Simulated{Refuse: func(set setting.Setting) string {
		if set.Rules != nil && set.Rules.SetElements > 0 {
			return "this kernel has no sets"
		}
		return ""
	}}}
	s := bedtest.Parse(t, turnsSpec)
	trials, _, err := takeTurns(t, sim, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	r := study.Analyse(s, 5, study.Environment{}, trials)
	if len(r.Unavailable) != 1 || !r.Complete || r.Verdicts[0].N != 4 {
		t.Errorf("unavailable %+v, complete %v, %d blocks", r.Unavailable, r.Complete, r.Verdicts[0].N)
	}
}

// TestBusyCPUMakesAnInstanceInvalid: if nearly every slice is disturbed there is no verdict, but a reason.
func TestBusyCPUMakesAnInstanceInvalid(t *testing.T) {
	sim := &bedtest.Turns{Simulated: &bedtest.Simulated{Faults: func(int) bedtest.Fault { return bedtest.Fault{Contention: 0.9} }}}
	trials, _, err := takeTurns(t, sim, lab.Task{Spec: bedtest.Parse(t, turnsSpec), Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	if trials[0].Valid || !strings.Contains(trials[0].Reasons[0].String(), "shared their CPU") {
		t.Errorf("%+v", trials[0].Reasons)
	}
	if n := study.Attempts(trials, 1); n != 2 {
		t.Errorf("%d instances of block 1, want one retry", n)
	}
}
