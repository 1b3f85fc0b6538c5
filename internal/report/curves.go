package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
	if x := values(r, g.Part, r.Control, g.Metric); len(x) > 0 {
		g.base, g.baseName = mean(x), r.Control
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
	for _, p := range c.Points {
		if p.X > 0 && p.Value > 0 {
			out = append(out, p)
		}
	}
	return out
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
			out = append(out, c.Name+": hardly a frame was lost at any load")
		}
	}
	return out
}

func perOne(f study.PerOne, m study.Metric) string {
	print := func(v float64) string { return value(m, v) }
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
	narrow := width < 500
	left, right, top := 64.0, 16.0, 22.0
	if !narrow {
		for _, c := range g.curves {
			right = max(right, 30+textWidth(c.Name))
		}
		right = max(right, 30+textWidth(g.baseName))
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
	c := &canvas{w: width, h: height}
	x := scale{from: x0 / 1.25, to: x1 * 1.25, left: left, span: width - left - right, log: true}
	y := scale{from: y0 / 1.15, to: y1 * 1.15, left: bottom, span: top - bottom, log: true}
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
	return c.svg(chartClass(narrow), g.title()+", logarithmic axes")
}

// grid draws axes and the control's level.
func (g curveGroup) grid(c *canvas, x, y scale, top, bottom, edge float64) {
	for _, v := range y.ticks(6) {
		c.line("grid", x.left, y.at(v), edge, y.at(v))
		c.text("tick", "end", x.left-6, y.at(v)+4, g.axis(v))
	}
	for _, v := range g.places(x) {
		c.line("grid", x.at(v), top, x.at(v), bottom+4)
		c.tick(x.at(v), bottom+17, placeTick(v))
	}
	c.text("tick", "middle", (x.left+edge)/2, bottom+34, g.across())
	c.text("tick", "start", 2, 12, g.metric.Label+axisUnit(g.metric))
	if g.base > 0 {
		c.line("lossless", x.left, y.at(g.base), edge, y.at(g.base))
	}
	if g.Offered { // nothing lost: forwarded is offered
		from, to := max(x.from, y.from), min(x.to, y.to)
		if from < to {
			c.line("lossless", x.at(from), y.at(from), x.at(to), y.at(to))
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
// 1,500; of loads, which nobody chose, at round ones.
func (g curveGroup) places(x scale) (out []float64) {
	if g.Offered {
		return x.ticks(int(x.span / 60))
	}
	var all []float64
	for _, c := range g.curves {
		for _, p := range drawn(c) {
			all = append(all, p.X)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	half := func(v float64) float64 { return textWidth(placeTick(v))/2 + 2 }
	last := all[len(all)-1] // the ends are always told
	end := math.Inf(-1)
	for _, v := range all {
		if v == last || x.at(v)-half(v) > end && x.at(v)+half(v) < x.at(last)-half(last) {
			out, end = append(out, v), x.at(v)+half(v)
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
func (g curveGroup) line(c *canvas, curve study.Curve, i int, x, y scale) (end float64) {
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
			c.line("thread "+class, x.at(points[k-1].X)+aside, y.at(points[k-1].Value), x.at(p.X)+aside, y.at(p.Value))
		}
		c.line("interval "+class, x.at(p.X)+aside, y.at(low), x.at(p.X)+aside, y.at(high))
		c.dot("trial "+class, x.at(p.X)+aside, y.at(p.Value), 4.5, fmt.Sprintf("%s: %s", p.Name, value(g.metric, p.Value)))
		end = y.at(p.Value)
	}
	if k := curve.Knee; k != nil && k.Load > 0 {
		c.line("knee "+class, x.at(k.Load), y.at(y.from), x.at(k.Load), y.at(min(k.Load, y.to)))
	}
	return end
}

// aside moves curves' points apart by a few pixels, so that none hides another's interval.
func (g curveGroup) aside(i int) float64 {
	n := float64(len(g.curves))
	return (float64(i) - (n-1)/2) * min(4, 12/n)
}

// dashes draws a law across the chart.
func (g curveGroup) dashes(c *canvas, class string, law func(float64) float64, x, y scale) {
	const steps = 60
	ratio := math.Pow(x.to/x.from, 1.0/steps)
	for i := range steps {
		a := x.from * math.Pow(ratio, float64(i))
		ya, yb := law(a), law(a*ratio)
		if ya > y.from && yb > y.from && ya < y.to && yb < y.to {
			c.line("law "+class, x.at(a), y.at(ya), x.at(a*ratio), y.at(yb))
		}
	}
}

// names labels the curves at the right edge, and the control's level.
func (g curveGroup) names(c *canvas, at []float64, x, top, bottom float64, y scale) {
	names := make([]string, len(g.curves))
	for i, curve := range g.curves {
		names[i] = curve.Name
	}
	if g.base > 0 {
		at, names = append(at, y.at(g.base)), append(names, g.baseName)
	}
	for i, h := range spread(at, 15, top, bottom) {
		class := fmt.Sprintf("name t%d", (i+2)%8)
		if i == len(g.curves) {
			class = "aside"
		}
		c.text(class, "start", x, h+4, names[i])
	}
}

// legend names the curves under a narrow chart.
func (g curveGroup) legend(c *canvas, top, width float64) {
	for i, curve := range g.curves {
		x, y := 8+float64(i%2)*width/2, top+18*float64(i/2)
		c.dot(fmt.Sprintf("trial c%d", (i+2)%8), x+4, y-4, 4.5, curve.Name)
		c.text("name", "start", x+14, y, curve.Name)
	}
	if g.base > 0 {
		i := len(g.curves)
		x, y := 8+float64(i%2)*width/2, top+18*float64(i/2)
		c.line("lossless", x-2, y-4, x+10, y-4)
		c.text("name", "start", x+14, y, g.baseName)
	}
}
