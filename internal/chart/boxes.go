package chart

import (
	"fmt"
	"math"
)

// Box is one distribution, a row of box plots.
type Box struct {
	Name, Title string     // Title appears when its median is pointed at
	Quantiles   [5]float64 // 5, 25, 50, 75 and 95 %, or what their plot says
	Points      []float64  // drawn beneath where there are any
	Colour      int
}

// Boxes draws distributions beneath each other on one scale: whiskers, a box, a dot
// at the median, which is printed beside it.
func Boxes(all []Box, log bool, print func(float64) string, width float64, label string) string {
	if len(all) == 0 {
		return ""
	}
	left, right, top, strip := 10.0, 64.0, 8.0, 26.0
	if IsNarrow(width) {
		strip = 42
	}
	x := Scale{From: math.Inf(1), To: math.Inf(-1), Log: log}
	points := 0.0
	for _, b := range all {
		x.From, x.To = min(x.From, b.Quantiles[0]), max(x.To, b.Quantiles[4])
		for _, v := range b.Points {
			x.From, x.To, points = min(x.From, v), max(x.To, v), 14
		}
		right = max(right, 12+1.1*TextWidth(print(b.Quantiles[2]))) // it is bold
		if !IsNarrow(width) {
			left = max(left, 14+TextWidth(b.Name))
		}
	}
	strip += points
	x.Left, x.Span = left+8, width-left-right-16
	bottom := top + strip*float64(len(all))
	c := New(width, bottom+26)
	for _, v := range x.Ticks(5) {
		c.Line("grid", x.At(v), top, x.At(v), bottom)
		c.Tick(x.At(v), bottom+16, print(v))
	}
	for i, b := range all {
		mid := top + strip*(float64(i)+0.5) - points/2
		if c.Narrow() {
			c.Text("name", "start", left, mid-6, b.Name)
			mid += 9
		} else {
			c.Text("name", "end", left-10, mid+4, b.Name)
		}
		b.draw(c, x, mid)
		c.Text("number", "start", width-right+6, mid+4, print(b.Quantiles[2]))
	}
	return c.SVG(label)
}

func (b Box) draw(c *Canvas, x Scale, mid float64) {
	class := fmt.Sprintf("c%d", b.Colour%8)
	for _, v := range b.Points {
		c.Line("tickmark "+class, x.At(v), mid+10, x.At(v), mid+18)
	}
	c.Line("thread "+class, x.At(b.Quantiles[0]), mid, x.At(b.Quantiles[4]), mid)
	c.Rect("box "+class, x.At(b.Quantiles[1]), mid-6, max(1, x.At(b.Quantiles[3])-x.At(b.Quantiles[1])), 12)
	c.Dot("trial "+class, x.At(b.Quantiles[2]), mid, 4, b.Title)
}
