package search

import (
	"math"
	"strings"
	"testing"
	"time"

	"linerate/internal/lab"
	packets "linerate/internal/lab/forward"
	"linerate/internal/study"
	"linerate/internal/testbed/bedtest"
)

const searchSpec = `name: find
question: How much without loss?
variants:
  - name: none
  - name: rules-100
    settings:
      - firewall: {linear: 100}
parts:
  - name: search
    mode: overload
    blocks: 4
    seconds: 0.5
    search: {method: mlr, goals: [ndr, pdr], width_percent: 1, latency_at: [0.5]}
metrics:
  - {metric: conditional_throughput_pps, primary: true}
`

// by returns searchSpec, or a similar one, with the given method.
func by(method, text string) string {
	if method == study.RFC2544 {
		return strings.NewReplacer("method: mlr, goals: [ndr, pdr]", "method: rfc2544", study.ConditionalThroughput, study.Throughput).Replace(text)
	}
	return text
}

// TestSearchFindsCapacity: both methods find the simulated router's capacity within their width, and the study
// its verdict.
func TestSearchFindsCapacity(t *testing.T) {
	for _, method := range []string{study.MLR, study.RFC2544} {
		s := bedtest.Parse(t, by(method, searchSpec))
		sim := &bedtest.Simulated{Seed: 3}
		trials, _, err := simulate(t, sim, lab.Task{Spec: s, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range trials {
			if !tr.Valid {
				t.Fatalf("%s: invalid: %v", method, tr.Reasons)
			}
			run := tr.Saw().Search
			g := run.Goals[0]
			if !g.Regular || (*g.Upper-*g.Lower) / *g.Upper > 0.0101 || run.Method != method || run.TrialSeconds <= 0 {
				t.Errorf("%s: %+v", method, g)
			}
			for _, p := range run.Points {
				if p.Load <= *g.Lower && p.LossRatio > 0 && p.Load > *g.Lower*0.5 {
					t.Errorf("%s: loss %g at %g pps, below the bound of %g", method, p.LossRatio, p.Load, *g.Lower)
				}
			}
			if len(run.Latency) != 1 || math.Abs(run.Latency[0].Load-*g.Throughput/2) > 1 {
				t.Errorf("%s: latency %+v", method, run.Latency)
			}
		}
		r := study.Analyse(s, 5, study.Environment{}, bedtest.Drifting(trials))
		v := r.Verdicts[0]
		if v.Variant != "rules-100" || v.Verdict != "worse" || v.Metric != s.Metrics[0].Metric {
			t.Errorf("%s: %+v", method, v)
		}
		want := bedtest.HookNS + 100*bedtest.RuleNS
		if !(math.Abs(v.EffectNS.Float()-want) <= 0.06*want) {
			t.Errorf("%s: a hundred rules take %v ns, want %g", method, v.EffectNS, want)
		}
	}
}

// TestSearchBoundByGenerator: with a generator slower than the router the search finds the generator's limit, and says so.
func TestSearchBoundByGenerator(t *testing.T) {
	s := bedtest.Parse(t, searchSpec)
	sim := &bedtest.Simulated{Seed: 3, Faults: func(int) bedtest.Fault { return bedtest.Fault{GeneratorX: 0.5} }}
	s.Parts[0].Blocks, s.Retries = 1, 0
	trials, _, err := simulate(t, sim, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range trials {
		if tr.Valid || !strings.Contains(tr.Reasons[0].String(), "the largest load is a lower bound") {
			t.Errorf("%s: valid %v, %v", tr.Variant, tr.Valid, tr.Reasons)
		}
	}
}

// TestSearchKeepsToItsTime: a search keeps its time limit, whatever had to be repeated.
func TestSearchKeepsToItsTime(t *testing.T) {
	for _, text := range []string{searchSpec, strings.Replace(searchSpec, "variants:", "interleave: false\nvariants:", 1)} {
		s := bedtest.Parse(t, text)
		s.Parts[0].Blocks, s.Retries, s.Parts[0].Search.LimitSeconds = 1, 0, 6
		sim := &bedtest.Simulated{Seed: 3, Faults: func(int) bedtest.Fault { return bedtest.Fault{Contention: 0.3} },
			Wander: func(c time.Duration) float64 { return 1 + 0.3*math.Sin(40*c.Seconds()) }}
		trials, _, err := simulate(t, sim, lab.Task{Spec: s, Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range trials {
			run, repeated := tr.Saw().Search, 0
			for _, p := range run.Points {
				if p.Repeated {
					repeated++
				}
			}
			if run.TrialSeconds > 6 || run.TrialSeconds < 5 || repeated == 0 || tr.Valid {
				t.Errorf("%s: %.1f s of 6, %d trials repeated, valid %v %v", tr.Variant, run.TrialSeconds, repeated, tr.Valid, tr.Reasons)
			}
		}
	}
}

// runners runs searches and packet trials on a simulated testbed.
func runners(sim *bedtest.Simulated) []lab.Runner {
	return []lab.Runner{Runner{&packets.Runner{Bed: bedtest.On(sim), Engine: sim}}, &packets.Runner{Bed: bedtest.On(sim), Engine: sim}}
}

func simulate(t *testing.T, sim *bedtest.Simulated, task lab.Task) ([]study.Trial, lab.Outcome, error) {
	t.Helper()
	trials, _, out, err := bedtest.Run(t, &lab.Lab{Machine: sim, Runners: runners(sim)}, task)
	return trials, out, err
}

// TestAllArmsAreToldWhatTheMachineDropped: where arms take turns too short to read
// its counters around each.
func TestAllArmsAreToldWhatTheMachineDropped(t *testing.T) {
	trials, _, err := simulate(t, &bedtest.Simulated{Seed: 3, Backlogged: true}, lab.Task{Spec: bedtest.Parse(t, searchSpec), Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	bedtest.ToldAlike(t, trials)
}
