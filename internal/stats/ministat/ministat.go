// Package ministat is the test of FreeBSD's ministat(1), quirks included, for
// comparison with the many results published with it; linerate's own verdicts come
// from package stats. Facts are from ministat's manual page, its behaviour, and
// usr.bin/ministat in FreeBSD's tree.
package ministat

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Difference is the outcome of comparing a set with the reference.
type Difference struct {
	Confidence   float64 // percent
	Proven       bool
	Delta, Error float64 // of the means
	Percent      float64 // of the reference's mean
	PercentError float64
	PooledSD     float64
}

// Compare is ministat's test of a set against a reference, at a confidence
// level of Confidences. Both need three values or more.
func Compare(reference, other []float64, confidence float64) (Difference, error) {
	level := slices.Index(Confidences, confidence)
	if level < 0 {
		return Difference{}, errors.New("ministat has no such confidence level")
	}
	if len(reference) < 3 || len(other) < 3 {
		return Difference{}, errors.New("ministat needs at least 3 values a set")
	}
	rn, rmean, rvar := float64(len(reference)), stat.Mean(reference, nil), stat.Variance(reference, nil)
	n, mean, sq := float64(len(other)), stat.Mean(other, nil), stat.Variance(other, nil)
	df := n + rn - 2
	t := student(int(df), level)
	pooled := math.Sqrt(((n-1)*sq + (rn-1)*rvar) / df)
	d := Difference{Confidence: confidence, PooledSD: pooled, Delta: mean - rmean, Error: t * pooled * math.Sqrt(1/n+1/rn)}
	d.Percent = d.Delta * 100 / rmean
	// The relative error allows for the error of the reference's mean as well.
	v := ((n-1)*sq + (rn-1)*rvar*mean*mean/(rmean*rmean)) * (n + rn) / (n * rn * df)
	d.PercentError = t * math.Sqrt(v) * 100 / rmean
	d.Proven = math.Abs(d.Delta) > d.Error
	return d, nil
}
