package chart

// Effect is an effect with its interval, a row of a forest plot.
type Effect struct {
	Name, Class      string  // Class is the verdict's: better, worse, equivalent, inconclusive, invalid, stopped; or aa
	Value, Low, High float64 // Low and High equal Value if no interval is known
	Main, Aside      string  // text next to the row
	Known            bool
}

// Forest draws effects with their 95 % intervals and a line at no effect.
// band is the equivalence margin, which is shaded; 0 draws none.
func Forest(rows []Effect, band float64, print func(float64) string, label string) string {
	const rowHeight, top = 34.0, 10.0
	left, right := 10.0, 10.0
	for _, r := range rows {
		left = max(left, 14+TextWidth(r.Name))
		right = max(right, 18+1.1*TextWidth(r.Main), 18+TextWidth(r.Aside)) // Main is bold
	}
	c := New(top + rowHeight*float64(len(rows)) + 30)
	from, to := forestRange(rows, band)
	s := Scale{From: from, To: to, Left: left, Span: Width - left - right}
	bottom := c.H - 26
	if band > 0 {
		c.Rect("band", s.At(max(from, -band)), top, s.At(min(to, band))-s.At(max(from, -band)), bottom-top)
	}
	for _, v := range s.Ticks(int(s.Span / 75)) {
		c.Line("grid", s.At(v), top, s.At(v), bottom)
		c.Tick(s.At(v), bottom+16, print(v))
	}
	c.Line("zero", s.At(0), top-4, s.At(0), bottom+4)
	for i, r := range rows {
		y := top + rowHeight*(float64(i)+0.5)
		c.Text("name", "end", left-10, y+4, r.Name)
		c.Text("number v-"+r.Class, "start", Width-right+12, y-1, r.Main)
		c.Text("aside", "start", Width-right+12, y+13, r.Aside)
		drawEffect(c, s, r, y)
	}
	return c.SVG(label)
}

func drawEffect(c *Canvas, s Scale, r Effect, y float64) {
	if !r.Known {
		c.Text("aside", "start", s.At(0)+8, y+4, "no number")
		return
	}
	class := "v-" + r.Class
	low, hi := s.At(max(s.From, r.Low)), s.At(min(s.To, r.High))
	c.Line("interval "+class, low, y, hi, y)
	c.end(class, low, y, -1, 0, r.Low < s.From, hi-low > 6)
	c.end(class, hi, y, 1, 0, r.High > s.To, hi-low > 6)
	c.Dot("point "+class, s.At(min(s.To, max(s.From, r.Value))), y, 5, r.Name+": "+r.Main)
}

// end draws the end of an interval in the direction (dx, dy): an arrow if the interval
// extends beyond the axis, else a cap if there is room for one.
func (c *Canvas) end(class string, x, y, dx, dy float64, beyond, room bool) {
	switch {
	case beyond:
		c.Line("interval "+class, x-6*dx-5*dy, y-6*dy-5*dx, x, y)
		c.Line("interval "+class, x-6*dx+5*dy, y-6*dy+5*dx, x, y)
	case room:
		c.Line("interval "+class, x-4*dy, y-4*dx, x+4*dy, y+4*dx)
	}
}

// forestRange returns a range that contains the effects, zero, the margin,
// and the intervals unless they are excessively wide.
func forestRange(rows []Effect, band float64) (from, to float64) {
	from, to = -band, band
	for _, r := range rows {
		if r.Known {
			from, to = min(from, r.Value), max(to, r.Value)
		}
	}
	reach := max(to-from, 1) // labels of a shorter axis would all be rounded to zero
	for _, r := range rows {
		if r.Known { // an interval from very few blocks must not compress the rest
			from, to = min(from, max(r.Low, from-reach)), max(to, min(r.High, to+reach))
		}
	}
	pad := 0.04*(to-from) + max(0, 1-(to-from))/2
	return from - pad, to + pad
}
