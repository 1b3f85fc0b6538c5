package report

import (
	"fmt"
	"strings"

	"linerate/internal/chart"
	"linerate/internal/document"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// effectCharts draws the effects on a goal's metric, the A/A arm first.
func effectCharts(r study.Results, g study.Goal) []document.Figure {
	m, _ := r.Metric(g.Metric)
	better, band, tick := "right is better", g.MarginPercent, percentTick
	if m.LowerIsBetter {
		better = "left is better"
	}
	if m.Share {
		band, tick = g.MarginPoints, func(v float64) string { return strings.TrimSuffix(percentTick(v), " %") + " pt" }
	}
	rows := list.Map(list.Filter(r.Verdicts, func(v study.Verdict) bool { return v.Metric == g.Metric && v.Part == g.Part }),
		func(v study.Verdict) chart.Effect {
			return effectRow(v.Variant, string(v.Verdict), v.Effect, v.Verdict)
		})
	if aa := effectRow(r.ArmName(study.AA), "aa", r.AA.Effect, r.AA.Verdict); aa.Known {
		rows = append([]chart.Effect{aa}, rows...)
	}
	if len(rows) == 0 {
		return nil
	}
	note := fmt.Sprintf("Change of the %s against %s, with 95 %% intervals; %s. The shaded band is the margin of ±%s within which a variant counts as equivalent.",
		m.Label, r.Control, better, g.Margin())
	return chart.Draw(m.Label+" · part "+g.Part, note, chart.Forest(rows, band, tick, "effects on "+m.Label+" with 95 % intervals"))
}

func effectRow(name, class string, e stats.Effect, verdict stats.Verdict) chart.Effect {
	row := chart.Effect{Name: name, Class: class, Main: string(verdict)}
	size, low, high := e.Size()
	if row.Value, row.Known = size.Get(); !row.Known {
		return row
	}
	row.Main = e.Text() + "  " + string(verdict)
	row.Low, row.High = row.Value, row.Value
	if low.Known() && high.Known() {
		row.Low, row.High, row.Aside = low.Float(), high.Float(), e.Bounds()
	}
	return row
}

func percentTick(v float64) string {
	if v > 0 {
		return "+" + show.Tick(v) + " %"
	}
	return show.Tick(v) + " %"
}

// Picture returns the one chart that answers the study's question, as a self-contained SVG: its
// curves, its loss over load, or the effects of its variants. It is empty if there is nothing to
// draw.
func Picture(s study.Spec, r study.Results) []byte {
	svg := ""
	part, _ := s.Part(s.Primary().Part)
	if groups := curveGroups(r); len(groups) > 0 {
		svg = curveChart(groups[0])
	} else if part.Search != nil && part.Search.Method == study.LossCurve {
		svg = study.LossOverLoad(r, part.Name)
	}
	if svg == "" {
		if effects := effectCharts(r, s.Primary()); len(effects) > 0 {
			svg = string(effects[0].SVG)
		}
	}
	if svg == "" {
		return nil
	}
	return chart.Alone(svg)
}
