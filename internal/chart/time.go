package chart

import (
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
