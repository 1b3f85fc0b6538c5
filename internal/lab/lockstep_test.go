package lab

import (
	"math"
	"strings"
	"testing"
	"time"

	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/study/forward"
	"linerate/internal/study/search"
	"linerate/internal/testbed/bedtest"
)

// spread is by how much a variant that is the control once more differs from
// it, at most, as a log ratio.
func spread(t *testing.T, text string, wander func(time.Duration) float64) (worst float64, how study.Interleaving) {
	t.Helper()
	s, err := search.WithSearch(parse(t, text), search.RFC2544)
	if err != nil {
		t.Fatal(err)
	}
	trials, _, err := simulate(t, &bedtest.Simulated{Seed: 3, Wander: wander}, Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]map[string]float64{}
	for _, tr := range trials {
		if found[tr.Block] == nil {
			found[tr.Block] = map[string]float64{}
		}
		if g := search.In(tr.Observed).Goals; len(g) > 0 && g[0].Throughput != nil {
			found[tr.Block][tr.Variant] = *g[0].Throughput
		}
		how = study.InSequence
		if tr.Observed.Interleaved != nil {
			how = tr.Observed.Interleaved.How
		}
	}
	if len(found) != s.Parts[0].Blocks {
		t.Fatalf("%d blocks of %d", len(found), s.Parts[0].Blocks)
	}
	for _, b := range found {
		worst = max(worst, math.Abs(math.Log(b[study.AA]/b["none"])))
	}
	return worst, how
}

// A machine whose speed wanders within seconds is the same machine to searches
// that advance together, and another to each of those that follow each other.
func TestLockstepSeesOneMachine(t *testing.T) {
	wander := func(clock time.Duration) float64 { return 1 + 0.4*math.Sin(clock.Seconds()/7) }
	together, how := spread(t, searchSpec, wander)
	if how != study.Lockstep || together > 0.08 {
		t.Errorf("%s: the control differs from itself by a factor of %.3f", how, math.Exp(together))
	}
	apart, how := spread(t, strings.Replace(searchSpec, "variants:", "interleave: false\nvariants:", 1), wander)
	if how != study.InSequence || apart < 3*together {
		t.Errorf("%s: the control differs from itself by a factor of %.3f, in lockstep by %.3f: the test shows nothing", how, math.Exp(apart), math.Exp(together))
	}
}

// An arm that cannot be had is unavailable; the others are searched.
func TestLockstepWithoutAnArm(t *testing.T) {
	text := strings.Replace(searchSpec, "nft: {linear: 100}", "{sysctl: net.ipv4.no_such, value: 1}", 1)
	sim := &bedtest.Simulated{Seed: 3, Refuse: refuse("net.ipv4.no_such")}
	s := parse(t, text)
	s.Parts[0].Blocks = 2
	trials, _, err := simulate(t, sim, Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	for _, tr := range trials {
		switch {
		case tr.Variant == "rules-100":
			gone++
			if !strings.Contains(tr.Unavailable, "no such sysctl") {
				t.Errorf("rules-100: %+v", tr)
			}
		case !tr.Valid || len(search.In(tr.Observed).Latency) != 1:
			t.Errorf("%s: valid %v, %v, latency %v", tr.Variant, tr.Valid, tr.Reasons, search.In(tr.Observed).Latency)
		}
	}
	if gone != 1 || len(trials) != 2*2+1 {
		t.Errorf("%d trials, %d of the arm that is not there", len(trials), gone)
	}
}

// refuse makes a setting that this machine lacks.
func refuse(name string) func(setting.Setting) string {
	return func(s setting.Setting) string {
		if s.Name == name {
			return "no such sysctl"
		}
		return ""
	}
}

// Overloaded DUTs that take turns see one machine too, and each keeps its own
// account.
func TestOverloadTakesTurns(t *testing.T) {
	text := `name: turns
question: What does a hundred rules take?
variants:
  - name: none
  - name: rules-100
    settings:
      - nft: {linear: 100}
parts:
  - {name: over, mode: overload, blocks: 4, seconds: 0.8}
metrics:
  - {metric: overload_forwarding_rate_pps, primary: true}
`
	wander := func(clock time.Duration) float64 { return 1 + 0.4*math.Sin(clock.Seconds()) }
	worst := func(text string) (worst float64) {
		trials, _, err := simulate(t, &bedtest.Simulated{Seed: 3, Wander: wander}, Task{Spec: parse(t, text), Seed: 5})
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
			rates[tr.Block][tr.Variant] = tr.Metrics[forward.OverloadRate]
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
