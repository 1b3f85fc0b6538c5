package accesslog

import (
	"fmt"
	"math"
	"strings"
	"time"

	"linerate/internal/document"
	"linerate/internal/show"
)

// Summary is the JSON form of a tally, with the whole histogram. Times are in seconds.
type Summary struct {
	Version     int                `json:"version"`
	Sources     []string           `json:"sources"`
	Format      string             `json:"format"`
	Filter      string             `json:"filter"`
	Lines       int64              `json:"lines"`
	BadLines    int64              `json:"bad_lines"`
	BadReasons  map[string]int64   `json:"bad_reasons"`
	Selected    int64              `json:"selected"`
	Mean        float64            `json:"mean"`
	Percentiles map[string]float64 `json:"percentiles"` // p50 … p99.9, min and max
	Under       map[string]float64 `json:"under"`       // share strictly under each threshold
	UnderCounts map[string]int64   `json:"under_counts"`
	ClockJumps  int64              `json:"clock_jumps,omitempty"`
	Histogram   SummaryHistogram   `json:"histogram"`
}

// SummaryHistogram is a serialised histogram: pairs of a latency in microseconds,
// to three significant digits, and the number of requests with it.
type SummaryHistogram struct {
	Unit   string `json:"unit"` // "us"
	Digits int    `json:"digits"`
	// Resolution is that of the log's times in microseconds: 1000 if all are
	// whole milliseconds, as NGINX writes them, else 1.
	Resolution int64      `json:"resolution"`
	Counts     [][2]int64 `json:"counts"`
}

// quantiles are those that a summary contains.
var quantiles = []struct {
	name string
	q    float64
}{{"p50", .5}, {"p75", .75}, {"p90", .9}, {"p95", .95}, {"p99", .99}, {"p99.9", .999}}

// Summary returns the JSON form of the tally.
func (t *Tally) Summary(sources []string) *Summary {
	s := &Summary{Version: 1, Sources: sources, Format: t.opts.Format.Name, Filter: t.opts.Filter.String(),
		Lines: t.Lines, BadLines: t.BadLines(), BadReasons: map[string]int64{}, Selected: t.Selected,
		Percentiles: map[string]float64{}, Under: map[string]float64{}, UnderCounts: map[string]int64{},
		ClockJumps: t.Backward,
		Histogram:  SummaryHistogram{Unit: "us", Digits: 3, Resolution: t.resolution(), Counts: [][2]int64{}}}
	for r, n := range t.Bad {
		if n > 0 {
			s.BadReasons[reasonTexts[r]] = n
		}
	}
	for i, u := range t.opts.Under {
		s.UnderCounts[u.String()], s.Under[u.String()] = t.Under[i], share(t.Under[i], t.Selected)
	}
	for _, bar := range t.Hist.Distribution() {
		if bar.Count > 0 {
			s.Histogram.Counts = append(s.Histogram.Counts, [2]int64{bar.From, bar.Count})
		}
	}
	if s.Selected > 0 {
		s.Mean = float64(t.Sum) / float64(t.Selected) / 1e6
		for _, q := range quantiles {
			s.Percentiles[q.name] = float64(t.Quantile(q.q)) / 1e6
		}
		s.Percentiles["min"], s.Percentiles["max"] = float64(t.Min)/1e6, float64(t.Max)/1e6
	}
	return s
}

func share(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// mostBins and barWidth are the size of the printed distribution.
const (
	mostBins = 25
	barWidth = 28
)

// Document returns the tally as a page of text: a sentence, the distribution, shares,
// percentiles and the lines that could not be read.
func (t *Tally) Document(name string) (d document.Document) {
	d.Title = fmt.Sprintf("%s: %s of %s (%s)", name, show.Plural(int(t.Selected), "request"), show.Plural(int(t.Lines), "line"), &t.opts.Filter)
	if t.Selected == 0 {
		d.Answer("No request was selected.", "", "")
	} else {
		d.Answer(t.sentence(), "", "")
		d.Add(t.distribution())
		under := document.Table{Header: []string{"under", "share", "requests"}}
		for i, u := range t.opts.Under {
			under.Rows = append(under.Rows, []string{seconds(u.Microseconds()), percent(floorPercent(t.Under[i], t.Selected)), show.Count(t.Under[i])})
		}
		percentiles := document.Table{Header: []string{""}, Rows: [][]string{{"request time"}}}
		for _, q := range quantiles {
			percentiles.Header, percentiles.Rows[0] = append(percentiles.Header, q.name), append(percentiles.Rows[0], t.took(t.Quantile(q.q)))
		}
		percentiles.Header, percentiles.Rows[0] = append(percentiles.Header, "max"), append(percentiles.Rows[0], t.took(t.Max))
		d.Add(under, percentiles)
	}
	if n := t.BadLines(); n > 0 {
		d.Add(document.Warning(fmt.Sprintf("%s of %s could not be read:", show.Count(n), show.Plural(int(t.Lines), "line"))))
	}
	for r, n := range t.Bad {
		if n > 0 {
			d.Add(document.Note(fmt.Sprintf("%s %s, such as %q", show.Count(n), reasonTexts[r], t.Example[r])))
		}
	}
	if t.Backward > 0 {
		d.Add(document.Warning(fmt.Sprintf("The clock went back by more than a minute %d times.", t.Backward)))
	}
	return d
}

// distribution counts requests in bins of equal width (1, 2 or 5 times a power of ten)
// that cover 99 % of them, and those beyond.
func (t *Tally) distribution() document.Table {
	width := niceWidth(max(t.resolution(), t.Quantile(.99)/mostBins+1))
	counts, peak, r := make([]int64, mostBins+1), int64(1), t.resolution()
	last := 0
	for _, bar := range t.Hist.Distribution() {
		if bar.Count > 0 {
			us := ((bar.From+bar.To)/2 + r/2) / r * r
			i := min(int(us/width), mostBins)
			counts[i] += bar.Count
			peak, last = max(peak, counts[i]), max(last, i)
		}
	}
	table := document.Table{Header: []string{"request time", "requests", ""}}
	for i, n := range counts[:last+1] {
		text := "from " + seconds(int64(i)*width)
		if i == 0 {
			text = "below " + seconds(width)
		}
		bar := int(math.Ceil(float64(n) / float64(peak) * barWidth))
		table.Rows = append(table.Rows, []string{text, show.Count(n), strings.Repeat("▇", bar)})
	}
	return table
}

// niceWidth returns the smallest 1, 2 or 5 times a power of ten that is at least least.
func niceWidth(least int64) int64 {
	for w := int64(1); ; w *= 10 {
		for _, by := range []int64{1, 2, 5} {
			if by*w >= least {
				return by * w
			}
		}
	}
}

// floorPercent is a share in percent that is never rounded up to 100 % unless it is all.
func floorPercent(n, of int64) float64 {
	p := 100 * share(n, of)
	if n < of && p > 99.9 {
		return math.Floor(p*10) / 10
	}
	return p
}

// sentence summarises the tally in one sentence.
func (t *Tally) sentence() string {
	half := fmt.Sprintf("half took %s or less, one in a hundred more than %s.", t.took(t.Quantile(.5)), t.took(t.Quantile(.99)))
	if len(t.opts.Under) == 0 {
		return "Of " + show.Count(t.Selected) + " requests " + half
	}
	return fmt.Sprintf("%s of %s requests took less than %s; %s", percent(floorPercent(t.Under[0], t.Selected)), show.Count(t.Selected), seconds(t.opts.Under[0].Microseconds()), half)
}

// took formats a latency. In a log of whole milliseconds, zero means less
// than one.
func (t *Tally) took(us int64) string {
	if us == 0 && !t.fine {
		return "< 1 ms"
	}
	return seconds(us)
}

// seconds formats a latency given in µs: 0.4 ms, 12 ms, 1.24 s.
func seconds(us int64) string { return show.Brief(time.Duration(us) * time.Microsecond) }

// percent formats a share with one decimal, so that columns line up.
func percent(v float64) string { return show.Grouped(v, 1) + " %" }
