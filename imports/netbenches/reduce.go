package netbenches

import (
	"slices"
	"strconv"
)

// The archive's own reduction: leave out the start and the end of a log by
// lines, not by time.
const (
	scriptHead = 15
	scriptTail = 10
)

// MedianRule is how the middle of an even number of values is taken: it
// changed with the ministat of the machine that ran the script.
type MedianRule int

// The two generations of ministat.
const (
	MeanOfMiddle MedianRule = iota // mean of the middle two
	UpperMiddle                    // the upper of the middle two
)

// ScriptRows returns the rates that the archive's script keeps: reports at a
// rate that begins with a digit from 1 to 9, without those in the first 15 or
// the last 10 lines of the file.
func (l *Log) ScriptRows() []float64 {
	var rows []float64
	for _, iv := range l.Intervals {
		if iv.Line > scriptHead && iv.Line <= l.Lines-scriptTail && iv.PPS >= 1 {
			rows = append(rows, iv.PPS)
		}
	}
	return rows
}

// ScriptMedian is the archive's number for one iteration, as its script prints
// it with %.8g; ok is false when the log has no usable row.
func (l *Log) ScriptMedian(rule MedianRule) (pps float64, ok bool) {
	m, ok := median(l.ScriptRows(), rule)
	return eightDigits(m), ok
}

func median(v []float64, rule MedianRule) (float64, bool) {
	if len(v) == 0 {
		return 0, false
	}
	s := slices.Clone(v)
	slices.Sort(s)
	mid := len(s) / 2
	if len(s)%2 == 1 || rule == UpperMiddle {
		return s[mid], true
	}
	return (s[mid-1] + s[mid]) / 2, true
}

// eightDigits rounds as printf's %.8g does.
func eightDigits(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 8, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// The steady part of a log, by linerate's own rule: time, not lines.
const (
	settleMicros = 5_000_000 // after the first packets
	drainMicros  = 2_000_000 // before the last ones
)

// Steady is linerate's own reduction: packets over time between the fifth
// second after traffic began and the second second before it ended, every
// interval in between counted, those without packets too.
type Steady struct {
	PPS     float64 // Σ packets / Σ time
	Packets uint64
	Seconds float64
	Rows    int     // intervals counted
	Drift   float64 // rate of the last ten seconds over that of the first ten, minus 1
}

// Steady reduces the log by time; ok is false when nothing steady is in it.
func (l *Log) Steady() (s Steady, ok bool) {
	rows := trimByTime(l.Intervals)
	var micros uint64
	for _, iv := range rows {
		s.Packets += iv.Packets
		micros += iv.Micros
	}
	if micros == 0 || s.Packets == 0 {
		return s, false
	}
	s.Rows, s.Seconds = len(rows), float64(micros)/1e6
	s.PPS = float64(s.Packets) / s.Seconds
	s.Drift = drift(rows)
	return s, true
}

// trimByTime cuts silence, start and end off.
func trimByTime(iv []Interval) []Interval {
	first := slices.IndexFunc(iv, func(i Interval) bool { return i.Packets > 0 })
	if first < 0 {
		return nil
	}
	last := len(iv) - 1
	for iv[last].Packets == 0 {
		last--
	}
	return cutEnd(cutStart(iv[first:last+1], settleMicros), drainMicros)
}

func cutStart(iv []Interval, micros uint64) []Interval {
	var t uint64
	for i := range iv {
		if t >= micros {
			return iv[i:]
		}
		t += iv[i].Micros
	}
	return nil
}

func cutEnd(iv []Interval, micros uint64) []Interval {
	var t uint64
	for i := len(iv); i > 0; i-- {
		if t >= micros {
			return iv[:i]
		}
		t += iv[i-1].Micros
	}
	return nil
}

// drift compares the last ten seconds with the first ten; 0 when the steady
// part is shorter than both.
func drift(iv []Interval) float64 {
	const span = 10_000_000
	head, headTime, i := rateUntil(iv, span)
	rev := slices.Clone(iv)
	slices.Reverse(rev)
	tail, tailTime, j := rateUntil(rev, span)
	if i+j > len(iv) || headTime == 0 || tailTime == 0 || head == 0 {
		return 0
	}
	return (tail/float64(tailTime))/(head/float64(headTime)) - 1
}

func rateUntil(iv []Interval, span uint64) (packets float64, micros uint64, n int) {
	for n < len(iv) && micros < span {
		packets += float64(iv[n].Packets)
		micros += iv[n].Micros
		n++
	}
	return packets, micros, n
}
