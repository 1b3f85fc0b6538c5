package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Terminal writes the report for a terminal: the question, a one-sentence
// answer, tables, a dot plot, and the limitations.
func Terminal(w io.Writer, s study.Spec, r study.Results, st show.Style) error {
	return Of(s, r).Terminal(w, st)
}

// plots shows every trial as a dot, or a description of the study's curves.
func plots(p *show.Page, r study.Results, curves []curveGroup) {
	if len(curves) == 0 {
		strips(p, r)
	}
	for _, g := range curves {
		words := g.words()
		if len(words) == 0 {
			continue
		}
		p.Caption(g.title())
		for _, w := range words {
			p.Paragraph("  ", "    ", w)
		}
		p.Line("")
	}
}

// strips draws all valid trials of the primary metric.
func strips(p *show.Page, r study.Results) {
	m, part := primary(r)
	p.Strips(list.Map(r.Arms(part), func(arm string) show.Strip {
		return show.Strip{Name: r.ArmName(arm), Values: r.Values(part, arm, m.Name)}
	}), m.Text)
}

// pHeader names the correction of the p-values in a column.
func pHeader(r study.Results, metric, part string) string {
	for _, v := range r.Verdicts {
		if v.Metric == metric && v.Part == part && strings.Contains(v.Method, "Bonferroni") {
			return "p (Bonferroni)"
		}
	}
	return "p (Holm)"
}

func nsHeader(m study.Metric) string {
	switch {
	case m.NS == study.NoNS:
		return ""
	case m.NS == study.IsTime:
		return "time"
	case m.Unit == "ns":
		return "ns"
	}
	return "ns/packet"
}

// effectNS returns the cell for the column of nsHeader.
func effectNS(m study.Metric, v study.Verdict) string {
	switch m.NS {
	case study.NoNS:
		return ""
	case study.IsTime:
		return show.Optional(v.EffectNS, func(x float64) string { return study.ByTime(m, x) })
	}
	return show.Optional(v.EffectNS, func(x float64) string {
		if math.Abs(x) < 10 {
			return show.Signed(x, 1)
		}
		return show.Signed(x, 0)
	})
}

// measuredOn names a testbed and what is known about its machine.
func measuredOn(e study.Environment) string {
	known := slices.DeleteFunc([]string{e.Kernel, e.CPU}, func(s string) bool { return s == "" })
	if len(known) == 0 {
		return e.Label
	}
	whose := ""
	if e.On(testbed.KindPorts) {
		whose = "generator and receiver: "
	}
	return fmt.Sprintf("%s (%s%s)", e.Label, whose, strings.Join(known, ", "))
}

// limits prints the limitations of the results: the A/A arm, the noise floor, the
// detectable effect, and what the testbed does not represent.
func limits(p *show.Page, r study.Results) {
	aa := fmt.Sprintf("A/A: %s against itself %s: %s.", r.Control, r.AA.TextWithBounds(), r.AA.Verdict)
	if r.Floor() == show.Unknown {
		aa += fmt.Sprintf(" Too few %s for a noise floor", study.Replicates(r.AA.Metric))
	} else {
		aa += " Noise floor " + r.Floor()
	}
	if r.Plans() {
		aa += fmt.Sprintf(", minimum detectable effect %s (power 0.8)", r.Detectable())
	}
	aa += "."
	text := []string{aa}
	if r.Environment.Label != "" {
		text = append(text, fmt.Sprintf("Measured on %s. %s", measuredOn(r.Environment), limitsNote(r.Environment)))
	}
	if beds := r.BedsLine(); beds != "" {
		text = append(text, beds)
	}
	text = append(text, r.Warnings...)
	for _, t := range text {
		p.Paragraph("  ", "    ", t)
	}
}

// primary returns the metric and part of the primary goal, from any verdict.
func primary(r study.Results) (metric study.Metric, part string) {
	for _, v := range r.Verdicts {
		if v.Primary {
			m, _ := r.Metric(v.Metric)
			return m, v.Part
		}
	}
	m, _ := r.Metric(r.AA.Metric)
	all := r.Measured()
	for _, p := range all {
		if len(r.Values(p, r.Control, m.Name)) > 0 {
			return m, p
		}
	}
	if len(all) > 0 { // if no trial was valid
		return m, all[0]
	}
	return m, ""
}

// lacking holds variants that are unavailable for the same reason.
type lacking struct{ Variants, Are, Reason string }

// lackings groups unavailable variants by reason; the setting that failed,
// which precedes the reason and may differ, is ignored.
func lackings(r study.Results) (out []lacking) {
	var order []string
	groups := map[string][]study.Unavailable{}
	for _, u := range r.Unavailable {
		why := u.Reason
		if setting, rest, ok := strings.Cut(u.Reason, ": "); ok && !strings.ContainsAny(setting, "([") {
			why = rest
		}
		if groups[why] == nil {
			order = append(order, why)
		}
		groups[why] = append(groups[why], u)
	}
	for _, why := range order {
		g := groups[why]
		l := lacking{Variants: g[0].Variant, Are: "is", Reason: g[0].Reason}
		if len(g) > 1 {
			var names []string
			for _, u := range g {
				names = append(names, u.Variant)
				if u.Reason != l.Reason {
					l.Reason = why
				}
			}
			l.Variants, l.Are = show.List(names), "are"
		}
		out = append(out, l)
	}
	return out
}
