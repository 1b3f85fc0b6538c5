package accesslog

import (
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Options say what to read from a log and what to count.
type Options struct {
	Format *Format // nil: Detect
	Unit   Unit    // of the latency; 0: the format's
	Filter Filter
	Under  []time.Duration // shares strictly under these
	// Failed also counts the requests that the server failed (5xx).
	Failed bool
	// Timeline also keeps the distribution over time, for intervals that respect that
	// neighbouring requests are alike. Of a log without times the number of a line
	// stands for its time.
	Timeline bool
	// Each is called for each request that is counted; unix is when it ended or began, the number
	// of the line in a log without times. nil: not.
	Each func(line []byte, took time.Duration, unix int64)
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

// Tally is what was counted of a log.
type Tally struct {
	opts     *Options
	Lines    int64 // every line, bad and filtered out ones too
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
	timeline map[int64]*hdrhistogram.Histogram
	width    int64 // of a slot of the timeline, in seconds

	// Of the line being read.
	at    parts
	clock clock
	prev  int64 // time of the line before
}

// newHist is a latency histogram: 1 µs to a day, in so many significant digits (three
// are at most 0.1 % off).
func newHist(digits int) *hdrhistogram.Histogram { return hdrhistogram.New(1, MaxLatency, digits) }

// NewTally makes an empty tally.
func NewTally(o *Options) *Tally {
	t := &Tally{opts: o, Hist: newHist(3), Under: make([]int64, len(o.Under)), width: 1}
	if o.Timeline {
		t.timeline = map[int64]*hdrhistogram.Histogram{}
	}
	return t
}

// add counts one selected request.
func (t *Tally) add(us, unix int64, failed bool) {
	t.Selected++
	t.Sum += us
	_ = t.Hist.RecordValue(us) // add only gets what the histogram holds
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
	if failed {
		t.Failed++
	}
	if t.timeline != nil {
		_ = t.slot(unix).RecordValue(us)
	}
}

// maxSlots bounds the timeline: beyond it, slots double in width.
const maxSlots = 360

// slot is the part of the timeline that has a time. Slots start at multiples of their
// width.
func (t *Tally) slot(unix int64) *hdrhistogram.Histogram {
	start := func(unix int64) int64 { return unix - (unix%t.width+t.width)%t.width }
	if h := t.timeline[start(unix)]; h != nil {
		return h
	}
	if len(t.timeline) >= maxSlots {
		t.width *= 2
		old := t.timeline
		t.timeline = map[int64]*hdrhistogram.Histogram{}
		for at, h := range old {
			if into := t.timeline[start(at)]; into != nil {
				into.Merge(h)
			} else {
				t.timeline[start(at)] = h
			}
		}
		return t.slot(unix)
	}
	h := newHist(2)
	t.timeline[start(unix)] = h
	return h
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

// Merge adds the requests that other counted, but for its timeline.
func (t *Tally) Merge(other *Tally) {
	if other.Selected > 0 && (t.Selected == 0 || other.Min < t.Min) {
		t.Min = other.Min
	}
	t.Max = max(t.Max, other.Max)
	t.fine = t.fine || other.fine
	t.Lines += other.Lines
	t.Selected += other.Selected
	t.Sum += other.Sum
	t.Backward += other.Backward
	t.Failed += other.Failed
	for r, n := range other.Bad {
		t.Bad[r] += n
	}
	t.Hist.Merge(other.Hist)
	for i, n := range other.Under {
		t.Under[i] += n
	}
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
	r := t.resolution()
	return (min(t.Hist.ValueAtQuantile(q*100), t.Max) + r/2) / r * r
}

// blocks are the timeline in at most so many stretches of equal span, one at the least.
func (t *Tally) blocks(most int) (out []*hdrhistogram.Histogram) {
	starts := make([]int64, 0, len(t.timeline))
	for at := range t.timeline {
		starts = append(starts, at)
	}
	if len(starts) == 0 {
		return nil
	}
	slices.Sort(starts)
	span := (starts[len(starts)-1]-starts[0])/t.width + 1
	per, last := max(1, int64(math.Ceil(float64(span)/float64(max(1, most))))), int64(-1)
	for _, at := range starts {
		if i := (at - starts[0]) / t.width / per; i != last {
			out, last = append(out, newHist(2)), i
		}
		out[len(out)-1].Merge(t.timeline[at])
	}
	return out
}
