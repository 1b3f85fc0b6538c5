package report

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/chart"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// curveGroup holds the curves that share a chart.
type curveGroup struct {
	study.Curve // their common parameter, metric and part
	metric      study.Metric
	curves      []study.Curve
	base        float64 // the control's mean if it is on no curve, else NaN
	baseName    string
}

func curveGroups(r study.Results) []curveGroup {
	var out []curveGroup
	for _, c := range r.Curves {
		i := slices.IndexFunc(out, func(g curveGroup) bool {
			return g.Parameter == c.Parameter && g.Metric == c.Metric && g.Part == c.Part && g.Offered == c.Offered
		})
		if i < 0 {
			m, _ := study.MetricNamed(c.Metric)
			out, i = append(out, curveGroup{Curve: c, metric: m, base: math.NaN()}), len(out)
		}
		out[i].curves = append(out[i].curves, c)
	}
	for i := range out {
		out[i].baseline(r)
	}
	return slices.DeleteFunc(out, func(g curveGroup) bool { return g.points() < 2 })
}

// baseline sets the control's mean, if the points are variants.
func (g *curveGroup) baseline(r study.Results) {
	if g.Part == "" {
		return
	}
	if x := r.Values(g.Part, r.Control, g.Metric); len(x) > 0 {
		g.base, g.baseName = stats.Mean(x), r.Control
	}
}

// points returns the largest number of a curve's points that a logarithmic axis can show.
func (g curveGroup) points() (n int) {
	for _, c := range g.curves {
		n = max(n, len(drawn(c)))
	}
	return n
}

// drawn returns the points of a curve with positive coordinates.
func drawn(c study.Curve) (out []study.Spot) {
	return list.Filter(c.Points, func(p study.Spot) bool { return p.X > 0 && p.Value > 0 })
}

// bounds returns a point's interval, limited to a factor of three to either
// side for drawing.
func bounds(p study.Spot) (low, high float64) {
	low, high = p.Value, p.Value
	if p.Low.Known() && p.High.Known() {
		low, high = max(p.Low.Float(), p.Value/3), min(p.High.Float(), 3*p.Value)
	}
	return low, high
}

// title returns the title of a group's chart.
func (g curveGroup) title() string {
	t := g.metric.Label + " over " + g.Label
	if g.Offered {
		t = "forwarded over offered load"
	}
	if g.Part != "" {
		t += " · part " + g.Part
	}
	return t
}

// words describes the fits and knees of the curves, one sentence each.
func (g curveGroup) words() (out []string) {
	for _, c := range g.curves {
		if f := c.Fit; f != nil {
			out = append(out, c.Name+": "+perOne(*f, g.metric))
		}
		if k := c.Knee; k != nil {
			out = append(out, c.Name+": "+knee(*k))
		} else if c.Offered && len(c.Points) > 2 {
			out = append(out, c.Name+": almost no frame was lost at any load")
		}
	}
	return out
}

func perOne(f study.PerOne, m study.Metric) string {
	print := m.Text
	if m.Unit == "ns/packet" {
		print = func(v float64) string { return show.Value(round3(v)) + " ns" }
	}
	text := "each costs " + print(f.Each) + bracketed(f.Low, f.High) + " per packet"
	if any, known := f.Any.Get(); known {
		text += ", having any at all " + print(any) + bracketed(f.AnyLow, f.AnyHigh)
	}
	return text + fmt.Sprintf(", on top of %s; the points are within %s of that", print(f.Base), show.Percent(f.Off))
}

// bracketed formats an interval in brackets, if it is known.
func bracketed(low, high stats.Number) string {
	if !low.Known() || !high.Known() {
		return ""
	}
	return fmt.Sprintf(" [%s, %s]", show.Value(round3(low.Float())), show.Value(round3(high.Float())))
}

// round3 rounds to three significant digits.
func round3(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	return math.Round(v/unit) * unit
}

func knee(k study.Knee) string {
	text := "loss at every load tried"
	if k.Load > 0 {
		text = fmt.Sprintf("knee at %s (loss up to %s)", show.Rate(k.Load), show.Percent(100*study.KneeLoss))
	}
	what := "it holds"
	if k.Beyond < study.Collapsed {
		what = "it collapses, as in receive livelock"
	}
	return fmt.Sprintf("%s; it forwards %s at best, and %s of that when offered %.1f times as much: %s", text, show.Rate(k.Best), show.Percent(100*k.Beyond), k.Most, what)
}

// axis formats a value on a group's vertical axis.
func (g curveGroup) axis(v float64) string {
	switch g.metric.Unit {
	case "ns/packet":
		return show.Nanos(v)
	case "pps":
		return show.Rate(v)
	}
	return show.Tick(v)
}

// curveChart draws a group on logarithmic axes: points with 95 % intervals, the
// control as a horizontal line, fits as dashed lines, the knee as a vertical line.
func curveChart(g curveGroup) string {
	a := chart.Axes{X: placeTick, Y: g.axis, Across: g.Label, Up: g.metric.Label, LogX: true, LogY: true, Height: 288}
	if g.metric.Unit == "ns/packet" {
		a.Up += " per packet"
	}
	if g.base > 0 {
		a.Level, a.LevelName = &g.base, g.baseName
	}
	if g.Offered { // without loss, forwarded equals offered; loads were measured, not chosen
		a.Across, a.Diagonal = g.Label+", pps", true
	}
	var all []chart.Series
	for i, curve := range g.curves {
		s := chart.Series{Name: curve.Name, Class: i + 2}
		for _, p := range drawn(curve) {
			low, high := bounds(p)
			s.Points, s.Spans = append(s.Points, [2]float64{p.X, p.Value}), append(s.Spans, [2]float64{low, high})
			s.Words = append(s.Words, fmt.Sprintf("%s: %s", p.Name, g.metric.Text(p.Value)))
			if !g.Offered { // for frames, ticks at 64 and 1,518 say more than at 70 and 1,500
				a.XTicks = append(a.XTicks, p.X)
			}
		}
		if curve.Fit != nil {
			s.Law = curve.Fit.At
		}
		if k := curve.Knee; k != nil && k.Load > 0 {
			s.Knee = [2]float64{k.Load, k.Load}
		}
		all = append(all, s)
	}
	slices.Sort(a.XTicks)
	a.XTicks = slices.Compact(a.XTicks)
	return chart.Lines(all, a, g.title()+", logarithmic axes")
}

// placeTick formats values in the thousands in full.
func placeTick(v float64) string {
	if v >= 1000 && v < 10_000 && math.Mod(v, 100) != 0 {
		return show.Grouped(v, 0)
	}
	return show.Tick(v)
}
