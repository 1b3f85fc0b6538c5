package accesslog

import (
	"fmt"
	"math"
	"time"

	"linerate/internal/chart"
	"linerate/internal/show"
)

// plot is the frame that a log's charts share.
type plot struct {
	*chart.Canvas
	x, y        chart.Scale
	left, right float64
	top, bottom float64
}

// newPlot makes room for a title, where there is one, and for lines below the axis.
func newPlot(width float64, title string, below float64) *plot {
	p := &plot{left: 54, right: width - 14, top: 10}
	if title != "" {
		p.top = 34
	}
	p.bottom = p.top + 250
	p.Canvas = chart.New(width, p.bottom+24+below)
	if title != "" {
		p.Text("title", "start", 8, 18, chart.Fit(title, width-16))
	}
	return p
}

// times lays the horizontal axis, in microseconds.
func (p *plot) times(from, to float64, log bool) {
	p.x = chart.Scale{From: from, To: to, Left: p.left, Span: p.right - p.left, Log: log}
	for _, v := range p.x.Ticks(int(p.x.Span / 70)) {
		p.Line("grid", p.x.At(v), p.bottom, p.x.At(v), p.bottom+5)
		p.Tick(p.x.At(v), p.bottom+18, timeTick(v, to, log))
	}
}

// level draws a line of the vertical axis.
func (p *plot) level(v float64, label string) {
	p.Line("grid", p.left, p.y.At(v), p.right, p.y.At(v))
	p.Text("tick", "end", p.left-6, p.y.At(v)+4, label)
}

// timeTick labels a time in µs: on a linear axis all in the unit of its end.
func timeTick(us, end float64, log bool) string {
	switch {
	case log:
		return seconds(int64(math.Round(us)))
	case end >= 1e6:
		return show.Tick(round(us/1e6)) + " s"
	case end >= 1e3:
		return show.Tick(round(us/1e3)) + " ms"
	}
	return show.Tick(us) + " µs"
}

// round drops what adding steps left behind the sixth decimal.
func round(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// SVG draws the distribution as a stand-alone picture.
func (t *Tally) SVG(title string, logBins bool) string {
	return string(chart.Alone(t.histogramChart(title, logBins, chart.Wide)))
}

// histogramChart draws a bar for each column.
func (t *Tally) histogramChart(title string, logBins bool, width float64) string {
	if t.Selected == 0 {
		return ""
	}
	cols, beyond, peak := t.columns(pictureColumns, logBins)
	p := newPlot(width, title, map[bool]float64{true: 18}[beyond > 0])
	p.y = chart.Scale{To: float64(peak), Left: p.bottom, Span: p.top - p.bottom}
	last := -1.0
	for _, v := range p.y.Ticks(4) {
		if v == math.Trunc(v) && v > last {
			p.level(v, show.Tick(v))
			last = v
		}
	}
	p.times(float64(cols[0].from), float64(cols[len(cols)-1].to), logBins)
	for _, c := range cols {
		if c.count == 0 {
			continue
		}
		left, right := p.x.At(float64(c.from)), p.x.At(float64(c.to))
		height := max(1.5, float64(c.count)/float64(peak)*(p.bottom-p.top))
		p.Bar("bar", left+.5, p.bottom-height, max(.5, right-left-1), height,
			fmt.Sprintf("%s to %s: %s (%s)", seconds(c.from), seconds(c.to), show.Plural(int(c.count), "request"), show.Percent(100*share(c.count, t.Selected))))
	}
	if beyond > 0 {
		p.Text("aside", "end", p.right, p.H-6, longer(beyond, cols))
	}
	return p.Canvas.SVG("distribution of request times")
}

// longer says how many requests are beyond the last column.
func longer(n int64, cols []column) string {
	return show.Plural(int(n), "request") + " took longer than " + seconds(cols[len(cols)-1].to)
}

// heatRows is how finely the heat chart sorts request times.
const heatRows = 24

// heatChart draws the distribution over time: columns are slots, rows bins of
// equal ratio, and a cell is the darker the more of its slot's requests it holds.
func (t *Tally) heatChart(width float64) string {
	slots := t.Slots()
	if len(slots) < 2 || t.Selected == 0 {
		return ""
	}
	first, last := slots[0].Unix, slots[len(slots)-1].Unix
	n := int((last-first)/slots[0].Seconds) + 1
	low, high := t.span()
	p := newPlot(width, "", 0)
	p.y = chart.Scale{From: low, To: high, Left: p.bottom, Span: p.top - p.bottom, Log: true}
	for _, v := range p.y.Ticks(7) {
		p.level(v, timeTick(v, high, true))
	}
	cw, ch := (p.right-p.left)/float64(n), (p.bottom-p.top)/heatRows
	for _, s := range slots {
		cells, total := heatCells(s, low, high)
		x := p.left + float64((s.Unix-first)/s.Seconds)*cw
		for r, c := range cells {
			if c > 0 {
				p.Cell("bar", x, p.bottom-float64(r+1)*ch, max(cw, .8), ch, .12+.88*math.Sqrt(float64(c)/float64(total)))
			}
		}
	}
	p.clock(first, last+slots[0].Seconds)
	return p.Canvas.SVG("request times over time")
}

func heatCells(s Slot, low, high float64) (cells []int64, total int64) {
	cells = make([]int64, heatRows)
	step := math.Log(high/low) / heatRows
	for _, bar := range s.Hist.Distribution() {
		if bar.Count == 0 {
			continue
		}
		r := int(math.Log(max(1, float64(bar.From))/low) / step)
		cells[min(max(r, 0), heatRows-1)] += bar.Count
		total += bar.Count
	}
	return cells, total
}

// clock labels an axis of time of day, in UTC.
func (p *plot) clock(from, to int64) {
	layout := "15:04"
	if to-from > 36*3600 {
		layout = "2 Jan 15:04"
	} else if to-from < 600 {
		layout = "15:04:05"
	}
	steps := int64(5)
	if p.Narrow() {
		steps = 2
	}
	for i := range steps + 1 {
		x := p.left + (p.right-p.left)*float64(i)/float64(steps)
		p.Tick(x, p.bottom+18, time.Unix(from+(to-from)*i/steps, 0).UTC().Format(layout))
	}
}

// cumulativeChart draws how much of each log was answered within a time: one
// line a log, time on a logarithmic axis.
func cumulativeChart(names []string, tallies []*Tally, width float64) string {
	const cols = 200
	low, high := math.Inf(1), 0.0
	for _, t := range tallies {
		if t.Selected > 0 {
			from, to := t.span()
			low, high = min(low, from), max(high, to)
		}
	}
	if high == 0 {
		return ""
	}
	p := newPlot(width, "", 12+18*float64(len(tallies)))
	p.y = chart.Scale{To: 100, Left: p.bottom, Span: p.top - p.bottom}
	for _, v := range []float64{0, 25, 50, 75, 100} {
		p.level(v, show.Tick(v)+" %")
	}
	p.times(low, high, true)
	for i, t := range tallies {
		points := [][2]float64{{p.left, p.y.At(0)}}
		var sum int64
		for _, c := range t.logColumns(cols, low, high) {
			sum += c.count
			points = append(points, [2]float64{p.x.At(min(float64(c.to), high)), p.y.At(100 * share(sum, t.Selected))})
		}
		class, y := fmt.Sprintf("curve c%d", 2+i%6), p.bottom+36+18*float64(i)
		p.Path(class, points)
		p.Line("interval"+class[len("curve"):], p.left, y-4, p.left+18, y-4)
		p.Text("name", "start", p.left+26, y, show.KeepEnd(names[i], int((p.right-p.left-26)/7)))
	}
	return p.Canvas.SVG("share of requests answered within a time")
}
