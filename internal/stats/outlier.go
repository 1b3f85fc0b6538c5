package stats

import (
	"math"
)

// OutlierLimit is the modified z score beyond which a value of a sample of n
// is flagged: where one normal sample in a hundred has such a value. Iglewicz
// and Hoaglin's fixed 3.5 (How to Detect and Handle Outliers, 1993) would
// flag something in a fifth of all samples of five, whose MAD is often tiny
// by chance, and in every sample of a hundred thousand. The limit is the
// normal quantile with a factor for the MAD's own scatter, fitted to 20,000
// simulated samples of each size from 3 to 1,000.
func OutlierLimit(n int) float64 {
	fn := float64(n)
	return NormalQuantile(1-0.005/fn) * (1 + 10/fn + math.Pow(6.5/fn, 4))
}

// FindOutliers returns the indices of values whose modified z score,
// 0.6745·(x − median)/MAD, exceeds OutlierLimit in absolute value. They are
// for a person to look at: nothing in this package drops a value. When more
// than half the values are equal the mean absolute deviation stands in for
// the MAD (1.2533·), as Iglewicz and Hoaglin advise.
func FindOutliers(x []float64) []int {
	if len(x) < 4 {
		return nil
	}
	s := ascending(x)
	med := Quantile(s, 0.5)
	scale := medianDeviation(s, med) / 0.6745
	if scale == 0 {
		for _, v := range x {
			scale += 1.2533 * math.Abs(v-med) / float64(len(x))
		}
	}
	if scale == 0 {
		return nil
	}
	limit := OutlierLimit(len(x))
	var out []int
	for i, v := range x {
		if math.Abs(v-med)/scale > limit {
			out = append(out, i)
		}
	}
	return out
}
