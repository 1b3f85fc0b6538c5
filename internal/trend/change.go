package trend

import (
	"math"
	"time"

	"linerate/internal/stats"
)

// Kind is how a series changed.
type Kind string

// The kinds of change.
const (
	Step  Kind = "step"  // from one run to the next
	Drift Kind = "drift" // bit by bit: a line fits better than a step
)

// Change is a suspected change of a series.
type Change struct {
	Kind Kind `json:"kind"`
	// Before is the last run before a step, or the first of a drift; After is the first run
	// behind a step, or the last of a drift.
	Before Run `json:"before"`
	After  Run `json:"after"`
	// From and To are the medians on both sides of a step, and the ends of a drift's line.
	From    float64         `json:"from"`
	To      float64         `json:"to"`
	Percent stats.Number    `json:"change_percent"`
	Way     stats.Direction `json:"direction"`
	// Worse: it goes where the metric is worse.
	Worse bool `json:"worse"`
	// P is of the split, by permutation; of a drift the smallest of its splits.
	P float64 `json:"p"`
	State
}

// At is when the change was there for the first time, or a drift was for the last.
func (c Change) At() time.Time { return c.After.Started }

// changes describes what was found: neighbouring splits that a line explains better are
// one drift, the longest such.
func (s *Series) changes(x []float64, found []stats.ChangePoint) (out []Change) {
	edges := []int{0}
	for _, f := range found {
		edges = append(edges, f.Index)
	}
	edges = append(edges, len(x))
	for i := 0; i < len(found); {
		last := len(found) - 1
		for last >= i && !isLine(x, edges[i:last+3]) {
			last--
		}
		if last < i {
			f := found[i]
			out = append(out, s.change(Step, f.Index-1, f.Index, f.Before, f.After, f.P))
			i++
			continue
		}
		from, to := edges[i], edges[last+2]
		slope, level := line(x[from:to])
		p := found[i].P
		for _, f := range found[i : last+1] {
			p = min(p, f.P)
		}
		out = append(out, s.change(Drift, from, to-1, level, level+slope*float64(to-1-from), p))
		i = last + 1
	}
	return out
}

func (s *Series) change(kind Kind, before, after int, from, to, p float64) Change {
	c := Change{Kind: kind, Before: s.Points[before].Run, After: s.Points[after].Run, From: from, To: to, P: p, Way: stats.HigherIsBetter, State: suspected()}
	if to < from {
		c.Way = stats.LowerIsBetter
	}
	c.Worse = c.Way != s.Better
	c.Percent = stats.Num(100 * (to/from - 1))
	return c
}

// line fits a straight line through values at 0, 1, 2 …: Theil and Sen's median slope, which
// a few outliers do not move.
func line(x []float64) (slope, level float64) {
	var slopes []float64
	for i := range x {
		for j := range i {
			slopes = append(slopes, (x[i]-x[j])/float64(i-j))
		}
	}
	slope = stats.Median(slopes)
	rest := make([]float64, len(x))
	for i := range x {
		rest[i] = x[i] - slope*float64(i)
	}
	return slope, stats.Median(rest)
}

// isLine reports whether a straight line explains the values between the first and the
// last edge better than levels between all edges do, by Schwarz's criterion (BIC) of
// double exponential noise, which outliers do not rule.
func isLine(x []float64, edges []int) bool {
	from, to := edges[0], edges[len(edges)-1]
	slope, level := line(x[from:to])
	var along, levels float64
	for i := 1; i < len(edges); i++ {
		segment := x[edges[i-1]:edges[i]]
		median := stats.Median(segment)
		for j, v := range segment {
			levels += math.Abs(v - median)
			along += math.Abs(v - level - slope*float64(edges[i-1]+j-from))
		}
	}
	n := float64(to - from)
	more := float64(2*(len(edges)-1)-1) - 2 // levels and places of the steps, beyond slope and level
	return along > 0 && 2*n*math.Log(along/levels) < more*math.Log(n)
}
