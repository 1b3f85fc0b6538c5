package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Series is a named line through points.
type Series struct {
	Name   string // "" draws no label
	Class  int    // colour, 0 to 7
	Points [][2]float64
	Spans  [][2]float64 // intervals around the points; nil: none
	Words  []string     // tooltip of each point; nil: the name and the axes' text
	// Law, if set, is drawn dashed instead of the line through the points.
	Law func(x float64) float64
	// Knee is the upper end of a vertical line from the axis; zero: none.
	Knee [2]float64
	Bare bool // no dots, however few the points
	// Dots, if not empty, is the class of the points, drawn without a line unless Line is set.
	Dots string
	Line bool
}

// Band shades a range of the horizontal axis.
type Band struct {
	From, To float64
	Class    string
}

// Axes describes the two axes of a chart.
type Axes struct {
	X, Y       func(float64) string // formats of tick labels
	Across, Up string               // titles of the axes
	LogX, LogY bool
	// XTicks are the horizontal axis's ticks, drawn if there is room; nil: round values.
	XTicks []float64
	// Close lets the vertical axis start near the least value instead of zero, for
	// charts that show changes.
	Close bool
	// Level, if not nil, draws a horizontal line, labelled LevelName.
	Level     *float64
	LevelName string
	Diagonal  bool // draws the line x = y
	Bands     []Band
	Height    float64 // of the plot, in pixels; 0: 178
}

// maxDots is the most points for which a line also gets dots.
const maxDots = 80

// shown reports whether a point can be drawn on these axes.
func (a Axes) shown(p [2]float64) bool {
	return !math.IsNaN(p[1]) && (!a.LogX || p[0] > 0) && (!a.LogY || p[1] > 0)
}

// span returns the ranges of the axes that show everything drawn, with a margin.
func (a Axes) span(series []Series) (x0, x1, y0, y1 float64) {
	x0, x1, y0, y1 = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	put := func(x, y float64) {
		if a.shown([2]float64{x, y}) {
			x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
		}
	}
	for _, s := range series {
		for i, p := range s.Points {
			put(p[0], p[1])
			if s.Spans != nil && a.shown(p) {
				put(p[0], s.Spans[i][0])
				put(p[0], s.Spans[i][1])
			}
		}
	}
	if x1 < x0 {
		return x0, x1, y0, y1
	}
	if a.Level != nil {
		put(x0, *a.Level)
	}
	for _, b := range a.Bands {
		x0, x1 = min(x0, b.From), max(x1, b.To)
	}
	if a.LogX {
		x0, x1 = x0/1.25, x1*1.25
	} else {
		pad := max(0.5, (x1-x0)*0.02)
		x0, x1 = x0-pad, x1+pad
	}
	switch room := (y1 - y0) / 10; {
	case a.LogY:
		y0, y1 = y0/1.15, y1*1.15
	case a.Close && room > 0:
		y0, y1 = y0-room, y1+room
	default:
		y0, y1 = min(0, y0), max(1, y1*1.05)
	}
	return x0, x1, y0, y1
}

// Lines draws series as lines with points, omitting NaN values. It returns "" if there
// is nothing to draw.
func Lines(series []Series, a Axes, label string) string {
	x0, x1, y0, y1 := a.span(series)
	if x1 < x0 {
		return ""
	}
	f := newPlot(series, a, [4]float64{x0, x1, y0, y1})
	at := make([]float64, len(series))
	for i, s := range series {
		aside := 0.0
		if n := float64(len(series)); s.Spans != nil { // offset, so that no series hides another's interval
			aside = (float64(i) - (n-1)/2) * min(4, 12/n)
		}
		at[i] = f.line(s, a, aside)
	}
	f.names(series, a, at)
	return f.c.SVG(label)
}

// line draws a series and returns the vertical position of its end.
func (f plot) line(s Series, a Axes, aside float64) (end float64) {
	end = f.bottom
	class := fmt.Sprintf("c%d", s.Class%8)
	var line [][2]float64
	var seen []int // indexes of the points in line
	for i, p := range s.Points {
		if a.shown(p) {
			line, seen = append(line, [2]float64{f.x.At(p[0]) + aside, f.y.At(p[1])}), append(seen, i)
			end = line[len(line)-1][1]
		}
	}
	switch {
	case s.Law != nil:
		f.law("law "+class, s.Law)
	case s.Dots == "" || s.Line:
		f.c.Path("curve "+class, line)
	}
	if s.Knee != [2]float64{} {
		f.c.Line("knee "+class, f.x.At(s.Knee[0]), f.bottom, f.x.At(s.Knee[0]), f.y.At(min(s.Knee[1], f.y.To)))
	}
	for k, i := range seen {
		if s.Spans != nil {
			f.c.Line("interval "+class, line[k][0], f.y.At(s.Spans[i][0]), line[k][0], f.y.At(s.Spans[i][1]))
		}
		if s.Bare || len(s.Points) > maxDots && s.Dots == "" {
			continue
		}
		words := s.Name + ": " + a.X(s.Points[i][0]) + ", " + a.Y(s.Points[i][1])
		if s.Words != nil {
			words = s.Words[i]
		}
		f.c.Dot(cmp.Or(s.Dots, "trial "+class), line[k][0], line[k][1], 3.5, words)
	}
	return end
}

// law draws a function across the chart as a dashed line.
func (f plot) law(class string, law func(float64) float64) {
	const step = 8 // pixels
	value := func(px float64) float64 {
		share := (px - f.x.Left) / f.x.Span
		if f.x.Log {
			return law(f.x.From * math.Pow(f.x.To/f.x.From, share))
		}
		return law(f.x.From + share*(f.x.To-f.x.From))
	}
	for px := f.x.Left; px+step <= f.right; px += step {
		a, b := value(px), value(px+step)
		if min(a, b) > f.y.From && max(a, b) < f.y.To {
			f.c.Line(class, px, f.y.At(a), px+step, f.y.At(b))
		}
	}
}

// plot is a canvas with its axes and layout.
type plot struct {
	c      *Canvas
	x, y   Scale
	bottom float64
	right  float64
}

// newPlot draws the axes for the given ranges.
func newPlot(series []Series, a Axes, span [4]float64) plot {
	left, right, top := 18.0, 14.0, 22.0
	f := plot{bottom: top + cmp.Or(a.Height, 178)}
	for _, s := range a.named(series) {
		right = max(right, 26+TextWidth(s.Name))
	}
	f.y = Scale{From: span[2], To: span[3], Left: f.bottom, Span: top - f.bottom, Log: a.LogY}
	ticks := f.y.Ticks(5)
	for _, v := range ticks {
		left = max(left, 12+TextWidth(a.Y(v)))
	}
	f.c, f.right = New(f.bottom+48), Width-right
	f.x = Scale{From: span[0], To: span[1], Left: left, Span: Width - left - right, Log: a.LogX}
	for _, b := range a.Bands {
		f.c.Cell(b.Class, f.x.At(b.From), top, f.x.At(b.To)-f.x.At(b.From), f.bottom-top, 0.16)
	}
	for _, v := range ticks {
		f.c.Line("grid", left, f.y.At(v), f.right, f.y.At(v))
		f.c.Text("tick", "end", left-6, f.y.At(v)+4, a.Y(v))
	}
	places := a.XTicks
	if places == nil {
		places = f.x.Ticks(int(f.x.Span / 70))
	}
	for _, v := range f.fitting(places, a.X) {
		f.c.Line("grid", f.x.At(v), f.bottom, f.x.At(v), f.bottom+4)
		f.c.Tick(f.x.At(v), f.bottom+17, a.X(v))
	}
	f.c.Text("tick", "middle", (left+f.right)/2, f.bottom+34, a.Across)
	f.c.Text("tick", "start", 2, 12, a.Up)
	if a.Level != nil {
		f.c.Line("lossless", left, f.y.At(*a.Level), f.right, f.y.At(*a.Level))
	}
	if from, to := max(f.x.From, f.y.From), min(f.x.To, f.y.To); a.Diagonal && from < to {
		f.c.Line("lossless", f.x.At(from), f.y.At(from), f.x.At(to), f.y.At(to))
	}
	return f
}

// fitting returns the ticks whose labels do not overlap; the last one always, and the first if both fit.
func (f plot) fitting(places []float64, words func(float64) string) (out []float64) {
	half := func(v float64) float64 { return TextWidth(words(v))/2 + 2 }
	end := math.Inf(-1)
	for i, v := range places {
		last := places[len(places)-1]
		if i == len(places)-1 || f.x.At(v)-half(v) > end && f.x.At(v)+half(v) < f.x.At(last)-half(last) {
			out, end = append(out, v), f.x.At(v)+half(v)
		}
	}
	return out
}

// named returns the series that have a name, and one more for a named level.
func (a Axes) named(series []Series) []Series {
	out := slices.DeleteFunc(slices.Clone(series), func(s Series) bool { return s.Name == "" })
	if a.Level != nil && a.LevelName != "" {
		out = append(out, Series{Name: a.LevelName, Class: -1})
	}
	return out
}

// names draws the names of series next to their ends.
func (f plot) names(series []Series, a Axes, at []float64) {
	named := a.named(series)
	var ends []float64
	for i, s := range series {
		if s.Name != "" {
			ends = append(ends, at[i])
		}
	}
	if len(named) > len(ends) {
		ends = append(ends, f.y.At(*a.Level))
	}
	for i, h := range Spread(ends, 15, 22, f.bottom) {
		class := fmt.Sprintf("name t%d", named[i].Class%8)
		if named[i].Class < 0 {
			class = "aside"
		}
		f.c.Text(class, "start", f.right+10, h+4, named[i].Name)
	}
}
