package report

import (
	"fmt"
	"math"
	"strings"

	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// dotPlots draws every valid trial of the primary metric as a dot over one
// common axis, an arm at a time, with a bar |__A__| of one standard deviation
// to each side of its mean beneath, as ministat(1) does.
func dotPlots(p *show.Page, r study.Results, m study.Metric, part string) {
	list := r.Arms(part)
	low, high, label := math.Inf(1), math.Inf(-1), 0
	for _, arm := range list {
		for _, v := range r.Values(part, arm, m.Name) {
			low, high = min(low, v), max(high, v)
		}
		label = max(label, show.Width(r.ArmName(arm)))
	}
	if math.IsInf(low, 0) {
		return
	}
	if low == high {
		low, high = low*0.99-1e-9, high*1.01+1e-9
	}
	columns := max(20, p.Columns()-label-6)
	at := func(v float64) int {
		return min(columns-1, max(0, int(math.Round((v-low)/(high-low)*float64(columns-1)))))
	}
	p.Line("  " + strings.Repeat(" ", label) + " +" + strings.Repeat("-", columns) + "+")
	for _, arm := range list {
		x := r.Values(part, arm, m.Name)
		name := r.ArmName(arm)
		p.Line("  " + name + strings.Repeat(" ", label-show.Width(name)) + " |" + dots(x, columns, at) + "|")
		if len(x) > 0 {
			p.Line("  " + strings.Repeat(" ", label) + " |" + p.Dim(bar(x, columns, at)) + "|")
		}
	}
	p.Line("  " + strings.Repeat(" ", label) + " +" + strings.Repeat("-", columns) + "+")
	left, right := m.Text(low), m.Text(high)
	gap := max(1, columns+2-show.Width(left)-show.Width(right))
	p.Line("  " + strings.Repeat(" ", label+1) + p.Dim(left+strings.Repeat(" ", gap)+right))
	p.Line("")
}

// dots marks values: x for one, a digit for more in one column.
func dots(x []float64, columns int, at func(float64) int) string {
	counts := make([]int, columns)
	for _, v := range x {
		counts[at(v)]++
	}
	var b strings.Builder
	for _, c := range counts {
		switch {
		case c == 0:
			b.WriteByte(' ')
		case c == 1:
			b.WriteByte('x')
		case c < 10:
			fmt.Fprint(&b, c)
		default:
			b.WriteByte('#')
		}
	}
	return b.String()
}

func bar(x []float64, columns int, at func(float64) int) string {
	row := []byte(strings.Repeat(" ", columns))
	centre := stats.Mean(x)
	ss := 0.0
	for _, v := range x {
		ss += (v - centre) * (v - centre)
	}
	sd := 0.0
	if len(x) > 1 {
		sd = math.Sqrt(ss / float64(len(x)-1))
	}
	from, to := at(centre-sd), at(centre+sd)
	for i := from; i <= to; i++ {
		row[i] = '_'
	}
	row[from], row[to] = '|', '|'
	row[at(centre)] = 'A'
	return string(row)
}
