package forward

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/drop"
	"linerate/internal/lab"
	"linerate/internal/study"
	"linerate/internal/testbed/bedtest"
)

const slicedSpec = `name: sim
question: What do rules cost?
variants:
  - name: none
  - name: rules-100
    settings:
      - firewall: {linear: 100}
parts:
  - {name: max, mode: overload, blocks: 3, seconds: 0.2}
  - {name: given, mode: overload, rate: 500kpps, blocks: 3, seconds: 0.2, warmup: 0}
metrics:
  - {metric: overload_forwarding_rate_pps, part: max, primary: true}
`

// TestSlicesThatFellShortAreDoneAgain: a generator that is delayed for two consecutive slices costs no trial,
// and every frame is accounted for.
func TestSlicesThatFellShortAreDoneAgain(t *testing.T) {
	sim := &bedtest.Simulated{Seed: 1, Late: func(_ string, n int) float64 {
		if n%4 == 1 || n%4 == 2 {
			return 0.3
		}
		return 0
	}}
	trials, _, err := simulate(t, sim, lab.Task{Spec: bedtest.Parse(t, slicedSpec), Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	again := 0
	for _, tr := range trials {
		if !tr.Valid {
			t.Errorf("%s, block %d, %s: %q", tr.Part, tr.Block, tr.Variant, tr.Reasons)
		}
		if tr.Part == "max" {
			if tr.Saw().Redone != nil {
				t.Error("a slice at maximum load has no rate to fall short of")
			}
			continue
		}
		again += tr.Saw().Redone.Number()
		if o := tr.Observed; o.Sent.Unsent != 0 || o.Sent.TxPackets != 100_000 {
			t.Errorf("the trial's account has a slice that was done again: %+v", o.Sent)
		}
		a, ok := study.DropAccount(tr.Observed)
		if want := uint64(100_000 + 17_500*tr.Saw().Redone.Number()); !ok || a.Offered != want || a.Excess != 0 || a.Unknown != 0 {
			t.Errorf("%d of %d frames accounted for, %d unknown, %d too many", a.Offered, want, a.Unknown, a.Excess)
		}
	}
	if want := 3 * 3; again < want {
		t.Errorf("%d slices were done again, want %d at least", again, want)
	}
}

// TestSlicesOfAStarvedDUTAreDoneAgain: two slices in which other load takes the DUT's CPU cost no trial
// either, at any load.
func TestSlicesOfAStarvedDUTAreDoneAgain(t *testing.T) {
	sim := &bedtest.Simulated{Seed: 1, Waits: func(n int) float64 {
		if n%8 < 2 {
			return 0.6
		}
		return 0
	}}
	trials, _, err := simulate(t, sim, lab.Task{Spec: bedtest.Parse(t, slicedSpec), Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	again := map[string]int{}
	for _, tr := range trials {
		if r := tr.Saw().Redone; r != nil {
			again[tr.Part] += r.Starved
			if r.Starved != r.Slices {
				t.Errorf("%s, block %d, %s: %+v", tr.Part, tr.Block, tr.Variant, r)
			}
		}
		if !tr.Valid || tr.Observed.Contention != 0 {
			t.Errorf("%s, block %d, %s: waited %g s, %q", tr.Part, tr.Block, tr.Variant, tr.Observed.Contention, tr.Reasons)
		}
	}
	if again["max"] == 0 || again["given"] == 0 {
		t.Errorf("slices were done again: %v", again)
	}
}

// TestAnArmThatIsNeverOfferedItsLoad: its trials are invalid after three tries of its first slice; those of
// the others are not.
func TestAnArmThatIsNeverOfferedItsLoad(t *testing.T) {
	s := bedtest.Parse(t, strings.Replace(slicedSpec, "rate: 500kpps", "rate: 50%", 1))
	sim := &bedtest.Simulated{Seed: 1, Late: func(device string, _ int) float64 {
		if device == "gen0-2" {
			return 0.4
		}
		return 0
	}}
	trials, _, err := simulate(t, sim, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	short := 0
	for _, tr := range trials {
		if tr.Part != "given" {
			continue
		}
		late := tr.Observed.Interleaved.Lane == 1
		if tr.Valid == late {
			t.Errorf("block %d, %s, late %t: %q", tr.Block, tr.Variant, late, tr.Reasons)
		}
		if !late {
			continue
		}
		short++
		if n := tr.Saw().Redone.Number(); n != sliceTries {
			t.Errorf("%d slices were done again, want %d", n, sliceTries)
		}
	}
	if short == 0 || slices.ContainsFunc(trials, func(tr study.Trial) bool { return tr.Part == "max" && !tr.Valid }) {
		t.Errorf("%d trials fell short: the test shows nothing", short)
	}
}

// TestEachArmsDropsAreItsOwn: machine-wide drop counters are attributed to the arm whose slice it was.
func TestEachArmsDropsAreItsOwn(t *testing.T) {
	trials, _, err := simulate(t, &bedtest.Simulated{Seed: 1, Backlogged: true}, lab.Task{Spec: bedtest.Parse(t, slicedSpec), Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	lost := map[string]uint64{}
	for _, tr := range trials {
		a, ok := study.DropAccount(tr.Observed)
		if !ok || a.Unknown != 0 || a.Excess != 0 || a.At(drop.Backlog) != *tr.Observed.Received.Lost ||
			tr.Observed.Drops["softnet.dropped"] != *tr.Observed.Received.Lost {
			t.Errorf("%s, block %d, %s: lost %d, told %+v of %v", tr.Part, tr.Block, tr.Variant, *tr.Observed.Received.Lost, a, tr.Observed.Drops)
		}
		if tr.Part == "max" {
			lost[tr.Variant] += a.At(drop.Backlog)
		}
	}
	if lost["rules-100"] == lost["none"] || lost["none"] == 0 {
		t.Errorf("both arms lost the same, %d and %d: the test shows nothing", lost["rules-100"], lost["none"])
	}
}

// TestAllArmsAreToldWhatTheMachineDropped: machine-wide drops are attributed to all arms if turns are too short
// to read the counters around each, as in mode cost.
func TestAllArmsAreToldWhatTheMachineDropped(t *testing.T) {
	lossy := &bedtest.Simulated{Backlogged: true, Faults: func(int) bedtest.Fault { return bedtest.Fault{NothingRx: true} }}
	trials, _, err := takeTurns(t, &bedtest.Turns{Simulated: lossy}, lab.Task{Spec: bedtest.Parse(t, turnsSpec), Seed: 5})
	if err == nil || !strings.Contains(err.Error(), "nothing arrived") || len(trials) < 2 {
		t.Fatalf("%d trials in which nothing arrived, %v", len(trials), err)
	}
	bedtest.ToldAlike(t, trials)
}

// TestOverloadTakesTurns: interleaved overloaded DUTs see the same machine, and each has its own account.
func TestOverloadTakesTurns(t *testing.T) {
	text := `name: turns
question: What does a hundred rules take?
variants:
  - name: none
  - name: rules-100
    settings:
      - firewall: {linear: 100}
parts:
  - {name: over, mode: overload, blocks: 4, seconds: 0.8}
metrics:
  - {metric: overload_forwarding_rate_pps, primary: true}
`
	wander := func(clock time.Duration) float64 { return 1 + 0.4*math.Sin(clock.Seconds()) }
	worst := func(text string) (worst float64) {
		trials, _, err := simulate(t, &bedtest.Simulated{Seed: 3, Wander: wander}, lab.Task{Spec: bedtest.Parse(t, text), Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		rates := map[int]map[string]float64{}
		for _, tr := range trials {
			if !tr.Valid || tr.Observed.Received.RxPackets+*tr.Observed.Received.Lost != tr.Observed.Sent.TxPackets || math.Abs(tr.Observed.Sent.Seconds-0.8) > 0.01 {
				t.Fatalf("%s: valid %v, %v: sent %+v, received %+v", tr.Variant, tr.Valid, tr.Reasons, tr.Observed.Sent, tr.Observed.Received)
			}
			if rates[tr.Block] == nil {
				rates[tr.Block] = map[string]float64{}
			}
			rates[tr.Block][tr.Variant] = tr.Metrics[study.OverloadRate]
		}
		for _, b := range rates {
			worst = max(worst, math.Abs(math.Log(b[study.AA]/b["none"])))
		}
		return worst
	}
	turns, apart := worst(text), worst(strings.Replace(text, "variants:", "interleave: false\nvariants:", 1))
	if turns > 0.03 || apart < 3*turns {
		t.Errorf("the control differs from itself by %.3f in turns, by %.3f one after the other", turns, apart)
	}
}
