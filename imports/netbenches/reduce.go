package netbenches

import (
	"slices"
	"strconv"

	"linerate/internal/stats"
)

// Reading is a log with both reductions, without its intervals.
type Reading struct {
	Log
	File    *File
	Script  float64 // by the archive's script
	Upper   float64 // the same, by the ministat of 2015: the upper of the middle two
	Usable  bool    // the script finds rows to reduce
	Steady  float64 // by linerate's rule
	Drift   float64 // rate of the last ten seconds relative to the first ten, minus 1
	Settled bool    // the log has a steady part
	First   int     // first line with a report, 0 if none
	Last    int     // last line with a report
	Empty   bool
}

func reading(f *File, l Log) *Reading {
	r := &Reading{File: f}
	r.Script, r.Upper, r.Usable = l.ScriptMedian()
	r.Steady, r.Drift, r.Settled = l.Steady()
	if n := len(l.Intervals); n > 0 {
		r.First, r.Last = l.Intervals[0].Line, l.Intervals[n-1].Line
	}
	l.Intervals = nil
	r.Log = l
	return r
}

// The archive's script omits the start and the end of a log by lines, not by
// time.
const (
	scriptHead = 15
	scriptTail = 10
)

// ScriptMedian returns the result of the archive's script for an iteration, rounded as by
// %.8g: the median of the reported rates that begin with a digit from 1 to 9, without
// those in the first 15 or the last 10 lines. ok is false if no row is left.
func (l *Log) ScriptMedian() (pps, upper float64, ok bool) {
	var rows []float64
	for _, iv := range l.Intervals {
		if iv.Line > scriptHead && iv.Line <= l.Lines-scriptTail && iv.PPS >= 1 {
			rows = append(rows, iv.PPS)
		}
	}
	if len(rows) == 0 {
		return 0, 0, false
	}
	slices.Sort(rows)
	return eightDigits(stats.Median(rows)), eightDigits(rows[len(rows)/2]), true
}

// eightDigits rounds as printf's %.8g does.
func eightDigits(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 8, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// linerate's own rule selects the steady part of a log by time, not by lines.
const (
	settleMicros = 5_000_000  // after the first packets
	drainMicros  = 2_000_000  // before the last packets
	driftMicros  = 10_000_000 // at each end of the steady part
)

// Steady is linerate's own reduction: packets divided by time, from five seconds
// after traffic began to two seconds before it ended, including intervals without
// packets. drift is the change from the first to the last ten seconds. ok is false
// without a steady part.
func (l *Log) Steady() (pps, drift float64, ok bool) {
	iv := l.Intervals
	loud := func(i Interval) bool { return i.Packets > 0 }
	first := slices.IndexFunc(iv, loud)
	if first < 0 {
		return 0, 0, false
	}
	last := len(iv) - 1
	for !loud(iv[last]) {
		last--
	}
	iv = iv[first : last+1]
	_, head := spanOf(iv, settleMicros, false)
	_, tail := spanOf(iv, drainMicros, true)
	if head+tail >= len(iv) {
		return 0, 0, false
	}
	iv = iv[head : len(iv)-tail]
	pps, n := spanOf(iv, 0, false)
	if !(pps > 0) {
		return 0, 0, false
	}
	begin, i := spanOf(iv, driftMicros, false)
	end, j := spanOf(iv, driftMicros, true)
	if i+j > n || !(begin > 0) || !(end >= 0) {
		return pps, 0, true
	}
	return pps, end/begin - 1, true
}

// spanOf returns the rate over at least the given time from the start or the end, and
// how many intervals that includes; micros 0 means all.
func spanOf(iv []Interval, micros uint64, fromEnd bool) (pps float64, n int) {
	var packets, took uint64
	for n < len(iv) && (micros == 0 || took < micros) {
		i := iv[n]
		if fromEnd {
			i = iv[len(iv)-1-n]
		}
		packets += i.Packets
		took += i.Micros
		n++
	}
	return float64(packets) * 1e6 / float64(took), n
}
