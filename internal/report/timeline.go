package report

import (
	"fmt"
	"math"

	"linerate/internal/chart"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// timeline draws every trial of a part in the order of time, a strip for each
// arm: how far it lies from its arm's mean, on one scale for all, so that drift
// shows as a slope and noise as width. Invalid trials are hollow.
func timeline(r study.Results, m study.Metric, part string, width float64) string {
	list := r.Arms(part)
	narrow := chart.IsNarrow(width)
	left, right, top, strip := 10.0, 86.0, 22.0, 40.0
	for _, a := range list {
		right = max(right, 12+1.1*chart.TextWidth(meanText(r, m, part, a))) // it is bold
	}
	if narrow {
		strip = 54
	} else {
		for _, a := range list {
			left = max(left, 14+chart.TextWidth(r.ArmName(a)))
		}
	}
	c := chart.New(width, top+strip*float64(len(list))+30)
	span := timeSpan(r, part)
	x := chart.Scale{From: span[0], To: span[1], Left: left + 8, Span: width - left - right - 16}
	bottom := top + strip*float64(len(list))
	blockBands(c, r, part, x, top, bottom)
	reach := deviation(r, m, part)
	for i, arm := range list {
		y := top + strip*float64(i)
		mid := y + strip/2
		if narrow {
			mid += 7
			c.Text("name", "start", left, y+13, r.ArmName(arm))
		} else {
			c.Text("name", "end", left-10, mid+4, r.ArmName(arm))
		}
		c.Line("grid", left, mid, width-right, mid)
		if text := meanText(r, m, part, arm); text != "" {
			c.Text("number", "start", width-right+6, mid+4, text)
		}
		half := strip/2 - 7
		if narrow {
			half = strip/2 - 14
		}
		drawStrip(c, r, m, part, arm, i, x, mid, half, reach)
	}
	c.Text("tick", "start", left, bottom+16, "0:00")
	c.Text("tick", "end", width-right, bottom+16, show.Clock(seconds(span[1])))
	note := fmt.Sprintf("strip height ±%s %s", show.Digits(reach), map[bool]string{true: "points", false: "%"}[m.Share])
	c.Text("tick", "middle", (left+width-right)/2, bottom+16, note)
	return c.SVG(fmt.Sprintf("%s of every trial of part %s in time order, a strip for each variant", m.Label, part))
}

// meanText is an arm's mean with its unit, or "" without a valid trial.
func meanText(r study.Results, m study.Metric, part, arm string) string {
	mu := stats.Mean(r.Values(part, arm, m.Name))
	if math.IsNaN(mu) {
		return ""
	}
	return m.Text(mu)
}

// timeSpan is when a part's first and last trials started, in seconds since
// the first.
func timeSpan(r study.Results, part string) [2]float64 {
	start, end := 0.0, 1.0
	for _, t := range r.Trials {
		if t.Part == part && t.Unavailable == "" {
			end = max(end, sinceFirst(r, part, t)+t.Seconds)
		}
	}
	return [2]float64{start, end}
}

func sinceFirst(r study.Results, part string, t study.Trial) float64 {
	for _, first := range r.Trials {
		if first.Part == part {
			return t.Start.Sub(first.Start).Seconds()
		}
	}
	return 0
}

// blockBands shades every other block.
func blockBands(c *chart.Canvas, r study.Results, part string, x chart.Scale, top, bottom float64) {
	type band struct{ from, to float64 }
	bands := map[int]band{}
	var order []int
	for _, t := range r.Trials {
		if t.Part != part || t.Unavailable != "" {
			continue
		}
		at := sinceFirst(r, part, t)
		b, ok := bands[t.Block]
		if !ok {
			b = band{at, at}
			order = append(order, t.Block)
		}
		bands[t.Block] = band{min(b.from, at), max(b.to, at+t.Seconds)}
	}
	for i, n := range order {
		b := bands[n]
		from, to := x.At(b.from), x.At(b.to)
		if i%2 == 0 {
			c.Rect("block", from, top, to-from, bottom-top)
		}
		if to-from > 16 {
			name := fmt.Sprint(n)
			if to-from > 60 {
				name = "block " + name
			}
			c.Text("tick", "middle", (from+to)/2, top-7, name)
		}
	}
}

// awayFrom is how far a value lies from its arm's mean, in per cent of it, shares
// in percentage points. It is false where there is no such distance.
func awayFrom(m study.Metric, v, mean float64) (float64, bool) {
	if m.Share {
		return 100 * (v - mean), !math.IsNaN(mean)
	}
	return 100 * (v/mean - 1), mean != 0 && !math.IsNaN(mean)
}

// signedDistance writes what awayFrom tells.
func signedDistance(m study.Metric, off float64) string {
	if m.Share {
		return show.SignedPoints(off)
	}
	return show.SignedPercent(off)
}

// deviation is the largest distance of a valid trial from its arm's mean, never
// less than one.
func deviation(r study.Results, m study.Metric, part string) float64 {
	worst := 1.0
	for _, arm := range r.Arms(part) {
		x := r.Values(part, arm, m.Name)
		mu := stats.Mean(x)
		for _, v := range x {
			if off, ok := awayFrom(m, v, mu); ok {
				worst = max(worst, math.Abs(off))
			}
		}
	}
	return worst
}

func drawStrip(c *chart.Canvas, r study.Results, m study.Metric, part, arm string, colour int, x chart.Scale, mid, half, reach float64) {
	mu := stats.Mean(r.Values(part, arm, m.Name))
	class := fmt.Sprintf("c%d", colour%8)
	lastX, lastY, has := 0.0, 0.0, false
	var marks []func()
	for _, t := range r.Trials {
		if t.Part != part || t.Variant != arm || t.Unavailable != "" {
			continue
		}
		at := x.At(sinceFirst(r, part, t) + t.Seconds/2)
		v, ok := t.Metrics[m.Name]
		off, far := awayFrom(m, v, mu)
		if !t.Valid || !ok || !far {
			reason := "invalid"
			if len(t.Reasons) > 0 {
				reason = t.Reasons[0].String()
			}
			y := mid // where it has no value
			if ok && far {
				y -= max(-half, min(half, off*half/reach))
			}
			marks = append(marks, func() {
				c.Dot("hollow "+class, at, y, 4, fmt.Sprintf("%s, block %d: %s", r.ArmName(arm), t.Block, reason))
			})
			continue
		}
		y := mid - off*half/reach
		if has {
			c.Line("thread "+class, lastX, lastY, at, y)
		}
		lastX, lastY, has = at, y, true
		title := fmt.Sprintf("%s, block %d: %s (%s of its mean)", r.ArmName(arm), t.Block, m.Text(v), signedDistance(m, off))
		marks = append(marks, func() { c.Dot("trial "+class, at, y, 4, title) })
	}
	for _, draw := range marks {
		draw()
	}
}
