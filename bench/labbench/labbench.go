// Package labbench measures how well a lab tells two arms apart: A/A intervals, how often
// a comparison of nothing finds something, and how small a planted effect is found.
package labbench

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"linerate/internal/lab"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// Result is what a bench of the lab finds.
type Result struct {
	Version int       `json:"version"`
	Label   string    `json:"label"`
	Minutes float64   `json:"minutes"` // that it took
	AA      []AA      `json:"aa"`
	Alarms  Alarms    `json:"false_alarms"`
	Planted []Planted `json:"planted"`
}

// AA is an A/A interval by one method: medians over its studies.
type AA struct {
	Method    string       `json:"method"`
	HalfWidth stats.Number `json:"half_width_percent"`
	Seconds   float64      `json:"study_seconds"`
	Studies   int          `json:"studies"`
}

// Alarms counts comparisons of nothing that found something.
type Alarms struct {
	Studies int          `json:"studies"`
	Found   int          `json:"found"`
	SD      stats.Number `json:"instance_sd_percent"` // of one instance's comparison
}

// Planted is an effect of known size: rules that never match.
type Planted struct {
	Rules  int          `json:"rules"`
	Effect stats.Number `json:"effect_percent"` // by a hundred rules
	Found  int          `json:"found"`
	Of     int          `json:"of"`
	Mean   stats.Number `json:"mean_percent"`
}

// Bench runs studies on a lab until its budget is spent.
type Bench struct {
	Lab    *lab.Lab
	Label  string
	Budget time.Duration
	Seed   uint64 // of the first study's schedule
	Talk   io.Writer
}

// Run measures for about the budget: each phase has at least one study.
func (b *Bench) Run(ctx context.Context) (Result, error) {
	began := b.Lab.Machine.Now()
	out := Result{Version: 1, Label: b.Label}
	share := 0.0
	for _, phase := range []struct {
		what  string
		share float64
		do    func(ctx context.Context, until time.Time, out *Result) error
	}{
		{"A/A, slice by slice and one after the other", 0.25, b.both},
		{"planted effects", 0.35, b.plant},
		{"comparisons of nothing", 0.4, b.falseAlarms},
	} {
		fmt.Fprintf(b.Talk, "%s …\n", phase.what)
		share += phase.share // what one phase leaves or takes is the next one's
		if err := phase.do(ctx, began.Add(time.Duration(share*float64(b.Budget))), &out); err != nil {
			return out, fmt.Errorf("%s: %w", phase.what, err)
		}
	}
	out.Minutes = b.Lab.Machine.Now().Sub(began).Minutes()
	return out, nil
}

// each runs a study again and again, at least once, while another would end in time.
func (b *Bench) each(ctx context.Context, until time.Time, yaml string, take func(study.Spec, study.Results, time.Duration)) error {
	for took := time.Duration(0); took == 0 || b.Lab.Machine.Now().Add(took).Before(until); {
		s, err := study.Parse("bench", []byte(yaml))
		if err != nil {
			return err
		}
		b.Seed++
		start := b.Lab.Machine.Now()
		r, err := b.Lab.Measure(ctx, s, b.Seed)
		if err != nil {
			return err
		}
		took = max(1, b.Lab.Machine.Now().Sub(start))
		take(s, r, took)
	}
	return nil
}

// large asks the same with large effects by either method.
const large = `
name: large
question: Do both methods agree?
variants:
  - {name: none}
  - {name: rules-100, settings: [{nft: {linear: 100}}]}
  - {name: stateful, settings: [{nft: {stateful: true}}]}
metrics: [{metric: forwarding_rate_pps, primary: true, margin_percent: 1}]
`

func (b *Bench) both(ctx context.Context, until time.Time, out *Result) error {
	left := until.Sub(b.Lab.Machine.Now())
	for i, m := range []struct{ name, how string }{
		{"slice by slice", "retries: 1\nparts: [{mode: cost, blocks: 10, seconds: 0.3}]\n"},
		{"one after the other", "interleave: false\nretries: 0\nparts: [{mode: cost, blocks: 6, seconds: 0.7, warmup: 0.15}]\n"},
	} {
		var half, seconds []float64
		if err := b.each(ctx, until.Add(-left/2*time.Duration(1-i)), large+m.how, func(_ study.Spec, r study.Results, took time.Duration) {
			half, seconds = append(half, orInfinite(r.AA.HalfWidth())), append(seconds, took.Seconds())
		}); err != nil {
			return err
		}
		out.AA = append(out.AA, AA{m.name, stats.Num(stats.Median(half)), stats.Median(seconds), len(half)})
	}
	return nil
}

// orInfinite is the width of a study without a valid trial.
func orInfinite(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}

// plantedRules are rules beyond the control's one: the hook's cost is in both.
// The last tells what one rule costs.
var plantedRules = []int{1, 2, 3, 5, 100}

// plant asks for effects of known size, each study all of them at once.
func (b *Bench) plant(ctx context.Context, until time.Time, out *Result) error {
	yaml := "name: planted\nquestion: What does a rule cost?\nretries: 1\nparts: [{mode: cost, blocks: 10, seconds: 0.3}]\nvariants:\n  - {name: base, settings: [{nft: {linear: 1}}]}\n"
	out.Planted = make([]Planted, len(plantedRules))
	for i, n := range plantedRules {
		yaml += fmt.Sprintf("  - {name: plus-%d, settings: [{nft: {linear: %d}}]}\n", n, n+1)
		out.Planted[i].Rules = n
	}
	yaml += "metrics: [{metric: cost_ns_per_packet, primary: true, margin_percent: 0.01}]\n"
	effects := make([][]float64, len(plantedRules))
	err := b.each(ctx, until, yaml, func(_ study.Spec, r study.Results, _ time.Duration) {
		for i, v := range r.Verdicts {
			p := &out.Planted[i]
			p.Of++
			if v.Verdict.Differs() && v.EffectPercent.Float() > 0 {
				p.Found++
			}
			if v.EffectPercent.Known() {
				effects[i] = append(effects[i], v.EffectPercent.Float())
			}
		}
	})
	last := len(plantedRules) - 1
	for i := range out.Planted {
		p := &out.Planted[i]
		p.Mean = stats.Num(stats.Median(effects[i]))
		p.Effect = stats.Num(stats.Median(effects[last]) * float64(p.Rules) / float64(plantedRules[last]))
	}
	return err
}

// alarmPairs are pairs of arms that are all the same: each pair is a study of nothing
// that shares with the others only the machine.
const alarmPairs = 7

func (b *Bench) falseAlarms(ctx context.Context, until time.Time, out *Result) error {
	yaml := "name: nothing\nquestion: Does nothing differ from nothing?\nretries: 0\nparts: [{mode: cost, blocks: 6, seconds: 0.1}]\nvariants:\n"
	for i := range 2*alarmPairs - 1 { // the A/A arm is the last pair's other half
		yaml += fmt.Sprintf("  - {name: v%d}\n", i)
	}
	var sd []float64
	err := b.each(ctx, until, yaml, func(s study.Spec, r study.Results, _ time.Duration) {
		arms := s.Arms()
		for i := 0; i+1 < len(arms); i += 2 {
			g := study.Goal{Metric: study.CostNS, Part: s.Parts[0].Name}
			c := stats.CompareBlocks(study.ArmValues(s, b.Seed, g, arms[i], r.Trials),
				[]stats.Arm{study.ArmValues(s, b.Seed, g, arms[i+1], r.Trials)}, stats.Options{NoPlan: true, Draws: 1})[0]
			if c.N < 3 {
				continue
			}
			out.Alarms.Studies++
			sd = append(sd, stats.Percent(c.SD))
			if c.P < 0.05 {
				out.Alarms.Found++
			}
		}
	})
	out.Alarms.SD = stats.Num(stats.Median(sd))
	return err
}

// Page writes the tables for people.
func (o Result) Page(p *show.Page) {
	p.Line(show.Grouped(o.Minutes, 0) + " minutes; " + o.Label)
	p.Line("")
	t := show.Table{Header: []string{"A/A", "half-width of the 95 % interval", "time of a study", "studies"}, Right: show.NumbersAfter(1)}
	for _, r := range o.AA {
		t.Add(r.Method, percentOf(r.HalfWidth), show.Grouped(r.Seconds, 0)+" s", show.Count(r.Studies))
	}
	p.Table(t)
	p.Line("")
	t = show.Table{Header: []string{"planted rules", "effect", "measured", "found"}, Right: show.NumbersAfter(0)}
	for _, e := range o.Planted {
		t.Add(show.Count(e.Rules), percentOf(e.Effect), percentOf(e.Mean), fmt.Sprintf("%d of %d", e.Found, e.Of))
	}
	p.Table(t)
	p.Line("")
	p.Line(fmt.Sprintf("Comparisons of nothing: %d of %d found something; SD of an instance %s", o.Alarms.Found, o.Alarms.Studies, percentOf(o.Alarms.SD)))
}

func percentOf(n stats.Number) string {
	return show.Optional(n, func(v float64) string { return show.Grouped(v, 2) + " %" })
}
