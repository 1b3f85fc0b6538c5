package accesslog

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"linerate/internal/show"
)

// The picture's size: 65 columns of one bin each, as the web server
// distribution pictures that made the rounds had.
const (
	pictureColumns = 65
	pictureRows    = 20
)

// column is one column of a picture.
type column struct {
	from, to int64 // µs
	count    int64
}

// linearColumns are the first bins; beyond is what lies behind them.
func (t *Tally) linearColumns(n int) (cols []column, beyond int64) {
	w := t.opts.binWidth()
	for i := range n {
		c := column{int64(i) * w, int64(i+1) * w, 0}
		if i < len(t.Bins) {
			c.count = t.Bins[i]
		}
		cols = append(cols, c)
	}
	for i := n; i < len(t.Bins); i++ {
		beyond += t.Bins[i]
	}
	return cols, beyond
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

// logLow and logHigh are the ends of a picture of bins of equal ratio, in µs.
const (
	logLow  = 100.0
	logHigh = 100_000_000.0
)

// columns are a picture's, with what lies beyond the last and the highest count.
func (t *Tally) columns(logBins bool) (cols []column, beyond, peak int64) {
	if logBins {
		cols = t.logColumns(pictureColumns, logLow, logHigh)
	} else {
		cols, beyond = t.linearColumns(pictureColumns)
	}
	peak = 1
	for _, c := range cols {
		peak = max(peak, c.count)
	}
	return cols, beyond, peak
}

// WritePicture draws the distribution as the guide's ASCII picture.
func (t *Tally) WritePicture(w io.Writer, logBins bool) error {
	cols, beyond, peak := t.columns(logBins)
	var b strings.Builder
	fmt.Fprintf(&b, "   .:.  Web server distribution of request times\n\n")
	fmt.Fprintf(&b, "         Log lines: %d, requests: %d (%s)\n", t.Lines, t.Selected, t.opts.Filter.String())
	margin := max(5, len(fmt.Sprint(peak)))
	fmt.Fprintf(&b, "%*s  %s\n", margin, "", strings.Repeat("_", pictureColumns+1))
	for row := pictureRows; row >= 1; row-- {
		b.WriteString(pictureRow(cols, peak, row, margin))
	}
	b.WriteString(pictureAxis(t.opts, logBins, margin))
	if beyond > 0 {
		fmt.Fprintf(&b, "%*s  %d requests took longer than %s\n", margin, "", beyond, seconds(cols[len(cols)-1].to))
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

// pictureAxis is the time axis: a tick every five columns.
func pictureAxis(o *Options, logBins bool, margin int) string {
	var ticks, labels strings.Builder
	fmt.Fprintf(&ticks, "%*s |", margin, "Time:")
	fmt.Fprintf(&labels, "%*s ", margin, "")
	for i := 0; i < pictureColumns; i += 5 {
		ticks.WriteString("^^^^|")
		at := float64(int64(i)*o.binWidth()) / 1e6
		if logBins {
			at = logLow * math.Exp(math.Log(logHigh/logLow)*float64(i)/pictureColumns) / 1e6
		}
		labels.WriteString(fit(axisNumber(at, logBins), 5))
	}
	unit := "seconds"
	return ticks.String() + "\n" + strings.TrimRight(labels.String(), " ") + "  " + unit + "\n"
}

func axisNumber(s float64, logBins bool) string {
	switch {
	case s == 0:
		return "0"
	case logBins:
		return fmt.Sprintf("%.2g", s)
	case s >= 100:
		return fmt.Sprintf("%.0f", s)
	case s == math.Trunc(s*10)/10:
		return fmt.Sprintf("%.1f", s)
	default:
		return fmt.Sprintf("%.3g", s)
	}
}

// fit pads or cuts text to a width of n.
func fit(s string, n int) string {
	if k := utf8.RuneCountInString(s); k < n {
		return s + strings.Repeat(" ", n-k)
	}
	return s[:n-1] + " "
}

// WriteNumbers prints what the picture cannot show: shares, percentiles, bad
// lines.
func (t *Tally) WriteNumbers(w io.Writer) error {
	var b strings.Builder
	if t.Selected == 0 {
		fmt.Fprintf(&b, "no request was selected (%s) of %d lines\n", t.opts.Filter.String(), t.Lines)
	} else {
		fmt.Fprintf(&b, "%s\n\n", t.Sentence())
		for i, u := range t.opts.Under {
			fmt.Fprintf(&b, "  %5.1f %% under %-8s (%d of %d)\n", floorPercent(t.Under[i], t.Selected), duration(u), t.Under[i], t.Selected)
		}
		fmt.Fprintf(&b, "\n  ")
		for _, q := range quantiles {
			fmt.Fprintf(&b, "%s %s   ", q.name, t.took(t.Quantile(q.q)))
		}
		fmt.Fprintf(&b, "max %s\n", t.took(t.Max))
	}
	t.writeBad(&b)
	_, err := io.WriteString(w, b.String())
	return err
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
	return fmt.Sprintf("%.1f %% of %s requests took less than %s; half took %s or less, one in a hundred more than %s.",
		floorPercent(n, t.Selected), show.Grouped(float64(t.Selected), 0), duration(limit), t.took(t.Quantile(.5)), t.took(t.Quantile(.99)))
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

func (t *Tally) writeBad(b *strings.Builder) {
	if n := t.BadLines(); n > 0 {
		fmt.Fprintf(b, "\n  %d of %d lines could not be read:\n", n, t.Lines)
		for r, k := range t.Bad {
			if k > 0 {
				fmt.Fprintf(b, "    %8d %s, e.g. %q\n", k, reasonTexts[r], t.Example[r])
			}
		}
	}
	if t.Backward > 0 {
		fmt.Fprintf(b, "\n  the clock went back by more than a minute %d times\n", t.Backward)
	}
}

// WriteGroups prints the table by path, status, … : the n groups that took
// most of the time.
func (t *Tally) WriteGroups(w io.Writer, n int) error {
	groups := t.Groups()
	var b strings.Builder
	fmt.Fprintf(&b, "%10s %10s %10s %10s %7s  %s\n", "requests", "p50", "p99", "max", "of time", t.opts.By)
	for i, g := range groups {
		if i == n {
			fmt.Fprintf(&b, "… and %d more\n", len(groups)-n)
			break
		}
		fmt.Fprintf(&b, "%10d %10s %10s %10s %6.1f%%  %s\n", g.Requests, t.took(g.P50), t.took(g.P99), t.took(g.Max), 100*g.Share, show.Clean(g.Key))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteSlowest prints the slowest requests.
func (t *Tally) WriteSlowest(w io.Writer) error {
	var b strings.Builder
	for _, r := range t.Slowest() {
		when := ""
		if r.Unix != 0 {
			when = time.Unix(r.Unix, 0).UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(&b, "%10s  %3d  %-20s  %s %s\n", seconds(r.Latency), r.Status, when, show.Clean(r.Method), show.Clean(r.Path))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
