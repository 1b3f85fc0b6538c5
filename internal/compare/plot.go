package compare

import (
	"math"
	"slices"
	"strings"

	"linerate/internal/show"
	"linerate/internal/stats"
)

// levels draw how many values fall into a column.
var levels = []rune(" ▁▂▃▄▅▆▇█")

// axis maps values to columns.
type axis struct {
	low, high float64
	columns   int
}

func (a axis) at(v float64) int {
	x := (v - a.low) / (a.high - a.low) * float64(a.columns-1)
	return min(a.columns-1, max(0, int(math.Round(x))))
}

// plots draws every sample over one axis: how often each value occurs, and
// beneath a box from quartile to quartile with the median in it and whiskers
// to the extremes.
func (p *page) plots(arms []stats.Arm, sums []stats.Summary) {
	ax := axis{low: math.Inf(1), high: math.Inf(-1)}
	for _, s := range sums {
		if s.N > 0 {
			ax.low, ax.high = min(ax.low, s.Min), max(ax.high, s.Max)
		}
	}
	label := nameWidth(arms)
	margin := strings.Repeat(" ", label+2)
	ax.columns = max(20, min(100, p.Columns()-label-4))
	if !(ax.high > ax.low) || math.IsInf(ax.high-ax.low, 0) {
		return
	}
	tallest := 1
	counts := make([][]int, len(arms))
	for i, a := range arms {
		counts[i] = count(present(a.Values), ax)
		tallest = max(tallest, slices.Max(counts[i]))
	}
	for i, a := range arms {
		p.Line(show.Pad(nameOf(a), label) + "  " + bars(counts[i], tallest))
		p.Line(margin + p.Dim(box(sums[i], ax)))
	}
	left, right := show.Value(ax.low), show.Value(ax.high)
	p.Line(margin + p.Dim(left+strings.Repeat(" ", max(1, ax.columns-show.Width(left+right)))+right))
	p.Line("")
}

func count(x []float64, ax axis) []int {
	c := make([]int, ax.columns)
	for _, v := range x {
		c[ax.at(v)]++
	}
	return c
}

// bars draws counts as blocks; one value is always visible.
func bars(counts []int, tallest int) string {
	full := len(levels) - 1
	row := make([]rune, len(counts))
	for i, c := range counts {
		level := c // few values: one eighth each
		if tallest > full {
			level = int(math.Ceil(float64(c) / float64(tallest) * float64(full)))
		}
		row[i] = levels[min(full, level)]
	}
	return string(row)
}

func box(s stats.Summary, ax axis) string {
	row := []rune(strings.Repeat(" ", ax.columns))
	if s.N == 0 {
		return string(row)
	}
	fill(row, ax.at(s.Min), ax.at(s.Max), '─')
	fill(row, ax.at(s.Quartile1), ax.at(s.Quartile3), '▬')
	row[ax.at(s.Min)], row[ax.at(s.Max)] = '├', '┤'
	row[ax.at(s.Median)] = '┃'
	return string(row)
}

func fill(row []rune, from, to int, r rune) {
	for i := from; i <= to; i++ {
		row[i] = r
	}
}

// effectPlot draws the interval against zero and the margins.
func (p *page) effectPlot(c stats.Comparison, margin float64) {
	e := c.EffectPercent
	reach := max(math.Abs(e.Low), math.Abs(e.High), 1.2*margin)
	if !e.Known() || reach == 0 || math.IsNaN(reach) || math.IsInf(reach, 0) {
		return
	}
	ax := axis{low: -reach, high: reach, columns: 2*(max(20, min(80, p.Columns()-16))/2) + 1}
	row := []rune(strings.Repeat("·", ax.columns))
	row[ax.at(0)] = '0'
	if margin > 0 {
		row[ax.at(-margin)], row[ax.at(margin)] = '(', ')'
	}
	fill(row, ax.at(e.Low), ax.at(e.High), '━')
	row[ax.at(e.Low)], row[ax.at(e.High)] = '┣', '┫'
	row[ax.at(e.Estimate)] = '●'
	p.Line("              " + string(row))
}
