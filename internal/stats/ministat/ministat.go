// Package ministat does what FreeBSD's ministat(1) does, to the byte, and
// reads what it has written: summary, plot and Student's t test of up to
// seven data sets, each against the first.
//
// Its statistics are kept as they are, quirks included, for comparison with
// the many results published with it; linerate's own verdicts come from
// package stats. Facts are from ministat's manual page, its behaviour, and
// usr.bin/ministat in FreeBSD's tree.
package ministat

import (
	"errors"
	"math"
	"slices"

	"linerate/internal/stats"
)

// MaxSets is how many data sets ministat has symbols for.
const MaxSets = 7

// symbols of the data sets; where sets overlap in the plot, the symbol is the
// one at the bitwise or of their numbers.
const symbols = " x+*%#@O"

// Generation is a version of ministat's arithmetic.
type Generation struct {
	Name string
	// MiddleTwo: the median of an even number of values is the mean of the
	// middle two, not the upper one.
	MiddleTwo bool
	// TwoPass: the variance is summed from deviations, not from squares.
	TwoPass bool
	// RatioError: the relative error allows for the error of the reference's
	// mean as well.
	RatioError bool
}

// The generations in use.
var (
	// Debian is version 20150715, the one Debian packages.
	Debian = Generation{Name: "20150715"}
	// Middle came shortly after, with FreeBSD 10.3; it is seen in results
	// published from late 2015 on.
	Middle = Generation{Name: "middle", MiddleTwo: true}
	// New is what FreeBSD has shipped since.
	New = Generation{Name: "new", MiddleTwo: true, TwoPass: true, RatioError: true}
)

// Generations lists them, oldest first.
func Generations() []Generation { return []Generation{Debian, Middle, New} }

// Set is one data set, in input order (sums depend on it in the last digit).
type Set struct {
	Name   string
	Points []float64
}

// set is a Set with what the generation computes of it.
type set struct {
	name             string
	points           []float64 // ascending
	n                float64
	mean, median     float64
	variance, stddev float64
}

// newSet computes a set's vitals. Every product is rounded before it is
// added, on every processor: fused multiply-add would change the last digit.
func newSet(s Set, g Generation) set {
	out := set{name: s.Name, points: slices.Clone(s.Points), n: float64(len(s.Points))}
	sortPoints(out.points)
	var sum, squares float64
	for _, v := range s.Points {
		sum += v
		squares += float64(v * v)
	}
	out.mean = sum / out.n
	half := len(out.points) / 2
	out.median = out.points[half]
	if g.MiddleTwo && len(out.points)%2 == 0 {
		out.median = (out.points[half] + out.points[half-1]) / 2
	}
	if g.TwoPass {
		squares = 0
		for _, v := range out.points {
			squares += float64((v - out.mean) * (v - out.mean))
		}
		out.variance = squares / (out.n - 1)
	} else {
		out.variance = (squares - float64(sum*sum)/out.n) / (out.n - 1)
	}
	out.stddev = root(out.variance)
	return out
}

// root is the square root; rounding makes some variances negative, and then
// ministat prints the NaN of amd64, which is signed.
func root(v float64) float64 {
	if v < 0 {
		return math.Copysign(math.NaN(), -1)
	}
	return math.Sqrt(v)
}

// sortPoints sorts as ministat does, which for all but NaNs and negative
// zeros is any way at all.
func sortPoints(x []float64) {
	special := func(v float64) bool { return math.IsNaN(v) || v == 0 && math.Signbit(v) }
	if slices.ContainsFunc(x, special) {
		slices.SortStableFunc(x, compareDoubles)
		return
	}
	stats.SortFloats(x)
}

// compareDoubles treats a NaN as equal to everything, as ministat does.
func compareDoubles(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (s set) min() float64 { return s.points[0] }
func (s set) max() float64 { return s.points[len(s.points)-1] }

// Difference is the outcome of comparing a set with the reference.
type Difference struct {
	Confidence   float64 // percent
	Proven       bool
	Delta, Error float64 // of the means
	Percent      float64 // of the reference's mean
	PercentError float64
	PooledSD     float64
}

// compare is ministat's test of s against the reference r.
func compare(s, r set, confidence int, g Generation) Difference {
	t := student(len(s.points)+len(r.points)-2, confidence)
	df := s.n + r.n - 2
	pooled := math.Sqrt((float64((s.n-1)*s.variance) + float64((r.n-1)*r.variance)) / df)
	d := Difference{Confidence: Confidences[confidence], PooledSD: pooled}
	d.Delta = s.mean - r.mean
	d.Error = t * float64(pooled*math.Sqrt(1/s.n+1/r.n))
	d.Percent = d.Delta * 100 / r.mean
	d.PercentError = d.Error * 100 / r.mean
	if g.RatioError {
		v := float64((s.n-1)*s.variance) + float64((r.n-1)*r.variance)*float64(s.mean*s.mean)/float64(r.mean*r.mean)
		v *= (s.n + r.n) / float64(s.n*r.n*df)
		d.PercentError = t * math.Sqrt(v) * 100 / r.mean
	}
	d.Proven = math.Abs(d.Delta) > d.Error
	return d
}

// Compare is ministat's test of a set against a reference, at a confidence
// level of Confidences. Both need three values or more.
func Compare(reference, other []float64, confidence float64, g Generation) (Difference, error) {
	c := slices.Index(Confidences, confidence)
	if c < 0 {
		return Difference{}, errors.New("ministat has no such confidence level")
	}
	if len(reference) < 3 || len(other) < 3 {
		return Difference{}, errors.New("ministat needs at least 3 values a set")
	}
	return compare(newSet(Set{Points: other}, g), newSet(Set{Points: reference}, g), c, g), nil
}
