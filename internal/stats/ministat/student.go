package ministat

import (
	"math"

	"linerate/internal/stats"
)

// Confidences are the levels ministat offers, in percent.
var Confidences = []float64{80, 90, 95, 98, 99, 99.5}

// tails are the quantiles of Student's t behind them. The last is a slip in
// ministat's table: two-sided 99.5 % would be 0.9975, but it holds 0.999.
var tails = []float64{0.9, 0.95, 0.975, 0.99, 0.995, 0.999}

// misprints of the printed table that ministat took its 99.5 column from: low
// by up to three in the last place for 7 to 12 degrees of freedom.
var misprints = map[int]float64{7: 4.782, 8: 4.499, 9: 4.296, 10: 4.143, 11: 4.024, 12: 3.929}

// student is ministat's critical value: a table of three decimals up to 100
// degrees of freedom, the normal's quantile beyond.
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
