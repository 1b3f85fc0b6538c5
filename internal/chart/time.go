package chart

import (
	"fmt"
	"math"
	"time"
)

// Day is a time as charts have it: in days since 1970, UTC.
func Day(t time.Time) float64 { return float64(t.UnixMilli()) / 86_400_000 }

// dayTime is Day the other way round.
func dayTime(day float64) time.Time {
	return time.UnixMilli(int64(math.Round(day * 86_400_000))).UTC()
}

// timeSteps are the distances of a time axis' ticks below a month, in days, the least
// first, and how each is printed.
var timeSteps = []struct {
	days   float64
	layout string
}{{1. / 1440, "15:04"}, {5. / 1440, "15:04"}, {15. / 1440, "15:04"}, {1. / 24, "15:04"}, {0.25, "2 Jan 15:04"}, {1, "2 Jan"}, {7, "2 Jan"}}

// maxTimeTicks is how many ticks a time axis has at most; on a phone fewer fit.
const maxTimeTicks = 10

// TimeAxis makes the horizontal axis one of days since 1970: months' firsts over months,
// round days, hours and minutes below.
func (a Axes) TimeAxis(from, to, width float64) Axes {
	most := min(maxTimeTicks, int(width/75))
	for _, s := range timeSteps {
		if (to-from)/s.days > float64(most) {
			continue
		}
		a.X = func(v float64) string { return dayTime(v).Format(s.layout) }
		a.XTicks = []float64{}
		for d := math.Ceil(from/s.days-1e-6) * s.days; d <= to+1e-6; d += s.days {
			a.XTicks = append(a.XTicks, d)
		}
		return a
	}
	a.X = func(v float64) string { return dayTime(v).Format("Jan 06") }
	a.XTicks = []float64{}
	first := dayTime(from)
	every := 1 + int((to-from)/30.4)/most
	for m := 0; ; m += every {
		d := Day(time.Date(first.Year(), first.Month()+1+time.Month(m), 1, 0, 0, 0, 0, time.UTC))
		if d > to {
			return a
		}
		a.XTicks = append(a.XTicks, d)
	}
}

// Moment is an effect at a time, in days since 1970.
type Moment struct {
	At float64
	Effect
}

// Moments draws effects with their intervals over time, against a line of no effect.
// Without any it is "".
func Moments(all []Moment, print func(float64) string, width float64, label string) string {
	if len(all) == 0 {
		return ""
	}
	x0, x1 := math.Inf(1), math.Inf(-1)
	effects := make([]Effect, len(all))
	for i, m := range all {
		x0, x1, effects[i] = min(x0, m.At), max(x1, m.At), m.Effect
	}
	y0, y1 := forestRange(effects, 0)
	pad := max(1./1440, (x1-x0)*0.03)
	f := newPlot(nil, Axes{Y: print, Up: "effect"}.TimeAxis(x0-pad, x1+pad, width), [4]float64{x0 - pad, x1 + pad, y0, y1}, width)
	f.c.Line("zero", f.x.Left, f.y.At(0), f.right, f.y.At(0))
	for _, m := range all {
		class, x := "v-"+m.Class, f.x.At(m.At)
		low, high := f.y.At(max(y0, m.Low)), f.y.At(min(y1, m.High))
		f.c.Line("interval "+class, x, low, x, high)
		f.c.end(class, x, low, 0, 1, m.Low < y0, low-high > 6)
		f.c.end(class, x, high, 0, -1, m.High > y1, low-high > 6)
		f.c.Dot("point "+class, x, f.y.At(m.Value), 5, fmt.Sprintf("%s, %s: %s", dayTime(m.At).Format("2006-01-02 15:04"), m.Name, m.Main))
	}
	return f.c.SVG(label)
}
