package accesslog

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

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

// pictureBin is the width of a linear column, in µs: of 1, 2 and 5 times a power of ten
// the least by which 99 of 100 requests fit into n columns.
func (t *Tally) pictureBin(n int) int64 {
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
	w, r := t.pictureBin(n), t.resolution()
	for i := range int64(n) {
		cols = append(cols, column{i * w, (i + 1) * w, 0})
	}
	used := 0
	for _, bar := range t.Hist.Distribution() {
		us := ((bar.From+bar.To)/2 + r/2) / r * r
		switch i := int(us / w); {
		case bar.Count == 0:
		case i < n:
			cols[i].count += bar.Count
			used = max(used, i+1)
		default:
			beyond += bar.Count
		}
	}
	return cols[:min(n, max(10, (used+4)/5*5))], beyond
}

// WritePicture draws the distribution in characters, as wide as the style.
func (t *Tally) WritePicture(w io.Writer, s show.Style) error {
	n := min(pictureColumns, max(20, (s.Columns()-12)/5*5))
	cols, beyond := t.linearColumns(n)
	peak := int64(1)
	for _, c := range cols {
		peak = max(peak, c.count)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "   .:.  Web server distribution of request times\n\n")
	fmt.Fprintf(&b, "         Log lines: %d, requests: %d (%s)\n", t.Lines, t.Selected, t.Filter())
	margin := max(5, len(fmt.Sprint(peak)))
	fmt.Fprintf(&b, "%*s  %s\n", margin, "", strings.Repeat("_", len(cols)+1))
	for row := pictureRows; row >= 1; row-- {
		b.WriteString(pictureRow(cols, peak, row, margin))
	}
	b.WriteString(pictureAxis(cols, margin))
	if beyond > 0 {
		fmt.Fprintf(&b, "%*s  %s\n", margin, "", show.Plural(int(beyond), "request")+" took longer than "+seconds(cols[len(cols)-1].to))
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
func pictureAxis(cols []column, margin int) string {
	var ticks, labels strings.Builder
	fmt.Fprintf(&ticks, "%*s |", margin, "Time:")
	fmt.Fprintf(&labels, "%*s ", margin, "")
	unit, by := "ms", 1e3
	if end := cols[len(cols)-1].to; end >= 1e6 {
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
		t.percentiles(p)
	}
	t.writeBad(p)
	return p.Flush(w)
}

// percentiles prints them on as many lines as they take.
func (t *Tally) percentiles(p *show.Page) {
	line := "  "
	put := func(name string, us int64) {
		item := show.Pad(name+" "+t.took(us), 14)
		if show.Width(line+item) > p.Columns() {
			p.Line(line)
			line = "  "
		}
		line += item + " "
	}
	for _, q := range quantiles {
		put(q.name, t.Quantile(q.q))
	}
	put("max", t.Max)
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
	half := fmt.Sprintf("half took %s or less, one in a hundred more than %s.", t.took(t.Quantile(.5)), t.took(t.Quantile(.99)))
	if len(t.opts.Under) == 0 {
		return "Of " + show.Count(t.Selected) + " requests " + half
	}
	return fmt.Sprintf("%s of %s requests took less than %s; %s", percent(floorPercent(t.Under[0], t.Selected)), show.Count(t.Selected), duration(t.opts.Under[0]), half)
}

// took prints a latency; a zero of a log that writes whole milliseconds is
// anything below one.
func (t *Tally) took(us int64) string {
	if us == 0 && !t.fine {
		return "<1 ms"
	}
	return seconds(us)
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
