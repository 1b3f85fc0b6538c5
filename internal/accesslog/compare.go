package accesslog

import (
	"fmt"
	"math"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"linerate/internal/document"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// Difference is how far one statistic of a log is from that of a baseline.
type Difference struct {
	What      string  `json:"what"` // "share under 100ms" in percent, or "p99" in seconds
	Baseline  float64 `json:"baseline"`
	Other     float64 `json:"other"`
	Delta     float64 `json:"difference"` // other − baseline
	Low       float64 `json:"ci_low"`     // 95 % interval; 0 where it is not known
	High      float64 `json:"ci_high"`
	Known     bool    `json:"interval_known"`
	Different bool    `json:"different"` // the interval excludes zero

	label string // What, as printed for people
}

// Comparison of one log against a baseline.
type Comparison struct {
	Baseline    string       `json:"baseline"`
	Other       string       `json:"other"`
	Blocks      [2]int       `json:"blocks"` // blocks of time in the baseline and in the other log
	Differences []Difference `json:"differences"`
	Sentence    string       `json:"sentence"`
	Warnings    []string     `json:"warnings,omitempty"`
}

// Consecutive requests share caches, clients and load and so are correlated:
// a log counts as as many observations as it has blocks of time longer than
// that correlation.
const (
	wantBlocks   = 20
	enoughBlocks = 10
)

// values computes a statistic for each of a log's blocks of time, which are long
// enough to hold least requests on average.
func (t *Tally) values(least float64, of func(*hdrhistogram.Histogram) float64) []float64 {
	return list.Map(t.blocks(min(wantBlocks, int(float64(t.Selected)/least))), of)
}

// underShare returns a function that computes the share of requests under a threshold, in percent.
func underShare(limit int64) func(*hdrhistogram.Histogram) float64 {
	return func(h *hdrhistogram.Histogram) float64 {
		under := int64(0)
		for _, bar := range h.Distribution() {
			if bar.To < limit || bar.From < limit && (bar.From+bar.To)/2 < limit {
				under += bar.Count
			}
		}
		return 100 * share(under, h.TotalCount())
	}
}

// Compare compares a log with a baseline. Both tallies must have been made
// with Options.Timeline and the same thresholds.
func Compare(baseName string, base *Tally, otherName string, other *Tally) *Comparison {
	c := &Comparison{Baseline: baseName, Other: otherName}
	if base.Selected == 0 || other.Selected == 0 {
		c.Sentence = "There is nothing to compare: a log has no selected request."
		return c
	}
	for i, u := range base.opts.Under {
		of := underShare(u.Microseconds())
		a, b := base.values(1, of), other.values(1, of)
		c.Blocks = [2]int{len(a), len(b)}
		c.add(Difference{What: "share under " + u.String(), label: "share under " + seconds(u.Microseconds()),
			Baseline: 100 * share(base.Under[i], base.Selected), Other: 100 * share(other.Under[i], other.Selected)}, a, b)
	}
	for _, q := range quantiles {
		least := 1 / (1 - q.q) // one request of a block is beyond the quantile
		of := func(h *hdrhistogram.Histogram) float64 { return float64(h.ValueAtQuantile(100*q.q)) / 1e6 }
		a, b := base.values(least, of), other.values(least, of)
		c.Blocks = [2]int{max(c.Blocks[0], len(a)), max(c.Blocks[1], len(b))}
		c.add(Difference{What: q.name, label: q.name, Baseline: float64(base.Quantile(q.q)) / 1e6, Other: float64(other.Quantile(q.q)) / 1e6}, a, b)
	}
	if n := min(c.Blocks[0], c.Blocks[1]); n < enoughBlocks {
		c.Warnings = append(c.Warnings, fmt.Sprintf("only %d blocks of time: the intervals are rough; compare longer logs", n))
	}
	c.Sentence = c.sentence(base, other)
	return c
}

// add adds a difference, estimated from the whole logs. Its interval is Welch's t over the
// blocks of time, widened by the correlation of consecutive blocks.
func (c *Comparison) add(d Difference, base, other []float64) {
	d.Delta = d.Other - d.Baseline
	if len(base) > 1 && len(other) > 1 {
		w := stats.Welch(base, other, 0.95)
		half := (w.High - w.Low) / 2 * math.Sqrt((1+likeness(base, other))/(1-likeness(base, other)))
		d.Low, d.High, d.Known = max(d.Delta-half, -d.Baseline), d.Delta+half, true
		if d.share() {
			d.High = min(d.High, 100-d.Baseline)
		}
		d.Different = d.Low > 0 || d.High < 0
	}
	c.Differences = append(c.Differences, d)
}

// likeness returns the lag-1 autocorrelation ρ of the series: n values of such a series are
// worth n(1−ρ)/(1+ρ) independent ones.
func likeness(series ...[]float64) float64 {
	var next, own float64
	for _, x := range series {
		mean := stats.Mean(x)
		for i, v := range x {
			own += (v - mean) * (v - mean)
			if i > 0 {
				next += (v - mean) * (x[i-1] - mean)
			}
		}
	}
	if own == 0 {
		return 0
	}
	return min(0.9, max(0, next/own))
}

func (c *Comparison) sentence(base, other *Tally) string {
	d := c.Differences[0]
	if !d.share() {
		return fmt.Sprintf("%s took a median of %s, %s %s.", c.Other, seconds(other.Quantile(.5)), c.Baseline, seconds(base.Quantile(.5)))
	}
	limit := strings.TrimPrefix(d.label, "share under ")
	s := fmt.Sprintf("%s answers %s of its requests in less than %s, %s %s", c.Other, percent(d.Other), limit, c.Baseline, percent(d.Baseline))
	switch {
	case !d.Known:
		return s + "; there is too little time in the logs to say how sure that is."
	case d.Different && d.Delta > 0:
		s += fmt.Sprintf(": %s points more (95 %% interval %s to %s).", show.Grouped(d.Delta, 1), show.Grouped(d.Low, 1), show.Grouped(d.High, 1))
	case d.Different:
		s += fmt.Sprintf(": %s points fewer (95 %% interval %s to %s).", show.Grouped(-d.Delta, 1), show.Grouped(-d.High, 1), show.Grouped(-d.Low, 1))
	default:
		s += fmt.Sprintf(": no difference is shown (95 %% interval %s to %s points).", show.Signed(d.Low, 1), show.Signed(d.High, 1))
	}
	return s
}

// share reports whether the difference is between shares, in percent.
func (d Difference) share() bool { return strings.HasPrefix(d.What, "share") }

// value formats the value of one log; signed formats a difference.
func (d Difference) value(v float64) string {
	if d.share() {
		return percent(v)
	}
	return seconds(int64(math.Round(1e6 * v)))
}

func (d Difference) signed(v float64) string {
	if d.share() {
		return show.Signed(v, 1) + " points"
	}
	text := seconds(int64(math.Round(1e6 * math.Abs(v))))
	switch {
	case v < 0:
		return "−" + text
	case v > 0:
		return "+" + text
	}
	return "±" + text
}

// Document returns the comparison as a page of text.
func (c *Comparison) Document() (d document.Document) {
	d.Title = c.Other + " against " + c.Baseline
	d.Answer(c.Sentence, "", "")
	t := document.Table{Header: []string{"", show.KeepEnd(c.Baseline, 18), show.KeepEnd(c.Other, 18), "difference", "95 % interval"}}
	for _, x := range c.Differences {
		interval := "not known"
		if x.Known {
			interval = x.signed(x.Low) + " … " + x.signed(x.High)
			if !x.Different {
				interval += " ~"
			}
		}
		t.Rows = append(t.Rows, []string{x.label, x.value(x.Baseline), x.value(x.Other), x.signed(x.Delta), interval})
	}
	d.Add(t, document.Note(fmt.Sprintf("Intervals by Welch's t over %d and %d blocks of time, fewer for high percentiles; ~ means that no difference is shown.", c.Blocks[0], c.Blocks[1])))
	for _, w := range c.Warnings {
		d.Add(document.Warning(w))
	}
	return d
}

// Comparisons is the output of logs --compare --json.
type Comparisons struct {
	Version     int           `json:"version"`
	Comparisons []*Comparison `json:"comparisons"`
	Logs        []*Summary    `json:"logs"`
}

// ComparisonsOf collects comparisons of logs, with a summary of each log.
func ComparisonsOf(names []string, logs []*Tally, all []*Comparison) Comparisons {
	c := Comparisons{Version: 1, Comparisons: all}
	for i, t := range logs {
		c.Logs = append(c.Logs, t.Summary(names[i:i+1]))
	}
	return c
}
