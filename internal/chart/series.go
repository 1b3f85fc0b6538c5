package chart

import (
	"fmt"
	"math"
)

// Series is a named line of points, or a part of columns.
type Series struct {
	Name   string
	Class  int // its colour, 0 to 7
	Points [][2]float64
}

// Axes are what a chart over two axes prints at them.
type Axes struct {
	X, Y       func(float64) string // ticks
	Across, Up string               // what the axes are
	LogY       bool
	// XTicks are where the horizontal axis has its ticks; nil: at round values.
	XTicks []float64
	// Close lets the vertical axis begin near the least value, where what is looked for
	// is a change and not a size.
	Close bool
}

// maxDots is how many points of a line are drawn as dots, too.
const maxDots = 80

// Lines draws series as lines with points. What has no number (NaN) is left out; without
// any it is "".
func Lines(series []Series, a Axes, width float64, label string) string {
	x0, x1, y0, y1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, s := range series {
		for _, p := range s.Points {
			if !math.IsNaN(p[1]) && (!a.LogY || p[1] > 0) {
				x0, x1, y0, y1 = min(x0, p[0]), max(x1, p[0]), min(y0, p[1]), max(y1, p[1])
			}
		}
	}
	if x1 < x0 {
		return ""
	}
	if a.LogY {
		y0, y1 = y0/1.15, y1*1.15
	} else if room := (y1 - y0) / 10; a.Close && room > 0 {
		y0, y1 = y0-room, y1+room
	} else {
		y0, y1 = min(0, y0), max(1, y1*1.05)
	}
	pad := max(0.5, (x1-x0)*0.02)
	f := newPlot(series, a, [4]float64{x0 - pad, x1 + pad, y0, y1}, width)
	var at []float64
	for _, s := range series {
		class, end := fmt.Sprintf("c%d", s.Class%8), f.bottom
		var line [][2]float64
		var dots []string
		for _, p := range s.Points {
			if math.IsNaN(p[1]) || a.LogY && p[1] <= 0 {
				continue
			}
			x, y := f.x.At(p[0]), f.y.At(p[1])
			line = append(line, [2]float64{x, y})
			if len(s.Points) <= maxDots {
				dots = append(dots, s.Name+": "+a.X(p[0])+", "+a.Y(p[1]))
			}
			end = y
		}
		f.c.Path("curve "+class, line)
		for i, title := range dots {
			f.c.Dot("trial "+class, line[i][0], line[i][1], 3.5, title)
		}
		at = append(at, end)
	}
	f.names(series, at)
	return f.c.SVG(label)
}

// Columns draws series as columns stacked on each other, the first at the bottom; every
// series has the same places on the horizontal axis, step apart. Without any it is "".
func Columns(series []Series, step float64, a Axes, width float64, label string) string {
	if len(series) == 0 || len(series[0].Points) == 0 {
		return ""
	}
	first, most := series[0].Points, 0.0
	sums := make([]float64, len(first))
	for _, s := range series {
		for i, p := range s.Points {
			sums[i] += p[1]
			most = max(most, sums[i])
		}
	}
	f := newPlot(series, a, [4]float64{first[0][0] - step/2, first[len(first)-1][0] + step/2, 0, max(1, most*1.05)}, width)
	clear(sums)
	wide := max(0.5, f.x.At(first[0][0]+step)-f.x.At(first[0][0])-1)
	at := make([]float64, len(series))
	for k, s := range series {
		for i, p := range s.Points {
			if p[1] > 0 {
				y := f.y.At(sums[i] + p[1])
				f.c.Bar(fmt.Sprintf("part p%d", s.Class%8), f.x.At(p[0])-wide/2, y, wide, f.y.At(sums[i])-y, fmt.Sprintf("%s: %s, %s", a.X(p[0]), s.Name, a.Y(p[1])))
			}
			sums[i] += p[1]
		}
		at[k] = f.y.At(sums[len(sums)-1] - s.Points[len(s.Points)-1][1]/2)
	}
	f.names(series, at)
	return f.c.SVG(label)
}

// plot is a chart's axes, and where what stands.
type plot struct {
	c      *Canvas
	x, y   Scale
	bottom float64
	right  float64
}

// newPlot draws axes over from and to of either.
func newPlot(series []Series, a Axes, span [4]float64, width float64) plot {
	left, right, top, height := 18.0, 14.0, 22.0, 250.0
	if IsNarrow(width) {
		height += 18 * math.Ceil(float64(len(series))/2)
	} else {
		for _, s := range series {
			right = max(right, 26+TextWidth(s.Name))
		}
	}
	f := plot{bottom: 200}
	f.y = Scale{From: span[2], To: span[3], Left: f.bottom, Span: top - f.bottom, Log: a.LogY}
	ticks := f.y.Ticks(5)
	for _, v := range ticks {
		left = max(left, 12+TextWidth(a.Y(v)))
	}
	f.c, f.right = New(width, height), width-right
	f.x = Scale{From: span[0], To: span[1], Left: left, Span: width - left - right}
	for _, v := range ticks {
		f.c.Line("grid", left, f.y.At(v), f.right, f.y.At(v))
		f.c.Text("tick", "end", left-6, f.y.At(v)+4, a.Y(v))
	}
	places := a.XTicks
	if places == nil {
		places = f.x.Ticks(int(f.x.Span / 70))
	}
	for _, v := range places {
		f.c.Line("grid", f.x.At(v), f.bottom, f.x.At(v), f.bottom+4)
		f.c.Tick(f.x.At(v), f.bottom+17, a.X(v))
	}
	f.c.Text("tick", "middle", (left+f.right)/2, f.bottom+34, a.Across)
	f.c.Text("tick", "start", 2, 12, a.Up)
	return f
}

// names labels series where they end, or under a narrow chart.
func (f plot) names(series []Series, at []float64) {
	if f.c.Narrow() {
		for i, s := range series {
			x, y := 8+float64(i%2)*f.c.W/2, f.bottom+54+18*float64(i/2)
			f.c.Dot(fmt.Sprintf("trial c%d", s.Class%8), x+4, y-4, 4.5, s.Name)
			f.c.Text("name", "start", x+14, y, s.Name)
		}
		return
	}
	for i, h := range Spread(at, 15, 22, f.bottom) {
		f.c.Text(fmt.Sprintf("name t%d", series[i].Class%8), "start", f.right+10, h+4, series[i].Name)
	}
}
