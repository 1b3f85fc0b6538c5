package compare

import (
	"errors"
	"math"
	"slices"

	"linerate/internal/stats"
)

// Difference is what ministat says of a set and the reference set.
type Difference struct {
	Confidence   float64 // percent
	Proven       bool
	Delta, Error float64 // difference of the means, and its error
	Percent      float64 // relative to the reference's mean
	PercentError float64
	PooledSD     float64
}

// Ministat applies the test of FreeBSD's ministat(1), quirks included, to a set and a reference, for
// comparison with the many results published with it; linerate's own verdicts come from package
// stats. The confidence is one of ministat's, and both sets need at least three values. Its facts
// come from the manual page, its behaviour, and usr.bin/ministat in FreeBSD's tree.
func Ministat(reference, other []float64, confidence float64) (Difference, error) {
	level := slices.Index(confidences, confidence)
	if level < 0 {
		return Difference{}, errors.New("ministat does not have this confidence level")
	}
	if len(reference) < 3 || len(other) < 3 {
		return Difference{}, errors.New("ministat needs at least 3 values a set")
	}
	rmean, rvar := stats.MeanVariance(reference)
	mean, sq := stats.MeanVariance(other)
	rn, n := float64(len(reference)), float64(len(other))
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

// confidences are the levels ministat offers, in percent.
var confidences = []float64{80, 90, 95, 98, 99, 99.5}

// tails are the corresponding quantiles of Student's t. The last is a slip in
// ministat's table: two-sided 99.5 % would be 0.9975, but it holds 0.999.
var tails = []float64{0.9, 0.95, 0.975, 0.99, 0.995, 0.999}

// misprints are errors of the printed table from which ministat took its 99.5 column:
// too low by up to three in the last place for 7 to 12 degrees of freedom.
var misprints = map[int]float64{7: 4.782, 8: 4.499, 9: 4.296, 10: 4.143, 11: 4.024, 12: 3.929}

// student returns ministat's critical value: a table of three decimals up to
// 100 degrees of freedom, the normal quantile beyond.
func student(df, confidence int) float64 {
	if q, ok := misprints[df]; ok && confidence == len(tails)-1 {
		return q
	}
	q := 0.0
	if df > 100 {
		q = stats.NormalQuantile(tails[confidence])
	} else {
		q = stats.TQuantile(tails[confidence], float64(df))
	}
	return math.Round(q*1000) / 1000
}
