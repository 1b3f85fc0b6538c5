package report

import (
	"fmt"
	"math"
	"strings"

	"linerate/internal/chart"
	"linerate/internal/show"
	"linerate/internal/study"
)

// plotRows is the height of a curve in a terminal.
const plotRows = 14

// curvePlots draws the curves with letters on logarithmic axes, and says what
// their fits and knees are.
func (p *page) curvePlots(r study.Results) {
	for _, g := range curveGroups(r) {
		p.Caption(g.title() + ", logarithmic axes")
		p.Line("")
		for _, line := range plotLines(g, p.Columns()-4) {
			p.Line("  " + line)
		}
		p.Line("")
		for _, w := range g.words() {
			p.Paragraph("  ", "    ", w)
		}
		p.Line("")
	}
}

// plotLines are a group's picture of so many columns.
func plotLines(g curveGroup, columns int) []string {
	x0, x1, y0, y1 := g.span()
	if x1 == 0 || x0 == x1 || y0 == y1 {
		return nil
	}
	ticks := map[int]string{0: g.axis(y1), plotRows / 2: g.axis(y0 * math.Pow(y1/y0, (plotRows-1-plotRows/2.0)/(plotRows-1))), plotRows - 1: g.axis(y0)}
	label := 0
	for _, tick := range ticks {
		label = max(label, show.Width(tick))
	}
	width := max(20, columns-label-2)
	grid := make([][]rune, plotRows)
	for i := range grid {
		grid[i] = []rune(strings.Repeat(" ", width))
	}
	x := chart.Scale{From: x0, To: x1, Span: float64(width - 1), Log: true}
	y := chart.Scale{From: y0, To: y1, Left: plotRows - 1, Span: -(plotRows - 1), Log: true}
	put := func(vx, vy float64, mark rune) {
		column, row := int(math.Round(x.At(vx))), int(math.Round(y.At(vy)))
		if column >= 0 && column < width && row >= 0 && row < plotRows && (grid[row][column] == ' ' || mark != '·') {
			grid[row][column] = mark
		}
	}
	g.marks(put, width, x)
	var out []string
	for i, row := range grid {
		out = append(out, strings.Repeat(" ", label-show.Width(ticks[i]))+ticks[i]+" │"+strings.TrimRight(string(row), " "))
	}
	out = append(out, strings.Repeat(" ", label+1)+"└"+strings.Repeat("─", width))
	left, middle, right := g.place(x0), g.Label, g.place(x1)
	gap := max(2, width-show.Width(left)-show.Width(middle)-show.Width(right))
	out = append(out, strings.Repeat(" ", label+2)+left+strings.Repeat(" ", gap/2)+middle+strings.Repeat(" ", gap-gap/2)+right)
	for _, l := range g.key(columns - label - 2) {
		out = append(out, strings.Repeat(" ", label+2)+l)
	}
	return out
}

// place prints a value of the horizontal axis.
func (g curveGroup) place(v float64) string {
	if g.Offered {
		return show.Rate(v)
	}
	return placeTick(v)
}

// marks puts the control's level, the laws and the points.
func (g curveGroup) marks(put func(x, y float64, mark rune), width int, x chart.Scale) {
	across := func(law func(float64) float64) {
		for i := range width {
			at := x.From * math.Pow(x.To/x.From, float64(i)/float64(width-1))
			if v := law(at); v > 0 {
				put(at, v, '·')
			}
		}
	}
	if g.base > 0 {
		across(func(float64) float64 { return g.base })
	}
	for _, c := range g.curves {
		switch {
		case c.Fit != nil:
			across(c.Fit.At)
		case c.USL != nil:
			across(c.USL.At)
		}
	}
	for i := len(g.curves) - 1; i >= 0; i-- {
		for _, p := range drawn(g.curves[i]) {
			put(p.X, p.Value, letter(i))
		}
	}
}

func letter(i int) rune { return rune('a' + i%26) }

// key names the letters, in lines of a width.
func (g curveGroup) key(width int) (lines []string) {
	put := func(word string) {
		if n := len(lines) - 1; n >= 0 && show.Width(lines[n])+3+show.Width(word) <= width {
			lines[n] += "   " + word
			return
		}
		lines = append(lines, word)
	}
	for i, c := range g.curves {
		put(fmt.Sprintf("%c %s", letter(i), c.Name))
	}
	if g.base > 0 {
		put("· " + g.baseName)
	}
	return lines
}
