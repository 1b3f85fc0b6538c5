package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/chart"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// curveGroup is the curves that share a chart.
type curveGroup struct {
	study.Curve // its parameter, metric and part
	metric      study.Metric
	curves      []study.Curve
	base        float64 // the control's mean, where it is on no curve; or NaN
	baseName    string
}

// curveGroups sorts a study's curves into charts.
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

// baseline is what the control costs, where the points are variants.
func (g *curveGroup) baseline(r study.Results) {
	if g.Part == "" {
		return
	}
	if x := r.Values(g.Part, r.Control, g.Metric); len(x) > 0 {
		g.base, g.baseName = stats.Mean(x), r.Control
	}
}

// points counts the largest curve's that a logarithmic axis can show.
func (g curveGroup) points() (n int) {
	for _, c := range g.curves {
		n = max(n, len(drawn(c)))
	}
	return n
}

// drawn are the points of a curve beyond zero.
func drawn(c study.Curve) (out []study.Spot) {
	return list.Filter(c.Points, func(p study.Spot) bool { return p.X > 0 && p.Value > 0 })
}

// span is the range of all that is drawn.
func (g curveGroup) span() (x0, x1, y0, y1 float64) {
	x0, x1, y0, y1 = math.Inf(1), 0, math.Inf(1), 0
	for _, c := range g.curves {
		for _, p := range drawn(c) {
			low, high := bounds(p)
			x0, x1 = min(x0, p.X), max(x1, p.X)
			y0, y1 = min(y0, low), max(y1, high)
		}
	}
	if g.base > 0 {
		y0, y1 = min(y0, g.base), max(y1, g.base)
	}
	return x0, x1, y0, y1
}

// bounds are a point's interval, as far as it is sensible to draw: no more than
// threefold to either side.
func bounds(p study.Spot) (low, high float64) {
	low, high = p.Value, p.Value
	if p.Low.Known() && p.High.Known() {
		low, high = max(p.Low.Float(), p.Value/3), min(p.High.Float(), 3*p.Value)
	}
	return low, high
}

// title heads a group's chart.
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

// words say what the curves' fits and knees are, a sentence each.
func (g curveGroup) words() (out []string) {
	for _, c := range g.curves {
		if f := c.Fit; f != nil {
			out = append(out, c.Name+": "+perOne(*f, g.metric))
		}
		if u := c.USL; u != nil {
			out = append(out, c.Name+": "+scales(*u))
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

// bracketed is an interval in brackets, where it is known.
func bracketed(low, high stats.Number) string {
	if !low.Known() || !high.Known() {
		return ""
	}
	return fmt.Sprintf(" [%s, %s]", show.Value(round3(low.Float())), show.Value(round3(high.Float())))
}

// round3 keeps three significant digits.
func round3(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	return math.Round(v/unit) * unit
}

// scales says what the law's terms mean: σ is waiting for one another, κ what
// each pair costs the other.
func scales(u study.Scales) string {
	text := fmt.Sprintf("one CPU %s; %s%s of the work is done by one CPU at a time (contention σ, as at a lock), and each pair of CPUs costs the other %s%s (coherency κ, as of cache lines that both write)",
		show.Rate(u.Gamma), show.Percent(100*u.Sigma), percents(u.SigmaLow, u.SigmaHigh), show.Percent(100*u.Kappa), percents(u.KappaLow, u.KappaHigh))
	if peak, ok := u.Peak.Get(); ok && !math.IsInf(peak, 0) {
		text += fmt.Sprintf("; beyond %s CPUs more would make it slower", show.Digits(peak))
	}
	return text + ". " + strings.TrimSuffix(u.Limit, ".")
}

// percents is an interval of shares in percent, in brackets.
func percents(low, high stats.Number) string {
	if !low.Known() || !high.Known() {
		return ""
	}
	return fmt.Sprintf(" [%s, %s]", show.Digits(100*low.Float()), show.Digits(100*high.Float()))
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

// axis prints a value of a group's vertical axis.
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
// control as a level line, fits dashed, the knee as an upright one.
func curveChart(g curveGroup, width float64) string {
	narrow := chart.IsNarrow(width)
	left, right, top := 64.0, 16.0, 22.0
	if !narrow {
		for _, c := range g.curves {
			right = max(right, 30+chart.TextWidth(c.Name))
		}
		right = max(right, 30+chart.TextWidth(g.baseName))
	}
	x0, x1, y0, y1 := g.span()
	if x1 == 0 || x0 == x1 {
		return ""
	}
	height, legendTop := 360.0, 0.0
	if narrow {
		legendTop = 348
		height = legendTop + 18*math.Ceil(float64(len(g.curves)+1)/2)
	}
	bottom := 310.0
	c := chart.New(width, height)
	x := chart.Scale{From: x0 / 1.25, To: x1 * 1.25, Left: left, Span: width - left - right, Log: true}
	y := chart.Scale{From: y0 / 1.15, To: y1 * 1.15, Left: bottom, Span: top - bottom, Log: true}
	g.grid(c, x, y, top, bottom, width-right)
	var at []float64
	for i, curve := range g.curves {
		at = append(at, g.line(c, curve, i, x, y))
	}
	if narrow {
		g.legend(c, legendTop+14, width)
	} else {
		g.names(c, at, width-right+10, top, bottom, y)
	}
	return c.SVG(g.title() + ", logarithmic axes")
}

// grid draws axes and the control's level.
func (g curveGroup) grid(c *chart.Canvas, x, y chart.Scale, top, bottom, edge float64) {
	for _, v := range y.Ticks(6) {
		c.Line("grid", x.Left, y.At(v), edge, y.At(v))
		c.Text("tick", "end", x.Left-6, y.At(v)+4, g.axis(v))
	}
	for _, v := range g.places(x) {
		c.Line("grid", x.At(v), top, x.At(v), bottom+4)
		c.Tick(x.At(v), bottom+17, placeTick(v))
	}
	c.Text("tick", "middle", (x.Left+edge)/2, bottom+34, g.across())
	c.Text("tick", "start", 2, 12, g.metric.Label+axisUnit(g.metric))
	if g.base > 0 {
		c.Line("lossless", x.Left, y.At(g.base), edge, y.At(g.base))
	}
	if g.Offered { // nothing lost: forwarded is offered
		from, to := max(x.From, y.From), min(x.To, y.To)
		if from < to {
			c.Line("lossless", x.At(from), y.At(from), x.At(to), y.At(to))
		}
	}
}

// across is what the horizontal axis says.
func (g curveGroup) across() string {
	if g.Offered {
		return g.Label + ", pps"
	}
	return g.Label
}

// places are where the horizontal axis has its ticks: at what was measured, as
// far as there is room for it, for 64 and 1,518 say more of frames than 70 and
// 1,500; loads were not chosen, so their ticks are at round numbers.
func (g curveGroup) places(x chart.Scale) (out []float64) {
	if g.Offered {
		return x.Ticks(int(x.Span / 60))
	}
	var all []float64
	for _, c := range g.curves {
		for _, p := range drawn(c) {
			all = append(all, p.X)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	half := func(v float64) float64 { return chart.TextWidth(placeTick(v))/2 + 2 }
	last := all[len(all)-1] // both ends are always labelled
	end := math.Inf(-1)
	for _, v := range all {
		if v == last || x.At(v)-half(v) > end && x.At(v)+half(v) < x.At(last)-half(last) {
			out, end = append(out, v), x.At(v)+half(v)
		}
	}
	return out
}

// placeTick prints a value to its last digit where that is in the thousands.
func placeTick(v float64) string {
	if v >= 1000 && v < 10_000 && math.Mod(v, 100) != 0 {
		return show.Grouped(v, 0)
	}
	return show.Tick(v)
}

// axisUnit ends the vertical axis's name.
func axisUnit(m study.Metric) string {
	if m.Unit == "ns/packet" {
		return " per packet"
	}
	return ""
}

// line draws one curve and returns the height at which it ends.
func (g curveGroup) line(c *chart.Canvas, curve study.Curve, i int, x, y chart.Scale) (end float64) {
	class := fmt.Sprintf("c%d", (i+2)%8)
	points := drawn(curve)
	fit := func(v float64) float64 { return math.NaN() }
	switch {
	case curve.Fit != nil:
		fit = curve.Fit.At
	case curve.USL != nil:
		fit = curve.USL.At
	}
	g.dashes(c, class, fit, x, y)
	aside := g.aside(i)
	for k, p := range points {
		low, high := bounds(p)
		if k > 0 && math.IsNaN(fit(p.X)) {
			c.Line("thread "+class, x.At(points[k-1].X)+aside, y.At(points[k-1].Value), x.At(p.X)+aside, y.At(p.Value))
		}
		c.Line("interval "+class, x.At(p.X)+aside, y.At(low), x.At(p.X)+aside, y.At(high))
		c.Dot("trial "+class, x.At(p.X)+aside, y.At(p.Value), 4.5, fmt.Sprintf("%s: %s", p.Name, g.metric.Text(p.Value)))
		end = y.At(p.Value)
	}
	if k := curve.Knee; k != nil && k.Load > 0 {
		c.Line("knee "+class, x.At(k.Load), y.At(y.From), x.At(k.Load), y.At(min(k.Load, y.To)))
	}
	return end
}

// aside moves curves' points apart by a few pixels, so that none hides another's interval.
func (g curveGroup) aside(i int) float64 {
	n := float64(len(g.curves))
	return (float64(i) - (n-1)/2) * min(4, 12/n)
}

// dashes draws a law across the chart.
func (g curveGroup) dashes(c *chart.Canvas, class string, law func(float64) float64, x, y chart.Scale) {
	const steps = 60
	ratio := math.Pow(x.To/x.From, 1.0/steps)
	for i := range steps {
		a := x.From * math.Pow(ratio, float64(i))
		ya, yb := law(a), law(a*ratio)
		if ya > y.From && yb > y.From && ya < y.To && yb < y.To {
			c.Line("law "+class, x.At(a), y.At(ya), x.At(a*ratio), y.At(yb))
		}
	}
}

// names labels the curves at the right edge, and the control's level.
func (g curveGroup) names(c *chart.Canvas, at []float64, x, top, bottom float64, y chart.Scale) {
	names := make([]string, len(g.curves))
	for i, curve := range g.curves {
		names[i] = curve.Name
	}
	if g.base > 0 {
		at, names = append(at, y.At(g.base)), append(names, g.baseName)
	}
	for i, h := range chart.Spread(at, 15, top, bottom) {
		class := fmt.Sprintf("name t%d", (i+2)%8)
		if i == len(g.curves) {
			class = "aside"
		}
		c.Text(class, "start", x, h+4, names[i])
	}
}

// legend names the curves under a narrow chart.
func (g curveGroup) legend(c *chart.Canvas, top, width float64) {
	for i, curve := range g.curves {
		x, y := 8+float64(i%2)*width/2, top+18*float64(i/2)
		c.Dot(fmt.Sprintf("trial c%d", (i+2)%8), x+4, y-4, 4.5, curve.Name)
		c.Text("name", "start", x+14, y, curve.Name)
	}
	if g.base > 0 {
		i := len(g.curves)
		x, y := 8+float64(i%2)*width/2, top+18*float64(i/2)
		c.Line("lossless", x-2, y-4, x+10, y-4)
		c.Text("name", "start", x+14, y, g.baseName)
	}
}
