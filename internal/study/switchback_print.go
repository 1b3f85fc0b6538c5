package study

import (
	"linerate/internal/show"
)

// Replicates satisfies Kind.
func (switchbackKind) Replicates() string { return "pairs" }

// Print satisfies Kind: what else was watched, beside the metric that decides.
func (switchbackKind) Print(p *show.Page, r Results, _ string, at Place) {
	if at != Ahead {
		return
	}
	t := show.Table{Header: []string{"also watched", r.Control, "variant", "", "effect", "95 % interval", "verdict"}, Right: []bool{false, true, false, true, true, true, false}}
	for _, v := range r.Verdicts {
		m, _ := MetricNamed(v.Metric)
		if v.Primary || m.Mode != SwitchbackMode {
			continue
		}
		if v.N == 0 {
			t.Rows = append(t.Rows, []string{m.Label, "", v.Variant, "", "", "", "nothing to measure"})
			continue
		}
		t.Rows = append(t.Rows, []string{m.Label, show.Optional(v.ControlMean, m.Text), v.Variant, show.Optional(v.VariantMean, m.Text), v.Text(), v.Bounds(), p.Paint(v.Verdict.Ink(), string(v.Verdict))})
	}
	if len(t.Rows) > 0 {
		p.Table(t)
		p.Line("")
	}
}
