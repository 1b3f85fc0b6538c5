package accesslog

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Options say what to read from a log and what to count.
type Options struct {
	Format *Format // nil: Detect
	Unit   *Unit   // of the latency; nil: the format's
	Filter Filter
	Under  []time.Duration // shares strictly under these
	// Failed also counts the requests that the server failed (5xx).
	Failed bool
	// Timeline also keeps the distribution over time, for intervals that respect that
	// neighbouring requests are alike. A log without times is cut into stretches of
	// lines instead.
	Timeline bool
}

// Reason is why a line is bad.
type Reason uint8

// The reasons, in the order a line is judged.
const (
	TooLong Reason = iota
	Shape
	BadStatus
	NoLatency
	Negative
	OutOfRange
	BadTime
	numReasons
)

// reasonTexts are what summaries say.
var reasonTexts = [numReasons]string{
	"longer than 1 MiB", "not of the format", "no valid status", "no request time", "negative request time",
	"request time of more than a day", "no valid time",
}

// Tally is what was counted of a log, or of a part of one. Tallies of parts
// merge into the tally of the whole, whatever the order.
type Tally struct {
	opts     *Options
	Lines    int64 // every line, bad and filtered out ones too
	Bytes    int64
	Selected int64 // lines that passed the filter and have a latency
	Bad      [numReasons]int64
	Example  [numReasons]string // the first bad line of a kind, cut
	Sum      int64              // of latencies, µs
	Min, Max int64              // of latencies, µs
	Hist     *hdrhistogram.Histogram
	Under    []int64 // counts strictly under Options.Under
	fine     bool    // not all latencies are whole milliseconds
	Backward int64   // times that lie more than a minute before the line above's
	Failed   int64   // selected ones with a status of 5xx; see Options.Failed
	timeline *timeline
}

// newHist is the latency histogram: 1 µs to a day, three significant digits
// (at most 0.1 % off).
func newHist() *hdrhistogram.Histogram { return hdrhistogram.New(1, MaxLatency, 3) }

// newSmallHist has two significant digits: at most 1 % off.
func newSmallHist() *hdrhistogram.Histogram { return hdrhistogram.New(1, MaxLatency, 2) }

// NewTally makes an empty tally.
func NewTally(o *Options) *Tally {
	t := &Tally{opts: o, Hist: newHist(), Under: make([]int64, len(o.Under))}
	if o.Timeline {
		t.timeline = newTimeline()
	}
	return t
}

// add counts one selected request.
func (t *Tally) add(us int64) {
	t.Selected++
	t.Sum += us
	_ = t.Hist.RecordValue(us) // add is only given what the histogram holds
	if us < t.Min || t.Selected == 1 {
		t.Min = us
	}
	t.Max = max(t.Max, us)
	t.fine = t.fine || us%1000 != 0
	for i, limit := range t.opts.Under {
		if us < limit.Microseconds() {
			t.Under[i]++
		}
	}
}

func (t *Tally) bad(r Reason, line []byte) {
	if t.Bad[r] == 0 {
		t.Example[r] = clip(line, 160)
	}
	t.Bad[r]++
}

// BadLines is how many lines could not be read.
func (t *Tally) BadLines() int64 {
	var n int64
	for _, b := range t.Bad {
		n += b
	}
	return n
}

// Merge adds what other counted.
func (t *Tally) Merge(other *Tally) {
	if other.Selected > 0 && (t.Selected == 0 || other.Min < t.Min) {
		t.Min = other.Min
	}
	t.Max = max(t.Max, other.Max)
	t.fine = t.fine || other.fine
	t.Lines += other.Lines
	t.Bytes += other.Bytes
	t.Selected += other.Selected
	t.Sum += other.Sum
	t.Backward += other.Backward
	t.Failed += other.Failed
	for r, n := range other.Bad {
		if t.Bad[r] == 0 {
			t.Example[r] = other.Example[r]
		}
		t.Bad[r] += n
	}
	t.Hist.Merge(other.Hist)
	for i, n := range other.Under {
		t.Under[i] += n
	}
	if t.timeline != nil && other.timeline != nil {
		t.timeline.merge(other.timeline)
	}
}

// Filter says in words what was selected.
func (t *Tally) Filter() string { return t.opts.Filter.String() }

// Mean latency in µs; NaN of nothing.
func (t *Tally) Mean() float64 {
	if t.Selected == 0 {
		return math.NaN()
	}
	return float64(t.Sum) / float64(t.Selected)
}

// resolution of the log's times in µs.
func (t *Tally) resolution() int64 {
	if t.fine {
		return 1
	}
	return 1000
}

// Quantile q (0 to 1) of the latency in µs, to the histogram's three digits
// and the log's own resolution.
func (t *Tally) Quantile(q float64) int64 {
	if t.Selected == 0 {
		return 0
	}
	return t.rounded(min(t.Hist.ValueAtQuantile(q*100), t.Max))
}

// rounded is a latency to the log's own resolution.
func (t *Tally) rounded(us int64) int64 {
	r := t.resolution()
	return (us + r/2) / r * r
}
