package show

import (
	"math"
	"strconv"
	"strings"
)

// Strip is a sample to draw.
type Strip struct {
	Name   string
	Values []float64
}

// Strips draws every value of samples as a dot on a common axis, one sample per row, with a bar
// |__A__| below for one standard deviation on each side of its mean, like ministat(1); text formats
// the axis labels.
func (p *Page) Strips(all []Strip, text func(float64) string) {
	low, high, label := math.Inf(1), math.Inf(-1), 0
	for _, s := range all {
		for _, v := range s.Values {
			low, high = min(low, v), max(high, v)
		}
		label = max(label, Width(s.Name))
	}
	if math.IsInf(low, 0) || math.IsInf(high-low, 0) {
		return
	}
	if low == high {
		low, high = low*0.99-1e-9, high*1.01+1e-9
	}
	columns := max(20, p.Columns()-label-6)
	at := func(v float64) int {
		return min(columns-1, max(0, int(math.Round((v-low)/(high-low)*float64(columns-1)))))
	}
	margin := "  " + strings.Repeat(" ", label)
	p.Line(margin + " +" + strings.Repeat("-", columns) + "+")
	for _, s := range all {
		p.Line("  " + Pad(s.Name, label) + " |" + dots(s.Values, columns, at) + "|")
		if len(s.Values) > 0 {
			p.Line(margin + " |" + p.Dim(deviation(s.Values, columns, at)) + "|")
		}
	}
	p.Line(margin + " +" + strings.Repeat("-", columns) + "+")
	left, right := text(low), text(high)
	p.Line(margin + " " + p.Dim(left+strings.Repeat(" ", max(1, columns+2-Width(left)-Width(right)))+right))
	p.Line("")
}

// dots marks values: x for one, a digit for several in one column.
func dots(values []float64, columns int, at func(float64) int) string {
	counts := make([]int, columns)
	for _, v := range values {
		counts[at(v)]++
	}
	row := make([]byte, columns)
	for i, n := range counts {
		switch {
		case n == 0:
			row[i] = ' '
		case n == 1:
			row[i] = 'x'
		case n < 10:
			row[i] = strconv.Itoa(n)[0]
		default:
			row[i] = '#'
		}
	}
	return string(row)
}

// deviation returns the bar of a sample.
func deviation(values []float64, columns int, at func(float64) int) string {
	mean, ss, n := 0.0, 0.0, float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		ss += (v - mean) * (v - mean)
	}
	sd := math.Sqrt(ss / max(1, n-1))
	row := []byte(strings.Repeat(" ", columns))
	from, to := at(mean-sd), at(mean+sd)
	for i := from; i <= to; i++ {
		row[i] = '_'
	}
	row[from], row[to] = '|', '|'
	row[at(mean)] = 'A'
	return string(row)
}
