package stats

import (
	"math"
	"slices"
)

// OutlierScore is the modified z score beyond which a value is flagged
// (Iglewicz & Hoaglin, How to Detect and Handle Outliers, 1993).
const OutlierScore = 3.5

// FindOutliers returns the indices of values whose modified z score,
// 0.6745·(x − median)/MAD, exceeds OutlierScore in absolute value. They are
// for a person to look at: nothing in this package drops a value. When more
// than half the values are equal the mean absolute deviation stands in for
// the MAD (1.2533·), as Iglewicz and Hoaglin advise.
func FindOutliers(x []float64) []int {
	if len(x) < 3 {
		return nil
	}
	s := slices.Clone(x)
	slices.Sort(s)
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
	var out []int
	for i, v := range x {
		if math.Abs(v-med)/scale > OutlierScore {
			out = append(out, i)
		}
	}
	return out
}
