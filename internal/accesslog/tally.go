package accesslog

import (
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Options select what to read from a log and what to count.
type Options struct {
	Format *Format // nil: detected
	Unit   Unit    // of the latency; 0: that of the format
	Filter Filter
	Under  []time.Duration // thresholds: count the requests strictly under each
	// Failed also counts the requests that failed with a server error (5xx).
	Failed bool
	// Timeline also keeps the distribution over time, for intervals that allow for
	// correlated requests. In a log without times, the line number is used as the time.
	Timeline bool
	// Each is called for each request counted, unless nil; unix is when it ended or began, or the
	// line number in a log without times.
	Each func(line []byte, took time.Duration, unix int64)
}

// Reason is why a line was rejected.
type Reason uint8

// The reasons, in the order in which lines are checked.
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

// reasonTexts are the reasons as summaries print them.
var reasonTexts = [numReasons]string{
	"longer than 1 MiB", "not of the format", "no valid status", "no request time", "negative request time",
	"request time of more than a day", "no valid time",
}

// Tally holds the counts of a log.
type Tally struct {
	opts     *Options
	Lines    int64 // all lines, including bad ones and those filtered out
	Selected int64 // lines that passed the filter and have a latency
	Bad      [numReasons]int64
	Example  [numReasons]string // the first bad line of each kind, shortened
	Sum      int64              // of latencies, µs
	Min, Max int64              // of latencies, µs
	Hist     *hdrhistogram.Histogram
	Under    []int64 // counts strictly under each of Options.Under
	fine     bool    // some latencies are not whole milliseconds
	Backward int64   // lines whose time is more than a minute before that of the line above
	Failed   int64   // selected requests with status 5xx; see Options.Failed
	timeline map[int64]*hdrhistogram.Histogram
	width    int64 // width of a slot of the timeline, in seconds

	// State of the line being read.
	at    parts
	clock clock
	prev  int64 // time of the previous line
}

// newHist returns a latency histogram from 1 µs to a day, with the given number of
// significant digits (three are within 0.1 %).
func newHist(digits int) *hdrhistogram.Histogram { return hdrhistogram.New(1, MaxLatency, digits) }

// NewTally returns an empty tally.
func NewTally(o *Options) *Tally {
	t := &Tally{opts: o, Hist: newHist(3), Under: make([]int64, len(o.Under)), width: 1}
	if o.Timeline {
		t.timeline = map[int64]*hdrhistogram.Histogram{}
	}
	return t
}

// add counts a selected request.
func (t *Tally) add(us, unix int64, failed bool) {
	t.Selected++
	t.Sum += us
	_ = t.Hist.RecordValue(us) // within the histogram's range
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

// maxSlots limits the timeline: when it is reached, the slot width doubles.
const maxSlots = 360

// slot returns the slot of the timeline that contains a time. Slots start at
// multiples of their width.
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

// BadLines returns how many lines could not be read.
func (t *Tally) BadLines() int64 {
	var n int64
	for _, b := range t.Bad {
		n += b
	}
	return n
}

// Merge adds the counts of other, except its timeline.
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

// resolution returns the resolution of the log's times in µs.
func (t *Tally) resolution() int64 {
	if t.fine {
		return 1
	}
	return 1000
}

// Quantile returns quantile q (0 to 1) of the latency in µs, to the
// histogram's three digits and the log's own resolution.
func (t *Tally) Quantile(q float64) int64 {
	if t.Selected == 0 {
		return 0
	}
	r := t.resolution()
	return (min(t.Hist.ValueAtQuantile(q*100), t.Max) + r/2) / r * r
}

// blocks divides the timeline into at most the given number of blocks of equal duration, at least one.
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
