package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/chart"
	"linerate/internal/document"
	"linerate/internal/show"
	"linerate/internal/study"
)

// effectCharts draws the primary metric's effects, in nanoseconds too where
// they have any.
func effectCharts(r study.Results, g study.Goal) []document.Figure {
	m, _ := r.Metric(g.Metric)
	better := "right is better"
	if m.LowerIsBetter {
		better = "left is better"
	}
	band, tick := axisOf(g, m)
	draw := func(w float64) string {
		rows := forestOf(r, g.Metric, g.Part, false)
		if len(rows) == 0 {
			return ""
		}
		return chart.Forest(rows, band, 0, tick, w, "effects on "+m.Label+" with 95 % intervals")
	}
	note := fmt.Sprintf("Change of the %s against %s, with 95 %% intervals; %s. The shaded band is the margin of ±%s within which a variant counts as equivalent.",
		m.Label, r.Control, better, g.Margin())
	out := chart.Draw(m.Label+" · part "+g.Part, note, draw)
	if m.NS == study.NoNS || m.NS == study.IsTime {
		return out
	}
	unit := "per packet"
	if m.Unit == "ns" {
		unit = "of delay"
	}
	rows := forestOf(r, g.Metric, g.Part, true)
	if len(rows) == 0 {
		return out
	}
	note, linear := nanosNote(r.Environment), chart.LinearPart(rows)
	if linear > 0 {
		note += " " + logBothSides
	}
	return append(out, chart.Draw("the same in nanoseconds "+unit, note,
		func(w float64) string {
			return chart.Forest(rows, 0, linear, nsTick, w, "effects in nanoseconds with 95 % intervals")
		})...)
}

// logBothSides explains an axis of effects of unlike sizes.
const logBothSides = "The axis is logarithmic on either side of zero."

// axisOf is the margin of a goal, shaded, and how its effects are labelled.
func axisOf(g study.Goal, m study.Metric) (band float64, tick func(float64) string) {
	if m.Share {
		return g.MarginPoints, func(v float64) string { return strings.TrimSuffix(percentTick(v), " %") + " pt" }
	}
	return g.MarginPercent, percentTick
}

// mostRows is how many effects share a chart.
const mostRows = 40

// otherEffects draws the effects by all goals but the primary one: those of one
// metric and margin in one chart, with the parts beneath each other on one scale.
// Metrics of which no variant has an effect are listed.
func otherEffects(s study.Spec, r study.Results) []document.Block {
	var charts []document.Block
	var done []study.Goal
	var noNumber, notMeasured []string
	for _, g := range s.Metrics {
		if g.Primary || slices.Contains(done, g) {
			continue
		}
		m, _ := r.Metric(g.Metric)
		var rows []chart.Effect
		var of []string
		for _, other := range s.Metrics {
			same := other.Metric == g.Metric && other.MarginPercent == g.MarginPercent && other.MarginPoints == g.MarginPoints
			if !same || other.Primary || slices.Contains(done, other) {
				continue
			}
			more := forestOf(r, other.Metric, other.Part, false)
			if len(rows) > 0 && len(rows)+len(more) > mostRows {
				break
			}
			done = append(done, other)
			name := m.Label + " (part " + other.Part + ")"
			switch {
			case len(more) == 0 || slices.ContainsFunc(more, func(row chart.Effect) bool { return row.Known }):
				rows, of = append(rows, inPart(other.Part, more)...), append(of, other.Part)
			case slices.ContainsFunc(r.Trials, func(t study.Trial) bool { return t.Part == other.Part && t.Unavailable == "" }):
				noNumber = append(noNumber, name)
			default:
				notMeasured = append(notMeasured, name)
			}
		}
		if len(rows) > 0 {
			charts = append(charts, document.Figures(otherChart(r, g, m, of, rows))...)
		}
	}
	if len(noNumber) > 0 {
		charts = append(charts, document.Note("No variant has an effect by: "+strings.Join(noNumber, "; ")+"."))
	}
	if len(notMeasured) > 0 {
		charts = append(charts, document.Note("Not measured: "+strings.Join(notMeasured, "; ")+"."))
	}
	if len(charts) == 0 {
		return nil
	}
	return append([]document.Block{document.Heading("Effects in other parts and by other metrics")}, charts...)
}

// otherChart draws the rows of a metric in some parts.
func otherChart(r study.Results, g study.Goal, m study.Metric, of []string, rows []chart.Effect) []document.Figure {
	title := m.Label + ", part by part"
	if len(of) == 1 {
		title = m.Label + " · part " + of[0]
		rows = forestOf(r, g.Metric, of[0], false)
	}
	band, tick := axisOf(g, m)
	note, linear := "", chart.LinearPart(rows)
	if linear > 0 {
		note = logBothSides
	}
	return chart.Draw(title, note, func(w float64) string {
		return chart.Forest(rows, band, linear, tick, w, "effects on "+m.Label+" with 95 % intervals")
	})
}

// inPart names rows by their part.
func inPart(part string, rows []chart.Effect) []chart.Effect {
	for i := range rows {
		rows[i].Name = part + " · " + rows[i].Name
	}
	return rows
}

// nsTick labels an axis of nanoseconds, with decimals where steps have some.
func nsTick(v float64) string {
	for _, decimals := range []int{0, 1} {
		if p := math.Pow10(decimals); math.Abs(v*p-math.Round(v*p)) < 1e-6 {
			return show.Grouped(v, decimals)
		}
	}
	return show.Grouped(v, 2)
}

func percentTick(v float64) string {
	if v > 0 {
		return "+" + show.Tick(v) + " %"
	}
	return show.Tick(v) + " %"
}
