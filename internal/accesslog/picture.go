package accesslog

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"linerate/internal/show"
)

// The picture's size: 65 columns of one bin each where there is room, as the web
// server distribution pictures that made the rounds had.
const (
	pictureColumns = 65
	pictureRows    = 20
)

// column is one column of a picture.
type column struct {
	from, to int64 // µs
	count    int64
}

// pictureBin is the width of a linear column, in µs: the one that was asked for,
// or of 1, 2 and 5 times a power of ten the least by which 99 of 100 requests
// fit into n columns.
func (t *Tally) pictureBin(n int) int64 {
	if t.opts.Bin > 0 {
		return t.opts.binWidth()
	}
	least := max(t.resolution(), (t.Quantile(.99)+int64(n))/int64(n))
	for w := int64(1); ; w *= 10 {
		for _, m := range []int64{1, 2, 5} {
			if m*w >= least {
				return m * w
			}
		}
	}
}

// linearColumns are n columns or as many as hold requests, in fives; beyond is
// what lies behind them.
func (t *Tally) linearColumns(n int) (cols []column, beyond int64) {
	w := t.pictureBin(n)
	counts := t.Bins
	if w != t.opts.binWidth() {
		counts = t.rebinned(w, n)
	}
	used := 0
	for i := range n {
		c := column{int64(i) * w, int64(i+1) * w, 0}
		if i < len(counts) {
			c.count = counts[i]
		}
		if c.count > 0 {
			used = i + 1
		}
		cols = append(cols, c)
	}
	for i := n; i < len(counts); i++ {
		beyond += counts[i]
	}
	return cols[:min(n, max(10, (used+4)/5*5))], beyond
}

// rebinned counts the histogram in bins of another width; the last of n+1 has
// all that is beyond.
func (t *Tally) rebinned(width int64, n int) []int64 {
	out := make([]int64, n+1)
	r := t.resolution()
	for _, bar := range t.Hist.Distribution() {
		us := ((bar.From+bar.To)/2 + r/2) / r * r
		out[min(us/width, int64(n))] += bar.Count
	}
	return out
}

// logColumns spread the histogram over columns of equal ratio, from low to
// high µs; what lies outside joins the first and last column.
func (t *Tally) logColumns(n int, low, high float64) []column {
	cols := make([]column, n)
	step := math.Log(high/low) / float64(n)
	for i := range cols {
		cols[i].from = int64(math.Round(low * math.Exp(step*float64(i))))
		cols[i].to = int64(math.Round(low * math.Exp(step*float64(i+1))))
	}
	for _, bar := range t.Hist.Distribution() {
		if bar.Count == 0 {
			continue
		}
		mid := math.Max(1, float64(bar.From+bar.To)/2)
		i := int(math.Floor(math.Log(mid/low) / step))
		cols[min(max(i, 0), n-1)].count += bar.Count
	}
	return cols
}

// span is what a logarithmic axis reaches over, in µs: the data, out to 1, 2 or 5
// times a power of ten, a decade at least.
func (t *Tally) span() (low, high float64) {
	least, most := float64(max(t.Min, 1)), float64(max(t.Max, 2))
	if !t.fine {
		least, most = max(least, 1000), max(most, 10_000)
	}
	for e := 1.0; high == 0; e *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if e*m <= least {
				low = e * m
			}
			if high == 0 && e*m >= most {
				high = e * m
			}
		}
	}
	return min(low, high/10), high
}

// columns are a picture's, with what lies beyond the last and the highest count.
func (t *Tally) columns(n int, logBins bool) (cols []column, beyond, peak int64) {
	if logBins {
		low, high := t.span()
		cols = t.logColumns(n, low, high)
	} else {
		cols, beyond = t.linearColumns(n)
	}
	peak = 1
	for _, c := range cols {
		peak = max(peak, c.count)
	}
	return cols, beyond, peak
}

// WritePicture draws the distribution in characters, as wide as the style.
func (t *Tally) WritePicture(w io.Writer, s show.Style, logBins bool) error {
	n := min(pictureColumns, max(20, (s.Columns()-12)/5*5))
	cols, beyond, peak := t.columns(n, logBins)
	var b strings.Builder
	fmt.Fprintf(&b, "   .:.  Web server distribution of request times\n\n")
	fmt.Fprintf(&b, "         Log lines: %d, requests: %d (%s)\n", t.Lines, t.Selected, t.Filter())
	margin := max(5, len(fmt.Sprint(peak)))
	fmt.Fprintf(&b, "%*s  %s\n", margin, "", strings.Repeat("_", len(cols)+1))
	for row := pictureRows; row >= 1; row-- {
		b.WriteString(pictureRow(cols, peak, row, margin))
	}
	b.WriteString(pictureAxis(cols, logBins, margin))
	if beyond > 0 {
		fmt.Fprintf(&b, "%*s  %s\n", margin, "", longer(beyond, cols))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// pictureRow is one row; every fourth is a line, every second has its count.
// A column that holds anything shows at least in the lowest row.
func pictureRow(cols []column, peak int64, row, margin int) string {
	var b strings.Builder
	empty := byte('.')
	if (pictureRows-row)%4 == 2 || row == 1 {
		empty = '_'
	}
	label := ""
	if (pictureRows-row)%2 == 0 {
		label = fmt.Sprint(peak * int64(row) / pictureRows)
	}
	fmt.Fprintf(&b, "%*s |", margin, label)
	for _, c := range cols {
		height := int(math.Round(float64(c.count) / float64(peak) * pictureRows))
		if c.count > 0 && height < 1 {
			height = 1
		}
		if height >= row {
			b.WriteByte('|')
		} else {
			b.WriteByte(empty)
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// pictureAxis is the time axis: a tick every five columns, all in one unit.
func pictureAxis(cols []column, logBins bool, margin int) string {
	var ticks, labels strings.Builder
	fmt.Fprintf(&ticks, "%*s |", margin, "Time:")
	fmt.Fprintf(&labels, "%*s ", margin, "")
	unit, by := "ms", 1e3
	if end := cols[len(cols)-1].to; end >= 1e6 && !logBins {
		unit, by = "seconds", 1e6
	} else if end < 1e3 {
		unit, by = "µs", 1
	}
	for i := 0; i+5 <= len(cols); i += 5 {
		ticks.WriteString("^^^^|")
		labels.WriteString(show.Pad(axisNumber(float64(cols[i].from)/by), 5))
	}
	return ticks.String() + "\n" + strings.TrimRight(labels.String(), " ") + "  " + unit + "\n"
}

// axisNumber prints a number in at most four columns.
func axisNumber(v float64) string {
	text := strconv.FormatFloat(v, 'g', 3, 64)
	if v >= 1000 {
		text = show.Tick(math.Round(v/100) * 100)
	}
	return text[:min(len(text), 4)]
}

// WriteNumbers prints what the picture cannot show: shares, percentiles, bad
// lines.
func (t *Tally) WriteNumbers(w io.Writer, style show.Style) error {
	p := show.NewPage(style)
	if t.Selected == 0 {
		p.Paragraph("", "", fmt.Sprintf("no request was selected (%s) of %d lines", t.Filter(), t.Lines))
	} else {
		p.Paragraph("", "", t.Sentence())
		p.Line("")
		for i, u := range t.opts.Under {
			p.Line(fmt.Sprintf("  %5.1f %% under %-8s (%d of %d)", floorPercent(t.Under[i], t.Selected), duration(u), t.Under[i], t.Selected))
		}
		p.Line("")
		percentiles(p, t.took, t.Quantile, t.Max)
	}
	t.writeBad(p)
	return p.Flush(w)
}

// percentiles prints them on as many lines as they take.
func percentiles(p *show.Page, took func(int64) string, at func(float64) int64, most int64) {
	line := "  "
	put := func(name string, us int64) {
		item := show.Pad(name+" "+took(us), 14)
		if show.Width(line+item) > p.Columns() {
			p.Line(line)
			line = "  "
		}
		line += item + " "
	}
	for _, q := range quantiles {
		put(q.name, at(q.q))
	}
	put("max", most)
	p.Line(line)
}

// floorPercent never rounds a share up to 100 %: what is not all is not all.
func floorPercent(n, of int64) float64 {
	p := 100 * share(n, of)
	if n < of && p > 99.9 {
		return math.Floor(p*10) / 10
	}
	return p
}

// Sentence is what a person wants to know.
func (t *Tally) Sentence() string {
	if t.Selected == 0 {
		return "No request was selected."
	}
	limit, n := 100*time.Millisecond, int64(0)
	if len(t.opts.Under) > 0 {
		limit, n = t.opts.Under[0], t.Under[0]
	} else {
		n = t.Hist.TotalCount() - countFrom(t, limit.Microseconds())
	}
	return fmt.Sprintf("%s of %s requests took less than %s; half took %s or less, one in a hundred more than %s.",
		percent(floorPercent(n, t.Selected)), show.Count(t.Selected), duration(limit), t.took(t.Quantile(.5)), t.took(t.Quantile(.99)))
}

// took prints a latency; a zero of a log that writes whole milliseconds is
// anything below one.
func (t *Tally) took(us int64) string {
	if us == 0 && !t.fine {
		return "<1 ms"
	}
	return seconds(us)
}

// countFrom counts requests of at least us, as well as the histogram can.
func countFrom(t *Tally, us int64) int64 {
	var n int64
	for _, bar := range t.Hist.Distribution() {
		if bar.From >= us {
			n += bar.Count
		}
	}
	return n
}

func (t *Tally) writeBad(p *show.Page) {
	if n := t.BadLines(); n > 0 {
		p.Line("")
		p.Line(fmt.Sprintf("  %d of %d lines could not be read:", n, t.Lines))
		for r, k := range t.Bad {
			if k > 0 {
				p.Paragraph("    ", "      ", fmt.Sprintf("%d %s, e.g. %q", k, reasonTexts[r], t.Example[r]))
			}
		}
	}
	if t.Backward > 0 {
		p.Line("")
		p.Paragraph("  ", "  ", fmt.Sprintf("the clock went back by more than a minute %d times", t.Backward))
	}
}

// WriteGroups prints the table by path, status, … : the n groups that took
// most of the time.
func (t *Tally) WriteGroups(w io.Writer, style show.Style, n int) error {
	groups := t.Groups()
	table := show.Table{Header: []string{"requests", "p50", "p99", "max", "of time", t.opts.By.String()}, Right: []bool{true, true, true, true, true}}
	for _, g := range groups[:min(n, len(groups))] {
		table.Add(fmt.Sprint(g.Requests), t.took(g.P50), t.took(g.P99), t.took(g.Max), percent(100*g.Share), show.Clean(g.Key))
	}
	p := show.NewPage(style)
	p.Table(table)
	if len(groups) > n {
		p.Line(fmt.Sprintf("  … and %d more", len(groups)-n))
	}
	return p.Flush(w)
}

// WriteSlowest prints the slowest requests.
func (t *Tally) WriteSlowest(w io.Writer, style show.Style) error {
	table := show.Table{Header: []string{"took", "status", "when", "request"}, Right: []bool{true}}
	for _, r := range t.Slowest() {
		when := ""
		if r.Unix != 0 {
			when = time.Unix(r.Unix, 0).UTC().Format(time.RFC3339)
		}
		table.Add(seconds(r.Latency), fmt.Sprint(r.Status), when, show.Clean(r.Method+" "+r.Path))
	}
	p := show.NewPage(style)
	p.Table(table)
	return p.Flush(w)
}
