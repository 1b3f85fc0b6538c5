package study

import (
	"fmt"
	"math"

	"linerate/internal/chart"
	"linerate/internal/show"
	"linerate/internal/stats"
)

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
