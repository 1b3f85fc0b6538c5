package lab_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/lab"
	"linerate/internal/lab/forward"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/bedtest"
)

const spec = `name: sim
question: What do rules cost?
variants:
  - name: none
  - name: rules-100
    settings:
      - firewall: {linear: 100}
  - name: set
    settings:
      - firewall: {table: 1000}
parts:
  - {name: cost, mode: cost, blocks: 4, seconds: 0.5}
  - {name: max, mode: overload, blocks: 2, seconds: 0.5}
  - {name: given, mode: overload, rate: 500kpps, blocks: 2, seconds: 0.5}
`

// runners runs packet trials on a simulated testbed.
func runners(sim *bedtest.Simulated) []lab.Runner {
	return []lab.Runner{&forward.Runner{Bed: bedtest.On(sim), Engine: sim}}
}

func simulate(t *testing.T, sim *bedtest.Simulated, task lab.Task) ([]study.Trial, lab.Outcome, error) {
	t.Helper()
	trials, _, out, err := bedtest.Run(t, &lab.Lab{Machine: sim, Runners: runners(sim)}, task)
	return trials, out, err
}

func TestRunFindsKnownCosts(t *testing.T) {
	s := bedtest.Parse(t, spec)
	sim := &bedtest.Simulated{Noise: 0.005, Seed: 1}
	trials, out, err := simulate(t, sim, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	if want := (4 + 2 + 2) * 4; len(trials) != want {
		t.Fatalf("%d trials, want %d", len(trials), want)
	}
	if !sim.Closed() || len(out.Testbeds) != 2 {
		t.Errorf("closed %v, testbeds %v", sim.Closed(), out.Testbeds)
	}
	r := study.Analyse(s, 5, study.Environment{}, trials)
	for _, v := range r.Verdicts {
		if v.Primary && v.Variant == "rules-100" {
			want := bedtest.HookNS + 100*bedtest.RuleNS
			if v.Verdict != "worse" || v.EffectNS.Float() < want-10 || v.EffectNS.Float() > want+10 {
				t.Errorf("a hundred rules: %s, %g ns, want worse, %g ns", v.Verdict, v.EffectNS.Float(), want)
			}
		}
		if v.Part == "given" && v.Metric == study.LossRatio && v.VariantMean.Float() != 0 {
			t.Errorf("loss of %g below the capacity", v.VariantMean.Float())
		}
		if v.Part == "max" && v.Metric == study.LossRatio && v.VariantMean.Float() < 0.5 {
			t.Errorf("loss %g at six times the capacity", v.VariantMean.Float())
		}
	}
	for _, tr := range trials {
		if tr.Reasons == nil {
			t.Errorf("the reasons of a valid trial are null, not empty")
		}
		if !tr.Valid {
			t.Errorf("invalid: %s block %d: %q", tr.Variant, tr.Block, tr.Reasons)
		}
	}
}

// TestOneBypassPerBlock: the bypass without a DUT is measured once in every block of mode cost, and never in
// mode overload.
func TestOneBypassPerBlock(t *testing.T) {
	trials, _, err := simulate(t, &bedtest.Simulated{}, lab.Task{Spec: bedtest.Parse(t, spec), Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	count := map[int]int{}
	for _, tr := range trials {
		if tr.Saw().Bypass != nil {
			count[tr.Block]++
		}
		if ns, ok := tr.Metrics[study.BypassNS]; tr.Mode == testbed.Cost && (!ok || ns < bedtest.BypassNS-1 || ns > bedtest.BypassNS+1) {
			t.Errorf("bypass %g ns, want %g", ns, bedtest.BypassNS)
		}
	}
	if want := map[int]int{1: 1, 2: 1, 3: 1, 4: 1}; !cmp.Equal(count, want) {
		t.Errorf("bypass runs by block: %v", count)
	}
}

func TestRunGoesOnWhereItStopped(t *testing.T) {
	s := bedtest.Parse(t, spec)
	whole, _, err := simulate(t, &bedtest.Simulated{}, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 1, 5, 16, len(whole)} {
		rest, _, err := simulate(t, &bedtest.Simulated{}, lab.Task{Spec: s, Seed: 5, Done: slices.Clone(whole[:cut])})
		if err != nil {
			t.Fatal(err)
		}
		all := append(slices.Clone(whole[:cut]), rest...)
		if len(all) != len(whole) {
			t.Fatalf("resumed after %d: %d trials, want %d", cut, len(all), len(whole))
		}
		for i := range all {
			if all[i].Variant != whole[i].Variant || all[i].Block != whole[i].Block || all[i].Order != whole[i].Order {
				t.Fatalf("resumed after %d: trial %d is %s of block %d", cut, i, all[i].Variant, all[i].Block)
			}
		}
	}
}

func TestFaultsMakeTrialsInvalidAndAreRetried(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault bedtest.Fault
		want  string
	}{
		{"drift", bedtest.Fault{Drift: 0.5}, "drift:"},
		{"contention", bedtest.Fault{Contention: 0.6}, "contention:"},
		{"no end", bedtest.Fault{NoEnd: true}, "drain:"},
		{"nothing", bedtest.Fault{NothingRx: true}, "nothing arrived:"},
		{"counters", bedtest.Fault{Backwards: true}, "counters:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := &bedtest.Simulated{Faults: func(n int) bedtest.Fault {
				if n == 2 {
					return c.fault
				}
				return bedtest.Fault{}
			}}
			trials, _, err := simulate(t, sim, lab.Task{Spec: bedtest.Parse(t, spec), Seed: 5})
			if err != nil {
				t.Fatal(err)
			}
			bad := trials[2]
			if bad.Valid || !slices.ContainsFunc(bad.Why(), func(r string) bool { return strings.HasPrefix(r, c.want) }) {
				t.Errorf("reasons %q, want one %q…", bad.Reasons, c.want)
			}
			if again := trials[4]; again.Variant != bad.Variant || !again.Retry || !again.Valid || again.Block != 1 {
				t.Errorf("the retry is %+v", again)
			}
		})
	}
}

func TestHeadroomGate(t *testing.T) {
	s := bedtest.Parse(t, spec)
	s.Parts = s.Parts[1:2]
	s.Metrics = []study.Goal{{Metric: study.OverloadRate, Part: "max", Primary: true, MarginPercent: 10}}
	sim := &bedtest.Simulated{Faults: func(int) bedtest.Fault { return bedtest.Fault{GeneratorX: 1.05} }}
	trials, _, err := simulate(t, sim, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	if trials[0].Valid || !strings.HasPrefix(trials[0].Reasons[0].String(), "headroom:") {
		t.Errorf("a generator-bound trial is %v: %q", trials[0].Valid, trials[0].Reasons)
	}
}

func TestUnavailableVariant(t *testing.T) {
	sim := &bedtest.Simulated{Refuse: func(s setting.Setting) string {
		if s.Rules != nil && s.Rules.SetElements > 0 {
			return "this kernel has no sets"
		}
		return ""
	}}
	s := bedtest.Parse(t, spec)
	trials, _, err := simulate(t, sim, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	r := study.Analyse(s, 5, study.Environment{}, trials)
	if len(r.Unavailable) != 1 || !strings.Contains(r.Unavailable[0].Reason, "this kernel has no sets") {
		t.Errorf("unavailable: %+v", r.Unavailable)
	}
	if !r.Complete {
		t.Error("the study did not go on")
	}
	n := 0
	for _, tr := range trials {
		if tr.Variant == "set" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the unavailable variant was tried %d times", n)
	}
}

func TestHostSettingsNeedConsent(t *testing.T) {
	text := strings.Replace(spec, "firewall: {linear: 100}", "{sysctl: net.core.netdev_budget, value: 600, scope: host}", 1)
	trials, _, err := simulate(t, &bedtest.Simulated{}, lab.Task{Spec: bedtest.Parse(t, text), Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(trials, func(tr study.Trial) bool { return tr.Variant == "rules-100" })
	if !strings.Contains(trials[i].Unavailable, "global to the kernel") {
		t.Errorf("unavailable: %q", trials[i].Unavailable)
	}
}

func TestBrokenTestbedEndsTheRun(t *testing.T) {
	sim := &bedtest.Simulated{Faults: func(int) bedtest.Fault { return bedtest.Fault{NothingRx: true} }}
	trials, _, err := simulate(t, sim, lab.Task{Spec: bedtest.Parse(t, spec), Seed: 5})
	if err == nil || !strings.Contains(err.Error(), "3 trials in a row measured nothing") {
		t.Errorf("error %v", err)
	}
	if len(trials) != 3 {
		t.Errorf("%d trials are kept", len(trials))
	}
}

func TestModeThatCannotBeHad(t *testing.T) {
	sim := &bedtest.Simulated{}
	l := &lab.Lab{Machine: sim, Runners: []lab.Runner{&forward.Runner{Engine: sim, Bed: func(_ context.Context, mode testbed.Mode) (testbed.Bed, error) {
		if mode == testbed.Overload {
			return nil, errors.New("mode overload needs two CPUs")
		}
		sim.Mode = mode
		return sim, nil
	}}}}
	s := bedtest.Parse(t, spec)
	n := 0
	out, err := l.Run(context.Background(), lab.Task{Spec: s, Seed: 5}, func(study.Trial) error { n++; return nil }, nil)
	if err != nil || n != 16 {
		t.Fatalf("%d trials, %v", n, err)
	}
	if !strings.Contains(out.Unavailable["overload"], "two CPUs") {
		t.Errorf("unavailable: %v", out.Unavailable)
	}
	s.Metrics[0].Primary, s.Metrics[2].Primary = false, true
	if _, err := l.Run(context.Background(), lab.Task{Spec: s, Seed: 5}, func(study.Trial) error { return nil }, nil); err == nil {
		t.Error("no error although the primary metric's mode is unavailable")
	}
}

func TestInterruptDropsTheUnfinishedTrial(t *testing.T) {
	sim := &bedtest.Simulated{}
	ctx, cancel := context.WithCancel(context.Background())
	l := &lab.Lab{Machine: sim, Runners: []lab.Runner{&forward.Runner{Engine: sim, Bed: func(_ context.Context, mode testbed.Mode) (testbed.Bed, error) {
		sim.Mode = mode
		return sim, nil
	}}}}
	n := 0
	_, err := l.Run(ctx, lab.Task{Spec: bedtest.Parse(t, spec), Seed: 5}, func(study.Trial) error {
		if n++; n == 3 {
			cancel()
		}
		return nil
	}, nil)
	if !errors.Is(err, context.Canceled) || n != 3 || !sim.Closed() {
		t.Errorf("%d trials, closed %v, %v", n, sim.Closed(), err)
	}
}

func TestProgressCountsDown(t *testing.T) {
	sim := &bedtest.Simulated{}
	l := &lab.Lab{Machine: sim, Runners: []lab.Runner{&forward.Runner{Engine: sim, Bed: func(_ context.Context, mode testbed.Mode) (testbed.Bed, error) {
		sim.Mode = mode
		return sim, nil
	}}}}
	var last lab.Progress
	_, err := l.Run(context.Background(), lab.Task{Spec: bedtest.Parse(t, spec), Seed: 5}, func(study.Trial) error { return nil }, func(p lab.Progress) {
		if p.Done < last.Done || p.Total != 32 {
			t.Errorf("%d of %d after %d", p.Done, p.Total, last.Done)
		}
		last = p
	})
	if err != nil || last.Done != 32 || last.Left != 0 {
		t.Errorf("the end is %d of %d, %v left, %v", last.Done, last.Total, last.Left, err)
	}
	if e := lab.Estimate(lab.Task{Spec: bedtest.Parse(t, spec), Seed: 5}); e < 20*time.Second || e > 60*time.Second {
		t.Errorf("32 trials of half a second are estimated at %v", e)
	}
}

// TestModeWithoutATestbed: an unavailable mode has no testbed, also if the error comes with a nil pointer in an
// interface.
func TestModeWithoutATestbed(t *testing.T) {
	sim := &bedtest.Simulated{}
	l := &lab.Lab{Machine: sim, Runners: []lab.Runner{&forward.Runner{Engine: sim, Bed: func(_ context.Context, mode testbed.Mode) (testbed.Bed, error) {
		if mode == testbed.Overload {
			var none *bedtest.Simulated
			return none, errors.New("no second CPU")
		}
		sim.Mode = mode
		return sim, nil
	}}}}
	n := 0
	out, err := l.Run(context.Background(), lab.Task{Spec: bedtest.Parse(t, spec), Seed: 5}, func(study.Trial) error { n++; return nil }, nil)
	if err != nil || out.Unavailable[string(testbed.Overload)] != "no second CPU" || n != 16 {
		t.Errorf("%d trials, unavailable %v, %v", n, out.Unavailable, err)
	}
}

// TestShareOfCapacity: a load in shares of capacity uses the capacity measured just before, and one beyond the
// generator is skipped.
func TestShareOfCapacity(t *testing.T) {
	s := bedtest.Parse(t, `name: sim
question: q
variants: [{name: none}, {name: rules, settings: [{firewall: {linear: 100}}]}]
parts:
  - {name: at-max, mode: overload, blocks: 2, seconds: 0.5}
  - {name: half, mode: overload, rate: 50%, blocks: 1, seconds: 0.5}
  - {name: most, mode: overload, rate: 1000%, blocks: 1, seconds: 0.5}
metrics: [{metric: loss_ratio, part: half, primary: true}]
`)
	trials, _, err := simulate(t, &bedtest.Simulated{}, lab.Task{Spec: s, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	capacity, _ := study.Capacity(&s, trials)
	n := 0
	for _, tr := range trials {
		if tr.Part == "most" {
			t.Error("a load beyond the generator was run")
		}
		if tr.Part == "half" {
			n++
			if got := tr.Observed.Sent.TargetPPS; got < 0.49*capacity || got > 0.51*capacity {
				t.Errorf("offered %.0f pps, half of %.0f was asked for", got, capacity)
			}
		}
	}
	if n != 3 {
		t.Errorf("%d trials at half the capacity", n)
	}
}

// TestNothingToFlood: a testbed whose DUT has no service returns an error.
func TestNothingToFlood(t *testing.T) {
	s := bedtest.Parse(t, `name: sim
question: q
variants: [{name: none}, {name: rules, settings: [{firewall: {linear: 100}}]}]
parts: [{name: f, mode: overload, flood: syn, management: true, blocks: 2, seconds: 0.5}]
`)
	trials, _, err := simulate(t, &bedtest.Simulated{}, lab.Task{Spec: s, Seed: 5})
	if err == nil || !strings.Contains(err.Error(), "nothing to flood") || len(trials) != 3 || trials[0].Valid {
		t.Errorf("%d trials, %v", len(trials), err)
	}
}
