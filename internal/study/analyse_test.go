package study_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// made returns a study's trials with known costs: a 700 ns, b 2,800 ns, c 700 ns, with drift
// between blocks and one percent of noise.
func made(s study.Spec, seed uint64, spoil func(*study.Trial)) []study.Trial {
	rng := rand.New(rand.NewPCG(seed, 1))
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var trials []study.Trial
	for i, slot := range study.Schedule(s, seed) {
		cost := map[string]float64{"a": 700, study.AA: 700, "b": 2800, "c": 700}[slot.Variant]
		cost *= (1 + 0.1*float64(slot.Block)) * (1 + 0.01*rng.NormFloat64())
		t := study.Trial{Part: slot.Part, Variant: slot.Variant, Block: slot.Block, Order: slot.Order, Valid: true, Reasons: []study.Refusal{},
			Start: start.Add(time.Duration(i) * time.Second), Seconds: 1, Metrics: map[string]float64{}}
		if part, _ := s.Part(slot.Part); part.Mode == testbed.Cost {
			t.Metrics[study.CostNS], t.Metrics[study.ForwardingRate] = cost, 1e9/cost
		} else {
			t.Metrics[study.OverloadRate], t.Metrics[study.LossRatio] = 1e9/cost, 0
		}
		if spoil != nil {
			spoil(&t)
		}
		trials = append(trials, t)
	}
	return trials
}

func verdictFor(t *testing.T, r study.Results, metric, variant string) study.Verdict {
	t.Helper()
	for _, v := range r.Verdicts {
		if v.Metric == metric && v.Variant == variant {
			return v
		}
	}
	t.Fatalf("no verdict on %s for %s", metric, variant)
	return study.Verdict{}
}

func fullGoals(s study.Spec) study.Spec {
	s.Metrics = []study.Goal{
		{Metric: study.ForwardingRate, Part: "cost", Primary: true, MarginPercent: 5}, {Metric: study.CostNS, Part: "cost", MarginPercent: 5},
		{Metric: study.OverloadRate, Part: "over", MarginPercent: 10}, {Metric: study.LossRatio, Part: "over", MarginPercent: 10},
	}
	return s
}

func TestAnalyseFindsWhatIsThere(t *testing.T) {
	s := fullGoals(twoParts())
	r := study.Analyse(s, 9, study.Environment{}, made(s, 9, nil))
	v := verdictFor(t, r, study.ForwardingRate, "b")
	if v.Verdict != "worse" || !v.Primary || v.N != 5 || !(math.Abs(v.EffectPercent.Float()+75) <= 1.5) {
		t.Errorf("verdict on a rate at four times the cost: %+v", v)
	}
	if v.CILow.Float() > v.EffectPercent.Float() || v.CIHigh.Float() < v.EffectPercent.Float() || v.PHolm.Float() < v.P.Float() {
		t.Errorf("interval or correction is off: %+v", v)
	}
	if want := 2100 * 1.3; !(math.Abs(v.EffectNS.Float()/want-1) <= 0.05) || !(v.NSLow.Float() < v.EffectNS.Float() && v.EffectNS.Float() < v.NSHigh.Float()) { // 2,100 ns at the mean block's speed
		t.Errorf("effect %g ns, want about %g", v.EffectNS.Float(), want)
	}
	if c := verdictFor(t, r, study.CostNS, "b"); c.Verdict != "worse" || !(math.Abs(c.EffectPercent.Float()-300) <= 20) || !(math.Abs(c.EffectNS.Float()/v.EffectNS.Float()-1) <= 0.01) || c.Better != "lower" {
		t.Errorf("verdict on the cost: %+v", c)
	}
	if c := verdictFor(t, r, study.ForwardingRate, "c"); c.Verdict != "equivalent" {
		t.Errorf("the same cost has the verdict %s", c.Verdict)
	}
	if l := verdictFor(t, r, study.LossRatio, "b"); l.Verdict == "worse" || l.Scale != "difference" {
		t.Errorf("verdict without any loss: %+v", l)
	}
	if r.AA.Verdict != "equivalent" || r.AA.N != 5 || !(r.MDE.Float() > 0 && r.MDE.Float() <= 10) {
		t.Errorf("A/A %+v, MDE %v", r.AA, r.MDE)
	}
	if floor := max(math.Abs(r.AA.CILow.Float()), math.Abs(r.AA.CIHigh.Float())); r.NoiseFloor.Float() != floor || !(floor > 0) {
		t.Errorf("noise floor %v of %+v", r.NoiseFloor, r.AA.Effect)
	}
	if !r.Complete || len(r.Warnings) > 0 {
		t.Errorf("complete %v, warnings %q", r.Complete, r.Warnings)
	}
	if !strings.Contains(r.Answer, "lower with b") || !strings.Contains(r.Answer, "c is equivalent") {
		t.Errorf("answer %q", r.Answer)
	}
}

// TestSharesAreToldInPoints: losses near zero are compared by their difference, in percentage
// points from the study's margin to the answer.
func TestSharesAreToldInPoints(t *testing.T) {
	s := twoParts()
	s.Metrics = []study.Goal{{Metric: study.LossRatio, Part: "over", Primary: true, MarginPoints: 1}}
	s.Parts[1].Blocks = 5
	trials := made(s, 9, func(tr *study.Trial) {
		if _, ok := tr.Metrics[study.LossRatio]; ok {
			tr.Metrics[study.LossRatio] = map[string]float64{"b": 0.05, "c": 0.0004}[tr.Variant] + 0.0001*float64(tr.Block%3)
		}
	})
	r := study.Analyse(s, 9, study.Environment{}, trials)
	b, c := verdictFor(t, r, study.LossRatio, "b"), verdictFor(t, r, study.LossRatio, "c")
	if b.Verdict != stats.Worse || !(math.Abs(b.EffectPoints.Float()-5) <= 1e-9) || b.EffectPercent.Known() || b.MarginPoints != 1 {
		t.Errorf("verdict on five points more loss: %+v", b)
	}
	if c.Verdict != stats.Equivalent || !r.NoiseFloorPoints.Known() || !strings.HasSuffix(r.Floor(), " points") {
		t.Errorf("hardly any loss: %s, noise floor %s", c.Verdict, r.Floor())
	}
	for _, want := range []string{"5.0 points higher with b", "c is equivalent within 1 point"} {
		if !strings.Contains(r.Answer, want) {
			t.Errorf("no %q in: %s", want, r.Answer)
		}
	}
}

// TestResultsKeys checks the keys of results.json, which are a public interface.
func TestResultsKeys(t *testing.T) {
	s := fullGoals(twoParts())
	data, err := json.Marshal(study.Analyse(s, 9, study.Environment{}, made(s, 9, nil)))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	has := func(where string, v any, keys ...string) {
		for _, k := range keys {
			if _, ok := v.(map[string]any)[k]; !ok {
				t.Errorf("%s lacks %q", where, k)
			}
		}
	}
	has("results.json", doc, "version", "study", "seed", "environment", "trials", "verdicts", "aa", "minimum_detectable_effect_percent")
	has("a trial", doc["trials"].([]any)[0], "variant", "block", "order", "start", "valid", "reasons", "metrics")
	has("a verdict", doc["verdicts"].([]any)[0], "metric", "primary", "control", "variant", "n", "effect_percent", "ci_low", "ci_high",
		"effect_ns", "p_value", "p_holm", "verdict")
	has("aa", doc["aa"], "verdict", "effect_percent", "ci_low", "ci_high")
	if _, ok := doc["trials"].([]any)[0].(map[string]any)["reasons"].([]any); !ok {
		t.Error("reasons of a valid trial are not an empty list")
	}
}

func TestAnalyseWithoutTrials(t *testing.T) {
	s := fullGoals(twoParts())
	r := study.Analyse(s, 1, study.Environment{}, nil)
	if r.AA.Verdict != "invalid" || r.MDE.Known() || r.Complete {
		t.Errorf("%+v", r)
	}
	for _, v := range r.Verdicts {
		if v.Verdict != "invalid" || v.EffectPercent.Known() {
			t.Errorf("a verdict without trials: %+v", v)
		}
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestAnalyseLeavesInvalidTrialsOut(t *testing.T) {
	s := fullGoals(twoParts())
	trials := made(s, 9, func(tr *study.Trial) {
		if tr.Block == 2 && tr.Variant == "b" {
			tr.Valid, tr.Metrics[study.ForwardingRate] = false, 1
		}
	})
	r := study.Analyse(s, 9, study.Environment{}, trials)
	if v := verdictFor(t, r, study.ForwardingRate, "b"); v.N != 4 || !(math.Abs(v.EffectPercent.Float()+75) <= 1.5) || len(v.Warnings) == 0 {
		t.Errorf("%+v", v)
	}
	if len(r.Trials) != len(trials) {
		t.Error("an invalid trial is missing from the results")
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "1 of 28 trials are invalid") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestAnalyseSaysWhenNothingDiffersFromItself(t *testing.T) {
	s := fullGoals(twoParts())
	r := study.Analyse(s, 9, study.Environment{}, made(s, 9, func(tr *study.Trial) {
		if tr.Variant == study.AA {
			tr.Metrics[study.ForwardingRate] *= 1.3
		}
	}))
	if r.AA.Verdict != "better" || !strings.Contains(strings.Join(r.Warnings, "\n"), "the A/A arm differs from the control") {
		t.Errorf("A/A %+v, warnings %q", r.AA, r.Warnings)
	}
}

func TestAnalyseUnavailable(t *testing.T) {
	s := fullGoals(twoParts())
	r := study.Analyse(s, 9, study.Environment{}, made(s, 9, func(tr *study.Trial) {
		if tr.Variant == "b" {
			tr.Valid, tr.Unavailable, tr.Metrics = false, "this kernel has none", nil
		}
	}))
	if len(r.Unavailable) != 1 || r.Unavailable[0].Variant != "b" {
		t.Errorf("%+v", r.Unavailable)
	}
	run := 0
	for _, tr := range r.Trials {
		if tr.Unavailable == "" {
			run++
		}
	}
	if valid, all := study.Valid(r.Trials); run == len(r.Trials) || valid != run || all != run {
		t.Errorf("%d of %d trials valid, %d were run: an unavailable slot counts as run", valid, all, run)
	}
	for _, v := range r.Verdicts {
		if v.Variant == "b" {
			t.Errorf("an unavailable variant has a verdict: %+v", v)
		}
	}
}

// TestAnswersOfMany: of many effects the answer names the extremes; few are all listed.
func TestAnswersOfMany(t *testing.T) {
	m, _ := study.MetricNamed(study.CostNS)
	var vs []study.Verdict
	for i := range 12 {
		vs = append(vs, study.Verdict{Result: stats.Result{Effect: stats.Effect{EffectPercent: stats.Num(float64(10 * (i + 1)))}}, Variant: fmt.Sprintf("v%d", i)})
	}
	many, few := study.TellEffects(slices.Clone(vs), m), study.TellEffects(slices.Clone(vs[:8]), m)
	for _, want := range []string{"120 % higher with v11", "90.0 % higher with v8 … and 10.0 % higher with v0, the least of 12 differences"} {
		if !strings.Contains(many, want) {
			t.Errorf("%q lacks %q", many, want)
		}
	}
	if strings.Contains(many, "v5") || strings.Count(few, "higher") != 8 {
		t.Errorf("%q\n%q", many, few)
	}
}

// TestWhatAReaderMustKnow: each limitation of a study has a warning of its own.
func TestWhatAReaderMustKnow(t *testing.T) {
	s := fullGoals(twoParts())
	warned := func(env study.Environment, spoil func(*study.Trial)) string {
		return strings.Join(study.Analyse(s, 9, env, made(s, 9, spoil)).Warnings, "\n")
	}
	for _, c := range []struct {
		name  string
		env   study.Environment
		spoil func(*study.Trial)
		want  string
	}{
		{"an A/A difference of another metric", study.Environment{}, func(tr *study.Trial) {
			if tr.Variant == study.AA && tr.Part == "cost" {
				tr.Metrics[study.CostNS] *= 1.3
			}
		}, "the A/A arm also differs from the control by cost_ns_per_packet in part cost"},
		{"no privileges", study.Environment{Testbeds: map[string]study.BedNotes{"cost": {Kind: "netns"}}}, nil, "measured without privileges"},
		{"an unavailable mode", study.Environment{Unavailable: map[string]string{"overload": "one CPU"}}, nil, "mode overload is unavailable here: one CPU"},
		{"a new kernel after a resume", study.Environment{Resumed: []string{"kernel was 6.12, is 6.13"}}, nil, "the machine changed before the study was resumed: kernel was 6.12, is 6.13"},
		{"invalid trials by their gates", study.Environment{}, func(tr *study.Trial) {
			switch {
			case tr.Variant == "b" && tr.Block <= 3:
				tr.Valid, tr.Reasons = false, study.Reasons("drift: a", "stolen time: b")
			case tr.Variant == "c" && tr.Block == 1:
				tr.Valid, tr.Reasons = false, study.Reasons("stolen time: b")
			}
		}, "4 of 28 trials are invalid; they are in the record, with reasons (3 drift and 1 stolen time), and in no verdict"},
	} {
		if got := warned(c.env, c.spoil); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := warned(study.Environment{Testbeds: map[string]study.BedNotes{"cost": {Kind: "netns", Privileged: true}, "over": {Kind: "ssh"}}}, nil); got != "" {
		t.Errorf("with privileges: %q", got)
	}
	primary := s.Primary().Metric
	none := func(tr *study.Trial) { // zero, except for the A/A arm
		tr.Metrics[primary] = 0
		if tr.Variant == study.AA {
			tr.Metrics[primary] = float64(1000 + tr.Block)
		}
	}
	if got := warned(study.Environment{}, none); !strings.Contains(got, "the A/A arm differs from the control although both are a: distrust the verdicts on "+primary) || strings.Contains(got, "by "+show.Unknown) {
		t.Errorf("no effect in percent exists: %q", got)
	}
	if got := strings.Join(study.Analyse(s, 9, study.Environment{}, made(s, 9, nil)[:20]).Warnings, "\n"); !strings.Contains(got, "the study is not complete: resume it") {
		t.Errorf("unfinished: %q", got)
	}
}

// TestAnswers: the answer lists effects, then equivalences, then what was not shown; without any
// verdict it says why.
func TestAnswers(t *testing.T) {
	s := fullGoals(twoParts())
	r := rand.New(rand.NewPCG(31, 1))
	loud := func(tr *study.Trial) {
		if tr.Variant == "c" && tr.Part == "cost" {
			f := math.Exp(0.5 * r.NormFloat64())
			tr.Metrics[study.ForwardingRate] *= f
		}
	}
	if got := study.Analyse(s, 9, study.Environment{}, made(s, 9, loud)).Answer; !strings.HasPrefix(got, "Against a, the forwarding rate is 75.") || !strings.Contains(got, "% lower with b (+2,7") || !strings.Contains(got, " per packet); no difference is shown for c.") {
		t.Errorf("%q", got)
	}
	few := func(tr *study.Trial) { tr.Valid = tr.Variant != "c" || tr.Block == 1 }
	if got := study.Analyse(s, 9, study.Environment{}, made(s, 9, few)).Answer; !strings.Contains(got, "there is no verdict for c") {
		t.Errorf("%q", got)
	}
	gone := func(tr *study.Trial) {
		if tr.Variant == "b" || tr.Variant == "c" {
			tr.Valid, tr.Unavailable = false, "no module"
		}
	}
	if got := study.Analyse(s, 9, study.Environment{}, made(s, 9, gone)).Answer; !strings.HasPrefix(got, "There is no answer on this testbed") {
		t.Errorf("%q", got)
	}
	one := func(tr *study.Trial) {
		if tr.Variant == "b" {
			tr.Valid, tr.Unavailable = false, "no module"
		}
	}
	if got := study.Analyse(s, 9, study.Environment{}, made(s, 9, one)).Answer; !strings.Contains(got, "c is equivalent within 5 %") {
		t.Errorf("%q", got)
	}
	if got := study.Analyse(s, 9, study.Environment{}, nil).Answer; got == "" || strings.Contains(got, "equivalent") {
		t.Errorf("answer without trials: %q", got)
	}
	m, _ := study.MetricNamed(study.CostNS)
	told := study.TellEffects([]study.Verdict{
		{Variant: "half", Result: stats.Result{Effect: stats.Effect{EffectPercent: stats.Num(-50)}}}, {Variant: "double", Result: stats.Result{Effect: stats.Effect{EffectPercent: stats.Num(101)}}},
		{Variant: "some", Result: stats.Result{Verdict: stats.Worse}}, {Variant: "drops", Difference: stats.Num(-3), Unit: "frames", Result: stats.Result{Verdict: stats.Better}},
	}, m)
	if told != "101 % higher with double, 50.0 % lower with half, worse with some and 3.00 frames lower with drops" {
		t.Errorf("%q", told) // a doubling counts as large as a halving
	}
}

// TestInstancesApart: arms are compared within the last instance of a block whose control is valid,
// and the verdict says how they were interleaved.
func TestInstancesApart(t *testing.T) {
	s := interleavedSpec(t, "")
	var trials []study.Trial
	for block := 1; block <= 6; block++ {
		base := 700 * (1 + 0.01*float64(block))
		first := interleavedTrials(s, block, 1, map[string]float64{"none": base * 3, "other": base, study.AA: base * 3}) // another instance with other results
		second := interleavedTrials(s, block, 2, map[string]float64{"none": base, "other": base * 1.5, study.AA: base * 1.001})
		third := interleavedTrials(s, block, 3, map[string]float64{"none": base, "other": base * 9, study.AA: base})
		for i := range third {
			third[i].Valid = third[i].Variant != s.Control
		}
		trials = append(trials, slices.Concat(first, second, third)...)
	}
	for block, attempt := range study.Instances(s, trials) {
		if attempt != 2 {
			t.Errorf("in block %d instance %d counts, want 2", block, attempt)
		}
	}
	if n := study.Attempts(trials, 3); n != 3 || study.Attempts(trials, 9) != 0 {
		t.Errorf("%d instances of a block", n)
	}
	v := study.Analyse(s, 1, study.Environment{}, trials).Verdicts[0]
	if !(math.Abs(v.EffectPercent.Float()-50) < 0.1) || v.N != 6 || v.Interleaved != study.BySlices {
		t.Errorf("%+v", v)
	}
}
