package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"linerate/internal/show"
)

// canvas collects the shapes of one chart. Looks are classes: the page's
// style sheet knows light, dark and paper.
type canvas struct {
	b    strings.Builder
	w, h float64
}

func (c *canvas) shape(format string, args ...any) { fmt.Fprintf(&c.b, format+"\n", args...) }

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.shape(`<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (c *canvas) rect(class string, x, y, w, h float64) {
	c.shape(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x, y, max(0, w), max(0, h))
}

// dot draws a point with a text that appears when it is pointed at.
func (c *canvas) dot(class string, x, y, r float64, title string) {
	c.shape(`<circle class="%s" cx="%.1f" cy="%.1f" r="%.1f"><title>%s</title></circle>`, class, x, y, r, html.EscapeString(title))
}

// cross marks what is not valid.
func (c *canvas) cross(class string, x, y, r float64, title string) {
	c.shape(`<path class="%s" d="M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f"><title>%s</title></path>`,
		class, x-r, y-r, 2*r, 2*r, -2*r, -2*r, 2*r, html.EscapeString(title))
}

// text puts a label; anchor is start, middle or end.
func (c *canvas) text(class, anchor string, x, y float64, s string) {
	c.shape(`<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, class, anchor, x, y, html.EscapeString(s))
}

// tick labels an axis, kept within the chart.
func (c *canvas) tick(x, y float64, s string) {
	half := textWidth(s)/2 + 1
	c.text("tick", "middle", max(half, min(c.w-half, x)), y, s)
}

// svg closes the chart. label is what a reader who cannot see it is told.
func (c *canvas) svg(class, label string) string {
	return fmt.Sprintf(`<svg class="%s" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s" xmlns="http://www.w3.org/2000/svg">`+"\n%s</svg>",
		class, c.w, c.h, html.EscapeString(label), c.b.String())
}

// textWidth estimates how wide a label is at the page's 12-pixel type.
func textWidth(s string) float64 { return 7 * float64(show.Width(s)) }

// scale maps values to pixels, linearly or by their logarithms.
type scale struct {
	from, to   float64 // values
	left, span float64 // pixels
	log        bool
}

func (s scale) at(v float64) float64 {
	a, b := s.from, s.to
	if s.log {
		a, b, v = math.Log(a), math.Log(b), math.Log(v)
	}
	if a == b {
		return s.left
	}
	return s.left + (v-a)/(b-a)*s.span
}

// ticks are round values within the scale, about n of them; equal steps also
// where a logarithmic scale spans too little for powers.
func (s scale) ticks(n int) []float64 {
	if s.log && s.to > 2*s.from {
		return logTicks(s.from, s.to, n)
	}
	step := niceStep((s.to - s.from) / float64(max(1, n)))
	var out []float64
	for v := math.Ceil(s.from/step-1e-9) * step; v <= s.to+step*1e-9; v += step {
		if math.Abs(v) < step*1e-9 {
			v = 0
		}
		out = append(out, v)
	}
	return out
}

// niceStep is the nearest of 1, 2, 5 times a power of ten, from above.
func niceStep(raw float64) float64 {
	if raw <= 0 || math.IsInf(raw, 0) || math.IsNaN(raw) {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*base*(1+1e-9) {
			return m * base
		}
	}
	return 10 * base
}

// logTicks are powers of ten, with as many between as there is room for.
func logTicks(from, to float64, n int) []float64 {
	for _, steps := range [][]float64{{1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 8}, {1, 1.5, 2, 3, 5, 7}, {1, 2, 5}, {1}} {
		var out []float64
		for e := math.Floor(math.Log10(from)); e <= math.Ceil(math.Log10(to)); e++ {
			for _, m := range steps {
				if v := m * math.Pow(10, e); v >= from*(1-1e-9) && v <= to*(1+1e-9) {
					out = append(out, v)
				}
			}
		}
		if len(out) <= n || len(steps) == 1 {
			return out
		}
	}
	return nil
}

// spread moves label positions apart until neighbours are gap apart, keeping
// their order and staying within low and high where there is room.
func spread(at []float64, gap, low, high float64) []float64 {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case at[a] < at[b]:
			return -1
		case at[a] > at[b]:
			return 1
		}
		return 0
	})
	out := slices.Clone(at)
	for k, i := range order {
		least := low
		if k > 0 {
			least = out[order[k-1]] + gap
		}
		out[i] = max(out[i], least)
	}
	most := high
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		out[i] = min(out[i], most)
		most = out[i] - gap
	}
	return out
}
