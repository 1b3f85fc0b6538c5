package study

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/chart"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// offeredDelivered draws what was forwarded over what was offered, a point
// for each trial, under the line on which nothing is lost.
func offeredDelivered(r Results, part string, width float64) string {
	list := r.Arms(part)
	narrow := chart.IsNarrow(width)
	left, top, bottomGap, right := 58.0, 14.0, 44.0, 16.0
	if !narrow {
		for _, a := range list {
			right = max(right, 34+chart.TextWidth(r.ArmName(a)))
		}
	}
	c := chart.New(width, 320)
	plotBottom := 320 - bottomGap
	if narrow {
		c.H = plotBottom + 50 + 18*math.Ceil(float64(len(list))/2)
	}
	maxX, maxY := 0.0, 0.0
	for _, a := range list {
		for _, v := range r.Values(part, a, OfferedRate) {
			maxX = max(maxX, v)
		}
		for _, v := range r.Values(part, a, OverloadRate) {
			maxY = max(maxY, v)
		}
	}
	if maxX == 0 || maxY == 0 {
		return ""
	}
	x := chart.Scale{To: 1.06 * maxX, Left: left, Span: width - left - right}
	y := chart.Scale{To: 1.12 * maxY, Left: plotBottom, Span: top - plotBottom}
	for _, v := range y.Ticks(5) {
		c.Line("grid", left, y.At(v), width-right, y.At(v))
		c.Text("tick", "end", left-6, y.At(v)+4, show.Tick(v))
	}
	for _, v := range x.Ticks(int(x.Span / 80)) {
		c.Line("grid", x.At(v), plotBottom, x.At(v), plotBottom+4)
		c.Tick(x.At(v), plotBottom+17, show.Tick(v))
	}
	end := min(x.To, y.To)
	c.Line("lossless", x.At(0), y.At(0), x.At(end), y.At(end))
	c.Text("aside", "start", min(x.At(end)+8, width-right-60), y.At(end)+12, "no loss")
	c.Text("tick", "middle", (left+width-right)/2, plotBottom+34, "offered, pps")
	c.Text("tick", "start", 2, top-2, "forwarded, pps")
	for i, a := range list {
		offered, forwarded := r.Values(part, a, OfferedRate), r.Values(part, a, OverloadRate)
		for k := range min(len(offered), len(forwarded)) {
			c.Dot(fmt.Sprintf("trial c%d", i%8), x.At(offered[k]), y.At(forwarded[k]), 4.5,
				fmt.Sprintf("%s: %s of %s", r.ArmName(a), show.Rate(forwarded[k]), show.Rate(offered[k])))
		}
	}
	if narrow {
		legend(c, r, list, 8, plotBottom+58, width)
	} else {
		endLabels(c, r, list, part, x, y, width-right, top+6, plotBottom)
	}
	return c.SVG(fmt.Sprintf("forwarded over offered load in part %s", part))
}

// endLabels names the arms at the right edge, moved apart where they would
// collide, each with a thin line to its rightmost point.
func endLabels(c *chart.Canvas, r Results, list []string, part string, x, y chart.Scale, edge, top, bottom float64) {
	var at, from []float64
	var shown []int
	for i, a := range list {
		offered, forwarded := r.Values(part, a, OfferedRate), r.Values(part, a, OverloadRate)
		if n := min(len(offered), len(forwarded)); n > 0 {
			k := slices.Index(offered[:n], slices.Max(offered[:n]))
			at, from, shown = append(at, y.At(forwarded[k])), append(from, x.At(offered[k])), append(shown, i)
		}
	}
	moved := chart.Spread(at, 15, top, bottom)
	for k, i := range shown {
		c.Line("leader", from[k]+6, at[k], edge+8, moved[k])
		c.Dot(fmt.Sprintf("trial c%d", i%8), edge+14, moved[k], 4, r.ArmName(list[i]))
		c.Text("name", "start", edge+22, moved[k]+4, r.ArmName(list[i]))
	}
}

// legend names the arms in two columns.
func legend(c *chart.Canvas, r Results, list []string, x, y, width float64) {
	for i, a := range list {
		cx := x + float64(i%2)*(width/2)
		cy := y + 18*float64(i/2)
		c.Dot(fmt.Sprintf("trial c%d", i%8), cx, cy, 4, r.ArmName(a))
		c.Text("name", "start", cx+9, cy+4, r.ArmName(a))
	}
}

// latencies draws each arm's median and 99th percentile of one-way delay.
func latencies(r Results, part string, width float64) string {
	return LatencyRanges(r, part, LatencyP50, LatencyP99, width, fmt.Sprintf("one-way latency in part %s: median and 99th percentile", part))
}

// LatencyRanges draws each arm's median and 99th percentile on a logarithmic axis,
// from the means over its valid trials.
func LatencyRanges(r Results, part, median, tail string, width float64, label string) string {
	list := r.Arms(part)
	narrow := chart.IsNarrow(width)
	left, right, top, row := 10.0, 10.0, 8.0, 28.0
	if narrow {
		row = 44
	} else {
		for _, a := range list {
			left = max(left, 14+chart.TextWidth(r.ArmName(a)))
		}
		right = 150
	}
	low, high := math.Inf(1), 0.0
	for _, a := range list {
		for _, name := range []string{median, tail} {
			for _, v := range r.Values(part, a, name) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if high == 0 {
		return ""
	}
	c := chart.New(width, top+row*float64(len(list))+28)
	bottom := c.H - 24
	s := chart.Scale{From: low / 1.3, To: high * 1.3, Left: left, Span: width - left - right, Log: true}
	for _, v := range s.Ticks(int(s.Span / 70)) {
		c.Line("grid", s.At(v), top, s.At(v), bottom)
		c.Tick(s.At(v), bottom+16, show.Nanos(v))
	}
	for i, a := range list {
		y := top + row*(float64(i)+0.5)
		p50, p99 := stats.Mean(r.Values(part, a, median)), stats.Mean(r.Values(part, a, tail))
		if math.IsNaN(p50) {
			continue
		}
		words := show.Nanos(p50)
		if !math.IsNaN(p99) { // else it is not claimed
			words += " … " + show.Nanos(p99)
		}
		if narrow {
			c.Text("name", "start", 2, y-4, r.ArmName(a))
			c.Text("number", "end", width-2, y-4, words)
			y += 10
		} else {
			c.Text("name", "end", left-10, y+4, r.ArmName(a))
			c.Text("number", "start", width-right+12, y+4, words)
		}
		class := fmt.Sprintf("c%d", i%8)
		c.Dot("trial "+class, s.At(p50), y, 5, r.ArmName(a)+", median: "+show.Nanos(p50))
		if math.IsNaN(p99) {
			continue
		}
		c.Line("range "+class, s.At(p50), y, s.At(p99), y)
		c.Dot("hollow "+class, s.At(p99), y, 4.5, r.ArmName(a)+", 99th percentile: "+show.Nanos(p99))
	}
	return c.SVG(label)
}
