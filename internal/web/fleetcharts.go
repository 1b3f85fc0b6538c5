package web

import (
	"slices"
	"time"

	"linerate/internal/chart"
	"linerate/internal/fleet"
	"linerate/internal/show"
)

// week is the width of a column.
const week = 7

// dayNumber counts days since 1970; weeks of it begin on a Monday.
func dayNumber(t time.Time) int { return int(t.Unix() / 86400) }

func ofDay(n float64) time.Time { return time.Unix(int64(n)*86400, 0).UTC() }

// dayAxis prints days at the months' firsts.
func dayAxis(from, to int) chart.Axes {
	var ticks []float64
	for d := from; d <= to; d++ {
		if ofDay(float64(d)).Day() == 1 {
			ticks = append(ticks, float64(d))
		}
	}
	layout := "Jan 06"
	if len(ticks) < 3 {
		ticks, layout = nil, "2 Jan"
		for d := from; d <= to; d += week {
			ticks = append(ticks, float64(d))
		}
	}
	count := func(v float64) string { return show.Count(int(v)) }
	return chart.Axes{X: func(v float64) string { return ofDay(v).Format(layout) }, Y: count, XTicks: ticks}
}

// thinned leaves out ticks where a chart is too narrow for all.
func thinned(a chart.Axes, width float64) chart.Axes {
	if most := int(width / 75); len(a.XTicks) > most {
		every := (len(a.XTicks) + most - 1) / most
		var few []float64
		for i := 0; i < len(a.XTicks); i += every {
			few = append(few, a.XTicks[i])
		}
		a.XTicks = few
	}
	return a
}

// sort is a sort of changes in the chart.
type sort struct {
	name  string
	class int
	of    fleet.Kind
}

// sorts of changes that the chart tells apart, those that a host made itself.
var sorts = []sort{{"findings came", 4, fleet.Came}, {"findings went", 5, fleet.Went}, {"drift", 3, fleet.Drift}, {"unreachable", 1, fleet.Unreachable}}

// Drift draws what hosts did themselves, by week.
func (d Fleet) Drift() []chart.Figure {
	if len(d.Days) == 0 {
		return nil
	}
	at := func(day string) int {
		t, _ := time.Parse(time.DateOnly, day)
		n := dayNumber(t)
		return n - (n+3)%week // to Monday: day 0 was a Thursday
	}
	from, to := at(d.Days[0].Day), at(d.Days[len(d.Days)-1].Day)
	series := make([]chart.Series, len(sorts))
	for i, s := range sorts {
		series[i] = chart.Series{Name: s.name, Class: s.class}
		for w := from; w <= to; w += week {
			series[i].Points = append(series[i].Points, [2]float64{float64(w), 0})
		}
	}
	for _, day := range d.Days {
		i := slices.IndexFunc(sorts, func(s sort) bool { return s.of == day.Kind })
		if i >= 0 && day.Cause == fleet.ByHost {
			series[i].Points[(at(day.Day)-from)/week][1] += float64(day.Changes)
		}
	}
	a := dayAxis(from, to)
	a.Up, a.Across = "changes a week", "week"
	return chart.Draw("What hosts did themselves", "", func(w float64) string {
		return chart.Columns(series, week, thinned(a, w), w, "changes of the fleet's hosts by week: findings that came and went, drift, hosts that could not be reached")
	})
}

// Standing draws the findings that stood at each sweep's end, and the hosts that could not
// be reached.
func (d Fleet) Standing() []chart.Figure {
	series := []chart.Series{{Name: "errors", Class: 4}, {Name: "warnings", Class: 3}, {Name: "unreachable", Class: 1}}
	from, to := 0, 0
	for _, s := range slices.Backward(d.Sweeps) {
		if s.End.IsZero() {
			continue
		}
		x := float64(s.End.Unix()) / 86400
		if from == 0 {
			from = dayNumber(s.End)
		}
		to = dayNumber(s.End)
		for i, n := range []int{s.Errors, s.Warnings, s.Unreachable} {
			series[i].Points = append(series[i].Points, [2]float64{x, float64(n)})
		}
	}
	if len(series[0].Points) < 2 {
		return nil
	}
	a := dayAxis(from, to)
	a.Up, a.Across = "findings, hosts", "end of the sweep"
	return chart.Draw("What stood after each sweep", "", func(w float64) string {
		return chart.Lines(series, thinned(a, w), w, "errors, warnings and unreachable hosts after each sweep")
	})
}
