package accesslog

import (
	"fmt"
	"html"
	"linerate/internal/show"
	"math"
	"strings"
	"time"
)

// Charts are SVG without scripts or references; colours come from the page's
// custom properties, with defaults for a chart on its own.
const (
	chartWidth  = 900
	chartHeight = 320
	chartLeft   = 64
	chartBottom = 44
	chartTop    = 28
)

// SVG draws the distribution as a stand-alone picture.
func (t *Tally) SVG(title string, logBins bool) string {
	body := t.histogramChart(title, logBins)
	return strings.Replace(body, "<svg ", `<svg xmlns="http://www.w3.org/2000/svg" `, 1)
}

// histogramChart draws bars, with the thresholds as lines.
func (t *Tally) histogramChart(title string, logBins bool) string {
	cols, beyond, peak := t.columns(logBins)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s" font-family="system-ui,sans-serif" font-size="12">`, chartWidth, chartHeight, html.EscapeString(title))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="var(--paper,#fff)"/><text x="%d" y="18" font-size="14" font-weight="600" fill="var(--ink,#1b1f24)">%s</text>`, chartWidth, chartHeight, chartLeft, html.EscapeString(title))
	w, h := float64(chartWidth-chartLeft-12), float64(chartHeight-chartTop-chartBottom)
	yAxis(&b, peak, w, h)
	for i, c := range cols {
		if c.count == 0 {
			continue
		}
		bar := math.Max(1.5, float64(c.count)/float64(peak)*h)
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="var(--bar,#2563a8)"><title>%s to %s: %d requests (%.1f %%)</title></rect>`,
			float64(chartLeft)+float64(i)*w/float64(len(cols))+.5, chartTop+h-bar, w/float64(len(cols))-1, bar,
			seconds(c.from), seconds(c.to), c.count, 100*share(c.count, t.Selected))
	}
	xAxis(&b, ticksOf(cols, logBins), w, h)
	if beyond > 0 {
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end" fill="var(--quiet,#57606a)">%d requests took longer than %s</text>`, chartWidth-12, chartHeight-6, beyond, seconds(cols[len(cols)-1].to))
	}
	b.WriteString(`</svg>`)
	return b.String()
}

func yAxis(b *strings.Builder, peak int64, w, h float64) {
	step := niceStep(float64(peak) / 4)
	for v := 0.0; v <= float64(peak); v += step {
		y := chartTop + h - v/float64(peak)*h
		fmt.Fprintf(b, `<line x1="%d" x2="%.1f" y1="%.1f" y2="%.1f" stroke="var(--rule,#d8dee4)"/><text x="%d" y="%.1f" text-anchor="end" fill="var(--quiet,#57606a)">%.0f</text>`,
			chartLeft, chartLeft+w, y, y, chartLeft-6, y+4, v)
	}
}

// niceStep rounds up to 1, 2 or 5 times a power of ten, at least 1.
func niceStep(v float64) float64 {
	if v <= 1 {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*p >= v {
			return m * p
		}
	}
	return 10 * p
}

func ticksOf(cols []column, logBins bool) []tick {
	if logBins {
		return logTicks()
	}
	var ticks []tick
	for i := 0; i < len(cols); i += 5 {
		ticks = append(ticks, tick{float64(i) / float64(len(cols)), compactSeconds(cols[i].from)})
	}
	return ticks
}

// tick is a labelled place on an axis, 0 to 1.
type tick struct {
	at    float64
	label string
}

// logTicks are the decades of the logarithmic scale.
func logTicks() []tick {
	var ticks []tick
	decades := math.Log10(logHigh / logLow)
	for d := 0.0; d <= decades; d++ {
		ticks = append(ticks, tick{d / decades, compactSeconds(int64(math.Round(logLow * math.Pow(10, d))))})
	}
	return ticks
}

func xAxis(b *strings.Builder, ticks []tick, w, h float64) {
	for _, t := range ticks {
		x := float64(chartLeft) + t.at*w
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="var(--quiet,#57606a)"/><text x="%.1f" y="%.1f" text-anchor="%s" fill="var(--quiet,#57606a)">%s</text>`,
			x, x, chartTop+h, chartTop+h+4, x, chartTop+h+18, anchorAt(t.at), t.label)
	}
}

// anchorAt keeps the last label inside the picture.
func anchorAt(at float64) string {
	if at > .99 {
		return "end"
	}
	return "middle"
}

// compactSeconds labels an axis: 0, 0.5, 20 ms.
func compactSeconds(us int64) string {
	switch {
	case us == 0:
		return "0"
	case us < 1000:
		return fmt.Sprintf("%d µs", us)
	case us < 100_000:
		return fmt.Sprintf("%.2g ms", float64(us)/1e3)
	default:
		return fmt.Sprintf("%.3g s", float64(us)/1e6)
	}
}

// heatChart draws the distribution over time: columns are slots, rows bins of
// equal ratio, and the darker a cell the more of its slot's requests it holds.
func (t *Tally) heatChart() string {
	slots := t.Slots()
	if len(slots) < 2 {
		return ""
	}
	const rows = 24
	first, last := slots[0].Unix, slots[len(slots)-1].Unix
	n := int((last-first)/slots[0].Seconds) + 1
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="request times over time" font-family="system-ui,sans-serif" font-size="12">`, chartWidth, chartHeight)
	w, h := float64(chartWidth-chartLeft-12), float64(chartHeight-chartTop-chartBottom)
	cw, ch := w/float64(n), h/rows
	for _, s := range slots {
		cells, total := heatCells(s, rows)
		x := float64(chartLeft) + float64((s.Unix-first)/s.Seconds)*cw
		for r, c := range cells {
			if c == 0 {
				continue
			}
			fmt.Fprintf(&b, `<rect x="%.2f" y="%.1f" width="%.2f" height="%.1f" fill="var(--bar,#2563a8)" opacity="%.2f"/>`,
				x, chartTop+h-float64(r+1)*ch, math.Max(cw, .8), ch, .12+.88*math.Sqrt(float64(c)/float64(total)))
		}
	}
	heatAxes(&b, first, last+slots[0].Seconds, rows, w, h)
	b.WriteString(`</svg>`)
	return b.String()
}

func heatCells(s Slot, rows int) (cells []int64, total int64) {
	cells = make([]int64, rows)
	step := math.Log(logHigh/logLow) / float64(rows)
	for _, bar := range s.Hist.Distribution() {
		if bar.Count == 0 {
			continue
		}
		r := int(math.Log(math.Max(1, float64(bar.From))/logLow) / step)
		cells[min(max(r, 0), rows-1)] += bar.Count
		total += bar.Count
	}
	return cells, total
}

func heatAxes(b *strings.Builder, from, to int64, rows int, w, h float64) {
	for r := 0; r <= rows; r += 4 {
		us := int64(math.Round(logLow * math.Pow(logHigh/logLow, float64(r)/float64(rows))))
		y := chartTop + h - float64(r)*h/float64(rows)
		fmt.Fprintf(b, `<line x1="%d" x2="%.1f" y1="%.1f" y2="%.1f" stroke="var(--rule,#d8dee4)" stroke-opacity=".6"/><text x="%d" y="%.1f" text-anchor="end" fill="var(--quiet,#57606a)">%s</text>`,
			chartLeft, chartLeft+w, y, y, chartLeft-6, y+4, compactSeconds(us))
	}
	layout := "15:04"
	if to-from > 36*3600 {
		layout = "2 Jan 15:04"
	} else if to-from < 600 {
		layout = "15:04:05"
	}
	for i := range 6 {
		at := from + (to-from)*int64(i)/5
		anchor := [...]string{"start", "middle", "middle", "middle", "middle", "end"}[i]
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="var(--quiet,#57606a)">%s</text>`,
			float64(chartLeft)+w*float64(i)/5, chartTop+h+18, anchor, time.Unix(at, 0).UTC().Format(layout))
	}
}

// cumulativeChart draws how much of each log was answered within a time: one
// line a log, time on a logarithmic axis.
func cumulativeChart(names []string, tallies []*Tally) string {
	const cols = 200
	colours := []string{"#2563a8", "#c2410c", "#15803d", "#7e22ce", "#b91c1c", "#0e7490"}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="share of requests answered within a time" font-family="system-ui,sans-serif" font-size="12">`, chartWidth, chartHeight)
	w, h := float64(chartWidth-chartLeft-12), float64(chartHeight-chartTop-chartBottom)
	for p := 0; p <= 100; p += 25 {
		y := chartTop + h - float64(p)/100*h
		fmt.Fprintf(&b, `<line x1="%d" x2="%.1f" y1="%.1f" y2="%.1f" stroke="var(--rule,#d8dee4)"/><text x="%d" y="%.1f" text-anchor="end" fill="var(--quiet,#57606a)">%d %%</text>`, chartLeft, chartLeft+w, y, y, chartLeft-6, y+4, p)
	}
	xAxis(&b, logTicks(), w, h)
	for i, t := range tallies {
		colour := colours[i%len(colours)]
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="2.5" points="`, colour)
		var sum int64
		for k, c := range t.logColumns(cols, logLow, logHigh) {
			sum += c.count
			fmt.Fprintf(&b, "%.1f,%.1f ", float64(chartLeft)+w*float64(k+1)/cols, chartTop+h-share(sum, t.Selected)*h)
		}
		fmt.Fprintf(&b, `"/><rect x="%d" y="%d" width="14" height="4" fill="%s"/><text x="%d" y="%d" fill="var(--ink,#1b1f24)">%s</text>`,
			chartWidth-300, chartTop+120+18*i, colour, chartWidth-280, chartTop+126+18*i, html.EscapeString(show.KeepEnd(names[i], 40)))
	}
	b.WriteString(`</svg>`)
	return b.String()
}
