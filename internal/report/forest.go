package report

import (
	"math"

	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// forestRow is one effect with its interval.
type forestRow struct {
	name, verdict   string
	effect, low, hi float64
	main, aside     string // what is printed beside it
	hasEffect       bool
}

// forest draws effects with 95 % intervals against a line of no effect. band
// is the equivalence margin, shaded; 0 draws none. Wide charts put words
// beside the plot, narrow ones above each row.
func forest(rows []forestRow, band float64, print func(float64) string, width float64, label string) string {
	narrow := width < 500
	rowHeight, top := 34.0, 10.0
	left, right := 10.0, 10.0
	if narrow {
		rowHeight = 50
	} else {
		for _, r := range rows {
			left = max(left, 14+textWidth(r.name))
			right = max(right, 18+1.1*textWidth(r.main), 18+textWidth(r.aside)) // it is bold
		}
	}
	c := &canvas{w: width, h: top + rowHeight*float64(len(rows)) + 30}
	from, to := forestRange(rows, band)
	s := scale{from: from, to: to, left: left, span: width - left - right}
	bottom := c.h - 26
	if band > 0 {
		c.rect("band", s.at(max(from, -band)), top, s.at(min(to, band))-s.at(max(from, -band)), bottom-top)
	}
	for _, v := range s.ticks(int(s.span / 75)) {
		c.line("grid", s.at(v), top, s.at(v), bottom)
		c.tick(s.at(v), bottom+16, print(v))
	}
	if !narrow {
		c.line("zero", s.at(0), top-4, s.at(0), bottom+4)
	}
	for i, r := range rows {
		y := top + rowHeight*(float64(i)+0.5)
		if narrow { // words stand above each row: the line spares them
			c.line("zero", s.at(0), y-1, s.at(0), y+21)
			c.text("name", "start", 2, y-8, r.name)
			c.text("number v-"+r.verdict, "end", width-2, y-8, r.main)
			y += 10
		} else {
			c.text("name", "end", left-10, y+4, r.name)
			c.text("number v-"+r.verdict, "start", width-right+12, y-1, r.main)
			c.text("aside", "start", width-right+12, y+13, r.aside)
		}
		drawEffect(c, s, r, y)
	}
	return c.svg(chartClass(narrow), label)
}

func drawEffect(c *canvas, s scale, r forestRow, y float64) {
	if !r.hasEffect {
		c.text("aside", "start", s.at(0)+8, y+4, "no number")
		return
	}
	class := "v-" + r.verdict
	low, hi := s.at(max(s.from, r.low)), s.at(min(s.to, r.hi))
	c.line("interval "+class, low, y, hi, y)
	if hi-low > 6 {
		c.line("interval "+class, low, y-4, low, y+4)
		c.line("interval "+class, hi, y-4, hi, y+4)
	}
	c.dot("point "+class, s.at(min(s.to, max(s.from, r.effect))), y, 5, r.name+": "+r.main)
}

// forestRange spans the effects, their intervals as far as they are sensible,
// zero and the margin.
func forestRange(rows []forestRow, band float64) (from, to float64) {
	from, to = -band, band
	for _, r := range rows {
		if r.hasEffect {
			from, to = min(from, r.effect), max(to, r.effect)
		}
	}
	reach := max(to-from, 1) // a shorter axis would be labelled with zeros
	for _, r := range rows {
		if r.hasEffect { // an interval of very few blocks must not squeeze the rest
			from, to = min(from, max(r.low, from-reach)), max(to, min(r.hi, to+reach))
		}
	}
	pad := 0.04*(to-from) + max(0, 1-(to-from))/2
	return from - pad, to + pad
}

// forestOf are the rows of one metric in one part; the A/A arm leads where it
// is the primary metric's.
func forestOf(r study.Results, metric, part string, inNS bool) []forestRow {
	var rows []forestRow
	if _, p := primary(r); p == part && metric == r.AA.Metric && !inNS && known(r.AA.Effect) {
		rows = append(rows, percentRow(armName(r, study.AA), "aa", r.AA.Effect, r.AA.Verdict))
	}
	for _, v := range r.Verdicts {
		if v.Metric != metric || v.Part != part {
			continue
		}
		if inNS {
			rows = append(rows, nsRow(v))
		} else {
			rows = append(rows, percentRow(v.Variant, string(v.Verdict), v.Effect, v.Verdict))
		}
	}
	return rows
}

func percentRow(name, class string, e stats.Effect, verdict stats.Verdict) forestRow {
	row := forestRow{name: name, verdict: class, main: string(verdict)}
	if !row.effectOf(e.Size()) {
		return row
	}
	row.main = e.Text() + "  " + string(verdict)
	if _, low, high := e.Size(); low.Known() && high.Known() {
		row.aside = e.Bounds()
	}
	return row
}

func known(e stats.Effect) bool {
	size, _, _ := e.Size()
	return size.Known()
}

// effectOf takes an effect and its interval, where they are known.
func (row *forestRow) effectOf(effect, low, high stats.Number) bool {
	row.effect, row.hasEffect = effect.Get()
	row.low, row.hi = row.effect, row.effect
	if low.Known() && high.Known() {
		row.low, row.hi = low.Float(), high.Float()
	}
	return row.hasEffect
}

func nsRow(v study.Verdict) forestRow {
	row := forestRow{name: v.Variant, verdict: string(v.Verdict), main: string(v.Verdict)}
	if !row.effectOf(v.EffectNS, v.NSLow, v.NSHigh) {
		return row
	}
	row.main = signedNS(row.effect)
	if v.NSLow.Known() && v.NSHigh.Known() {
		row.aside = "[" + show.Signed(row.low, nsDecimals(row.low)) + ", " + show.Signed(row.hi, nsDecimals(row.hi)) + "]"
	}
	return row
}

func signedNS(v float64) string { return show.Signed(v, nsDecimals(v)) + " ns" }

func nsDecimals(v float64) int {
	if math.Abs(v) < 10 {
		return 1
	}
	return 0
}

func chartClass(narrow bool) string {
	if narrow {
		return "chart narrow"
	}
	return "chart wide"
}
