package ledger

import (
	"math"
	"slices"
	"strings"

	"linerate/internal/list"
	"linerate/internal/stats"
)

// FromComparison copies the numbers of a comparison to a verdict; those that
// cannot be computed become null.
func FromComparison(c *stats.Comparison) Verdict {
	v := Verdict{
		Control: c.Control, Variant: c.Variant, NControl: c.NControl, NVariant: c.NVariant,
		PEquivalent: stats.Num(c.PEquivalentHolm), Family: 1,
		ControlMean: stats.Num(c.ControlSum.Mean), VariantMean: stats.Num(c.VariantSum.Mean), MDE: stats.Num(c.DetectablePercent),
		Method: c.Method, Changes: []Change{},
	}
	v.comesTo(c.Result())
	for _, w := range c.Warnings {
		v.Warnings = append(v.Warnings, w.Message)
	}
	return v
}

// CorrectFamily applies Holm's correction over verdicts made together, and withdraws
// differences that the corrected p-values do not show. Invalid verdicts count in the
// family but stay invalid.
func CorrectFamily(vs []Verdict) {
	p := list.Map(vs, func(v Verdict) float64 { return v.P.Float() })
	for i, h := range stats.Holm(p) {
		v := &vs[i]
		v.PHolm, v.Family = stats.Num(h), len(vs)
		if v.Verdict.Differs() && !(h <= 0.05) {
			v.Verdict, v.Adjusted = stats.Inconclusive, stats.Number{}
		}
	}
}

// Reassess derives a verdict again without excluded trials: by the same
// deciding test, against the same margin, on the remaining trials. For the
// family it uses Bonferroni's correction, which is conservative and needs
// none of the other members. Verdicts of studies whose record is available
// are derived from the record instead (see Evaluate).
func Reassess(v *Verdict, design string, trials []Trial, excluded map[ID]string) (without *Verdict, dropped int) {
	byID := map[ID]*Trial{}
	for i := range trials {
		byID[trials[i].ID] = &trials[i]
	}
	control, a := values(v.Metric, v.ControlTrials, byID, excluded)
	variant, b := values(v.Metric, v.VariantTrials, byID, excluded)
	if a+b == 0 {
		return nil, 0
	}
	if v.Method == stats.GuardrailEnded { // regardless of the trials before it
		same := *v
		return &same, a + b
	}
	c := compareAgain(v, design, control, variant, func(block int) bool {
		return slices.ContainsFunc(v.VariantTrials, func(id ID) bool { return byID[id] != nil && byID[id].Block == block })
	})
	w := FromComparison(&c)
	w.ID, w.Study, w.Environment, w.Metric, w.Primary = v.ID, v.Study, v.Environment, v.Metric, v.Primary
	w.Unit, w.Better, w.Workload, w.Changes, w.Flags = v.Unit, v.Better, v.Workload, v.Changes, v.Flags
	w.Family = v.Family
	w.MarginPercent, w.MarginPoints = v.MarginPercent, v.MarginPoints
	within := func(p stats.Number) stats.Number { return stats.Num(min(1, p.Float()*float64(max(1, v.Family)))) }
	w.PHolm, w.PEquivalent = within(w.P), within(w.PEquivalent)
	if w.PHolm.Known() && w.Verdict != stats.Invalid {
		if w.Verdict = stats.Judge(c.Effect.Estimate, w.PHolm.Float(), w.PEquivalent.Float(), 0.05, v.Better); !w.Verdict.Differs() {
			w.Adjusted = stats.Number{}
		}
	}
	return &w, a + b
}

// compareAgain compares the valid values by the verdict's deciding test. For a live host
// only the variant's pairs count, as reported by has.
func compareAgain(v *Verdict, design string, control, variant []blockValue, has func(block int) bool) stats.Comparison {
	opt := stats.Options{Better: v.Better, MarginPercent: v.MarginPercent, MarginPoints: v.MarginPoints, Share: v.InPoints()}
	a, b := stats.Arm{Name: v.Control}, stats.Arm{Name: v.Variant}
	switch {
	case strings.HasPrefix(v.Method, stats.RandomisationTest):
		a.Values, b.Values = align(list.Filter(control, func(x blockValue) bool { return has(x.block) }), variant)
		return stats.CompareSwitchback([]stats.Arm{a}, []stats.Arm{b}, opt)[0]
	case design == "blocks":
		a.Values, b.Values = align(control, variant)
		return stats.CompareBlocks(a, []stats.Arm{b}, opt)[0]
	default:
		a.Values, b.Values = plain(control), plain(variant)
		return stats.CompareSamples(a, []stats.Arm{b}, opt)[0]
	}
}

type blockValue struct {
	block int
	value float64
}

// values returns a metric of the trials that count.
func values(metric string, ids []ID, byID map[ID]*Trial, excluded map[ID]string) (out []blockValue, dropped int) {
	for _, id := range ids {
		t := byID[id]
		if t == nil || !t.Valid {
			continue
		}
		x, ok := t.Metrics[metric]
		if !ok {
			continue
		}
		if _, out := excluded[id]; out {
			dropped++
			continue
		}
		out = append(out, blockValue{t.Block, x})
	}
	return out, dropped
}

func plain(v []blockValue) []float64 {
	return list.Map(v, func(x blockValue) float64 { return x.value })
}

// align puts both arms in the order of blocks, NaN where an arm lacks a trial.
func align(a, b []blockValue) (x, y []float64) {
	var blocks []int
	for _, v := range append(slices.Clone(a), b...) {
		blocks = list.With(blocks, v.block)
	}
	slices.Sort(blocks)
	at := func(v []blockValue, block int) float64 {
		if o, ok := list.Find(v, func(o blockValue) bool { return o.block == block }); ok {
			return o.value
		}
		return math.NaN()
	}
	for _, n := range blocks {
		x, y = append(x, at(a, n)), append(y, at(b, n))
	}
	return x, y
}
