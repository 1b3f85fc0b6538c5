package report

import (
	"fmt"
	"math"

	"linerate/internal/show"
	"linerate/internal/study"
)

// offeredDelivered draws what was forwarded over what was offered, a point
// for each trial, under the line on which nothing is lost.
func offeredDelivered(r study.Results, part string, width float64) string {
	list := arms(r, part)
	narrow := width < 500
	left, top, bottomGap, right := 58.0, 14.0, 44.0, 16.0
	if !narrow {
		for _, a := range list {
			right = max(right, 34+textWidth(armName(r, a)))
		}
	}
	c := &canvas{w: width, h: 320}
	plotBottom := 320 - bottomGap
	if narrow {
		c.h = plotBottom + 50 + 18*math.Ceil(float64(len(list))/2)
	}
	maxX, maxY := 0.0, 0.0
	for _, a := range list {
		for _, v := range values(r, part, a, study.OfferedRate) {
			maxX = max(maxX, v)
		}
		for _, v := range values(r, part, a, study.OverloadRate) {
			maxY = max(maxY, v)
		}
	}
	if maxX == 0 || maxY == 0 {
		return ""
	}
	x := scale{to: 1.06 * maxX, left: left, span: width - left - right}
	y := scale{to: 1.12 * maxY, left: plotBottom, span: top - plotBottom}
	for _, v := range y.ticks(5) {
		c.line("grid", left, y.at(v), width-right, y.at(v))
		c.text("tick", "end", left-6, y.at(v)+4, show.Tick(v))
	}
	for _, v := range x.ticks(int(x.span / 80)) {
		c.line("grid", x.at(v), plotBottom, x.at(v), plotBottom+4)
		c.tick(x.at(v), plotBottom+17, show.Tick(v))
	}
	end := min(x.to, y.to)
	c.line("lossless", x.at(0), y.at(0), x.at(end), y.at(end))
	c.text("aside", "start", min(x.at(end)+8, width-right-60), y.at(end)+12, "no loss")
	c.text("tick", "middle", (left+width-right)/2, plotBottom+34, "offered, pps")
	c.text("tick", "start", 2, top-2, "forwarded, pps")
	for i, a := range list {
		offered, forwarded := values(r, part, a, study.OfferedRate), values(r, part, a, study.OverloadRate)
		for k := range min(len(offered), len(forwarded)) {
			c.dot(fmt.Sprintf("trial c%d", i%8), x.at(offered[k]), y.at(forwarded[k]), 4.5,
				fmt.Sprintf("%s: %s of %s", armName(r, a), show.Rate(forwarded[k]), show.Rate(offered[k])))
		}
	}
	if narrow {
		legend(c, r, list, 8, plotBottom+58, width)
	} else {
		endLabels(c, r, list, part, x, y, width-right, top+6, plotBottom)
	}
	return c.svg(chartClass(narrow), fmt.Sprintf("forwarded over offered load in part %s", part))
}

// endLabels names the arms at the right edge, moved apart where they would
// collide, each with a thin line to its points.
func endLabels(c *canvas, r study.Results, list []string, part string, x, y scale, edge, top, bottom float64) {
	var at []float64
	var shown []int
	for i, a := range list {
		if forwarded := values(r, part, a, study.OverloadRate); len(forwarded) > 0 {
			at, shown = append(at, y.at(mean(forwarded))), append(shown, i)
		}
	}
	moved := spread(at, 15, top, bottom)
	for k, i := range shown {
		c.line("leader", x.at(mean(values(r, part, list[i], study.OfferedRate)))+6, at[k], edge+8, moved[k])
		c.dot(fmt.Sprintf("trial c%d", i%8), edge+14, moved[k], 4, armName(r, list[i]))
		c.text("name", "start", edge+22, moved[k]+4, armName(r, list[i]))
	}
}

// legend names the arms in two columns.
func legend(c *canvas, r study.Results, list []string, x, y, width float64) {
	for i, a := range list {
		cx := x + float64(i%2)*(width/2)
		cy := y + 18*float64(i/2)
		c.dot(fmt.Sprintf("trial c%d", i%8), cx, cy, 4, armName(r, a))
		c.text("name", "start", cx+9, cy+4, armName(r, a))
	}
}

// latencies draws each arm's median and 99th percentile of one-way delay.
func latencies(r study.Results, part string, width float64) string {
	return ranges(r, part, study.LatencyP50, study.LatencyP99, width, fmt.Sprintf("one-way latency in part %s: median and 99th percentile", part))
}

// ranges draws each arm's median and 99th percentile on a logarithmic axis,
// from the means over its valid trials.
func ranges(r study.Results, part, median, tail string, width float64, label string) string {
	list := arms(r, part)
	narrow := width < 500
	left, right, top, row := 10.0, 10.0, 8.0, 28.0
	if narrow {
		row = 44
	} else {
		for _, a := range list {
			left = max(left, 14+textWidth(armName(r, a)))
		}
		right = 150
	}
	low, high := math.Inf(1), 0.0
	for _, a := range list {
		for _, name := range []string{median, tail} {
			for _, v := range values(r, part, a, name) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if high == 0 {
		return ""
	}
	c := &canvas{w: width, h: top + row*float64(len(list)) + 28}
	bottom := c.h - 24
	s := scale{from: low / 1.3, to: high * 1.3, left: left, span: width - left - right, log: true}
	for _, v := range s.ticks(int(s.span / 70)) {
		c.line("grid", s.at(v), top, s.at(v), bottom)
		c.tick(s.at(v), bottom+16, show.Nanos(v))
	}
	for i, a := range list {
		y := top + row*(float64(i)+0.5)
		p50, p99 := mean(values(r, part, a, median)), mean(values(r, part, a, tail))
		if math.IsNaN(p50) {
			continue
		}
		words := show.Nanos(p50)
		if !math.IsNaN(p99) { // else it is not claimed
			words += " … " + show.Nanos(p99)
		}
		if narrow {
			c.text("name", "start", 2, y-4, armName(r, a))
			c.text("number", "end", width-2, y-4, words)
			y += 10
		} else {
			c.text("name", "end", left-10, y+4, armName(r, a))
			c.text("number", "start", width-right+12, y+4, words)
		}
		class := fmt.Sprintf("c%d", i%8)
		c.dot("trial "+class, s.at(p50), y, 5, armName(r, a)+", median: "+show.Nanos(p50))
		if math.IsNaN(p99) {
			continue
		}
		c.line("range "+class, s.at(p50), y, s.at(p99), y)
		c.dot("hollow "+class, s.at(p99), y, 4.5, armName(r, a)+", 99th percentile: "+show.Nanos(p99))
	}
	return c.svg(chartClass(narrow), label)
}
