package web

import (
	"slices"
	"time"

	"linerate/internal/chart"
	"linerate/internal/fleet"
	"linerate/internal/show"
)

// counted are the axes of numbers of things over time.
func counted(from, to float64, up, across string, width float64) chart.Axes {
	a := chart.Axes{Y: func(v float64) string { return show.Count(int(v)) }, Up: up, Across: across}
	return a.TimeAxis(from, to, width)
}

// sorts of changes that the chart of weeks tells apart.
var sorts = []struct {
	name  string
	class int
	of    func(fleet.Week) int
}{
	{"findings came", 4, func(w fleet.Week) int { return w.Came }}, {"findings went", 5, func(w fleet.Week) int { return w.Went }},
	{"drift", 3, func(w fleet.Week) int { return w.Drift }}, {"unreachable", 1, func(w fleet.Week) int { return w.Unreachable }},
}

// Drift draws what hosts did themselves, by week.
func (d Fleet) Drift() []chart.Figure {
	weeks := d.weeks
	if len(weeks) == 0 {
		return nil
	}
	const middle = 3.5 // of a week
	series := make([]chart.Series, len(sorts))
	for i, s := range sorts {
		series[i] = chart.Series{Name: s.name, Class: s.class}
		for _, w := range weeks {
			t, _ := time.Parse(time.DateOnly, w.From)
			series[i].Points = append(series[i].Points, [2]float64{chart.Day(t) + middle, float64(s.of(w))})
		}
	}
	if !slices.ContainsFunc(series, func(s chart.Series) bool {
		return slices.ContainsFunc(s.Points, func(p [2]float64) bool { return p[1] > 0 })
	}) {
		return nil
	}
	at := series[0].Points
	return chart.Draw("What hosts did themselves", "", func(w float64) string {
		a := counted(at[0][0]-middle, at[len(at)-1][0]+middle, "changes a week", "weeks up to today", w)
		return chart.Columns(series, 2*middle, a, w, "changes of the fleet's hosts by week: findings that came and went, drift, hosts that could not be reached")
	})
}
