package search

import (
	"math"
	"strings"
	"testing"
	"time"

	"linerate/internal/lab"
	"linerate/internal/study"
	"linerate/internal/testbed/bedtest"
)

// spread returns how much a second copy of the control differs from it at most, as a log ratio.
func spread(t *testing.T, text string, wander func(time.Duration) float64) (worst float64, how study.Interleaving) {
	t.Helper()
	s := bedtest.Parse(t, by(study.RFC2544, text))
	trials, _, err := simulate(t, &bedtest.Simulated{Seed: 3, Wander: wander}, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]map[string]float64{}
	for _, tr := range trials {
		if found[tr.Block] == nil {
			found[tr.Block] = map[string]float64{}
		}
		if g := tr.Saw().Search.Goals; len(g) > 0 && g[0].Throughput != nil {
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

// TestLockstepSeesOneMachine: if the machine's speed varies within seconds, searches in lockstep see the same
// machine, and consecutive searches do not.
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

// TestLockstepWithoutAnArm: an arm that cannot be created is unavailable; the others are searched.
func TestLockstepWithoutAnArm(t *testing.T) {
	text := strings.Replace(searchSpec, "firewall: {linear: 100}", "{sysctl: net.ipv4.no_such, value: 1}", 1)
	sim := &bedtest.Simulated{Seed: 3, Refuse: bedtest.Refuse("net.ipv4.no_such")}
	s := bedtest.Parse(t, text)
	s.Parts[0].Blocks = 2
	trials, _, err := simulate(t, sim, lab.Task{Spec: s, Seed: 5})
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
		case !tr.Valid || len(tr.Saw().Search.Latency) != 1:
			t.Errorf("%s: valid %v, %v, latency %v", tr.Variant, tr.Valid, tr.Reasons, tr.Saw().Search.Latency)
		}
	}
	if gone != 1 || len(trials) != 2*2+1 {
		t.Errorf("%d trials, %d of the unavailable arm", len(trials), gone)
	}
}
