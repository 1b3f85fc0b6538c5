package accesslog

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"linerate/internal/document"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// Difference of one log against a baseline, in one number.
type Difference struct {
	What      string  `json:"what"` // "share under 100ms" in points, or "p99" in seconds
	Baseline  float64 `json:"baseline"`
	Other     float64 `json:"other"`
	Delta     float64 `json:"difference"` // other − baseline
	Low       float64 `json:"ci_low"`     // 95 % interval; 0 where it is not known
	High      float64 `json:"ci_high"`
	Known     bool    `json:"interval_known"`
	Different bool    `json:"different"` // the interval excludes zero

	label string // What as people read it
}

// Comparison of one log against a baseline.
type Comparison struct {
	Baseline    string       `json:"baseline"`
	Other       string       `json:"other"`
	Blocks      [2]int       `json:"blocks"` // of time, baseline and other
	Differences []Difference `json:"differences"`
	Sentence    string       `json:"sentence"`
	Warnings    []string     `json:"warnings,omitempty"`
}

// Blocks of time: neighbouring requests meet the same caches, clients and
// neighbours and are alike, so a log is worth as many observations as it has
// stretches of time that are longer than the likeness reaches.
const (
	wantBlocks   = 40
	enoughBlocks = 10
	draws        = 1000
	seed         = 1 // of the bootstrap: a comparison is repeatable
)

// block is a stretch of time: its counts by value, sorted.
type block struct {
	values []int64
	upTo   []int64 // requests of at most the value
	under  int64   // of the threshold compared
	total  int64
}

// sparse lists a block's counts.
func sparse(h *hdrhistogram.Histogram, limit int64) block {
	var b block
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		b.total += bar.Count
		b.values, b.upTo = append(b.values, bar.From), append(b.upTo, b.total)
		if bar.To < limit || bar.From < limit && (bar.From+bar.To)/2 < limit {
			b.under += bar.Count
		}
	}
	return b
}

// Compare a log with a baseline; both tallies must have been made with
// Options.Timeline, and the same thresholds.
func Compare(baseName string, base *Tally, otherName string, other *Tally) *Comparison {
	c := &Comparison{Baseline: baseName, Other: otherName}
	if base.Selected == 0 || other.Selected == 0 {
		c.Sentence = "There is nothing to compare: a log has no selected request."
		return c
	}
	ha, hb := base.blocks(), other.blocks()
	c.Blocks = [2]int{len(ha), len(hb)}
	for i, u := range base.opts.Under {
		limit := u.Microseconds()
		d := contrast(sparseAll(ha, limit), sparseAll(hb, limit), underShare)
		// The estimates are exact counts; the blocks only give the spread.
		c.add("share under "+u.String(), "share under "+seconds(u.Microseconds()), 100*share(base.Under[i], base.Selected), 100*share(other.Under[i], other.Selected), d, 100)
	}
	a, b := sparseAll(ha, 0), sparseAll(hb, 0)
	for _, q := range quantiles {
		d := contrast(a, b, func(s series, w []int) float64 { return quantileOf(s, w, q.q) })
		c.add(q.name, q.name, float64(base.Quantile(q.q))/1e6, float64(other.Quantile(q.q))/1e6, d, 1e-6)
	}
	if n := min(len(ha), len(hb)); n < enoughBlocks {
		c.Warnings = append(c.Warnings, fmt.Sprintf("only %d blocks of time: the intervals are rough; compare longer logs", n))
	}
	c.Sentence = c.sentence(base, other)
	return c
}

// series is a log in blocks, with every value that occurs in it, sorted.
type series struct {
	blocks []block
	values []int64
}

func sparseAll(hs []*hdrhistogram.Histogram, limit int64) series {
	s := series{blocks: make([]block, len(hs))}
	for i, h := range hs {
		s.blocks[i] = sparse(h, limit)
		s.values = append(s.values, s.blocks[i].values...)
	}
	slices.Sort(s.values)
	s.values = slices.Compact(s.values)
	return s
}

// contrast is the interval of other − base of a statistic.
func contrast(a, b series, of func(series, []int) float64) stats.Interval {
	return stats.BlockBootstrap([]int{len(a.blocks), len(b.blocks)}, draws, 0.95, seed, func(w [][]int) float64 {
		return of(b, w[1]) - of(a, w[0])
	})
}

func underShare(s series, w []int) float64 {
	var n, total int64
	for i, b := range s.blocks {
		n += int64(w[i]) * b.under
		total += int64(w[i]) * b.total
	}
	if total == 0 {
		return math.NaN()
	}
	return float64(n) / float64(total)
}

// quantileOf the weighted blocks, in µs: by bisection over the values, so
// that no merged histogram has to be built for every draw.
func quantileOf(s series, w []int, q float64) float64 {
	var total int64
	for i, b := range s.blocks {
		total += int64(w[i]) * b.total
	}
	if total == 0 {
		return math.NaN()
	}
	need := int64(math.Ceil(q * float64(total)))
	k := sort.Search(len(s.values), func(k int) bool { return countUpTo(s.blocks, w, s.values[k]) >= need })
	return float64(s.values[min(k, len(s.values)-1)])
}

func countUpTo(blocks []block, w []int, v int64) int64 {
	var n int64
	for i, b := range blocks {
		if w[i] == 0 {
			continue
		}
		k, found := slices.BinarySearch(b.values, v)
		if found {
			k++
		}
		if k > 0 {
			n += int64(w[i]) * b.upTo[k-1]
		}
	}
	return n
}

func (c *Comparison) add(what, label string, base, other float64, i stats.Interval, scale float64) {
	d := Difference{What: what, label: label, Baseline: base, Other: other, Delta: other - base}
	if i.Known() {
		// The interval's width is the blocks'; its place is the exact
		// estimate's.
		shift := d.Delta - i.Estimate*scale
		d.Low, d.High, d.Known = i.Low*scale+shift, i.High*scale+shift, true
		d.Different = d.Low > 0 || d.High < 0
	}
	c.Differences = append(c.Differences, d)
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

// share reports whether a difference is one of shares, in percent.
func (d Difference) share() bool { return strings.HasPrefix(d.What, "share") }

// value prints a side of a difference, signed a distance between two.
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

// Document is a comparison for people.
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
	d.Add(t, document.Note(fmt.Sprintf("Intervals by a bootstrap over %d and %d blocks of time; ~ means that no difference is shown.", c.Blocks[0], c.Blocks[1])))
	for _, w := range c.Warnings {
		d.Add(document.Warning(w))
	}
	return d
}

// Comparisons is what logs --compare --json prints.
type Comparisons struct {
	Version     int           `json:"version"`
	Comparisons []*Comparison `json:"comparisons"`
	Logs        []*Summary    `json:"logs"`
}

// ComparisonsOf are comparisons of logs, with a summary of each log.
func ComparisonsOf(names []string, logs []*Tally, all []*Comparison) Comparisons {
	c := Comparisons{Version: 1, Comparisons: all}
	for i, t := range logs {
		c.Logs = append(c.Logs, t.Summary(names[i:i+1]))
	}
	return c
}
