package accesslog

import (
	"fmt"
	"time"

	"linerate/internal/show"
)

// SummaryVersion of the JSON document.
const SummaryVersion = 1

// Summary is a tally as a document, with the whole histogram. Times are in seconds.
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
	Under       map[string]float64 `json:"under"`       // share strictly under, by threshold
	UnderCounts map[string]int64   `json:"under_counts"`
	ClockJumps  int64              `json:"clock_jumps,omitempty"`
	Histogram   SummaryHistogram   `json:"histogram"`
}

// SummaryHistogram is a serialised histogram: pairs of a latency in
// microseconds and how many requests took it, to three significant digits.
type SummaryHistogram struct {
	Unit   string `json:"unit"` // "us"
	Digits int    `json:"digits"`
	// Resolution of the log's own times in microseconds: 1000 where all are
	// whole milliseconds, as NGINX writes them, else 1.
	Resolution int64      `json:"resolution"`
	Counts     [][2]int64 `json:"counts"`
}

// quantiles that a summary states.
var quantiles = []struct {
	name string
	q    float64
}{{"p50", .5}, {"p75", .75}, {"p90", .9}, {"p95", .95}, {"p99", .99}, {"p99.9", .999}}

// Summary turns a tally into its document.
func (t *Tally) Summary(sources []string) *Summary {
	s := &Summary{Version: SummaryVersion, Sources: sources, Format: t.opts.Format.Name, Filter: t.Filter(),
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
		s.Mean = t.Mean() / 1e6
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

// String is the filter in words, for headings.
func (f *Filter) String() string {
	text := ""
	add := func(format string, args ...any) {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf(format, args...)
	}
	for _, r := range f.Statuses {
		if r.From == r.To {
			add("status %d", r.From)
		} else {
			add("status %d–%d", r.From, r.To)
		}
	}
	if f.Path != "" {
		add("path %s", f.Path)
	}
	if !f.Since.IsZero() {
		add("since %s", f.Since.Format(time.RFC3339))
	}
	if !f.Until.IsZero() {
		add("until %s", f.Until.Format(time.RFC3339))
	}
	if text == "" {
		return "every request"
	}
	return text
}

// seconds prints a latency in µs for people: 0.4 ms, 12 ms, 1.24 s.
func seconds(us int64) string { return show.Brief(time.Duration(us) * time.Microsecond) }

// percent prints a share to a tenth, so that columns of them line up.
func percent(v float64) string { return show.Grouped(v, 1) + " %" }

// duration prints a threshold as users write it.
func duration(d time.Duration) string { return seconds(d.Microseconds()) }
