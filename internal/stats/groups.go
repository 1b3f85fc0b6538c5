package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"linerate/internal/list"
)

// Groups is the outcome of a one-way analysis of variance: whether the means of
// several groups differ by more than the scatter within them explains.
type Groups struct {
	F float64 // variance between the groups' means ÷ variance within
	// DFBetween and DFWithin are its degrees of freedom.
	DFBetween, DFWithin float64
	P                   float64 // of no difference; NaN where it cannot be asked
}

// AmongGroups is Fisher's F test of equal means (one-way analysis of variance,
// fixed effects; Montgomery, Design and Analysis of Experiments, ch. 3). Values
// that are no numbers and groups without any are left out. Fewer than two groups, or
// no group with two values, give no p.
func AmongGroups(groups [][]float64) Groups {
	var all, kept []float64
	var sizes []int
	within := 0.0
	for _, g := range groups {
		x := list.Filter(g, isNumber)
		if len(x) == 0 {
			continue
		}
		mean, v := meanVariance(x)
		if len(x) > 1 {
			within += v * float64(len(x)-1)
		}
		all, kept, sizes = append(all, x...), append(kept, mean), append(sizes, len(x))
	}
	out := Groups{F: math.NaN(), P: math.NaN(), DFBetween: float64(len(kept) - 1), DFWithin: float64(len(all) - len(kept))}
	if out.DFBetween < 1 || out.DFWithin < 1 {
		return out
	}
	total, _ := meanVariance(all)
	between := 0.0
	for i, m := range kept {
		between += float64(sizes[i]) * (m - total) * (m - total)
	}
	out.F = (between / out.DFBetween) / (within / out.DFWithin)
	switch {
	case within == 0 && between == 0:
		out.F, out.P = 0, 1
	case within == 0:
		out.F, out.P = math.Inf(1), 0
	default:
		out.P = mathext.RegIncBeta(out.DFWithin/2, out.DFBetween/2, out.DFWithin/(out.DFWithin+out.DFBetween*out.F)) // the upper tail of F
	}
	return out
}
