package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// LeastPairs is the smallest number of pairs with which the randomisation
// test can reject at 5 %: 2/2⁶ = 0.031, 2/2⁵ = 0.063.
const LeastPairs = 6

// Values of a Comparison's Method for a live host: the test, or that there was none.
const (
	RandomisationTest = "randomisation test over the orders of pairs"
	GuardrailEnded    = "a guardrail ended the study"
)

// CompareSwitchback compares the windows of a machine that switches between
// control and variants, in pairs whose order was drawn at random. The
// randomisation test over those orders decides; inverting it gives the
// interval. Each arm has one value per pair, NaN if a window is invalid.
// P-values are corrected over the variants by Holm.
func CompareSwitchback(controls, variants []Arm, opt Options) []Comparison {
	return compareAll(len(variants), opt, func(i int, opt Options) Comparison { return compareSwitchback(controls[i], variants[i], opt) })
}

func compareSwitchback(control, variant Arm, opt Options) Comparison {
	c, a, b, d := pairs(control, variant, Switchback, opt, "%d of %d pairs lack a valid window of %s or %s", "look at why those windows are invalid; resume the study to repeat them")
	t := Randomise(d, opt.Draws, opt.Seed)
	c.random, c.rounding = &t, 1.96*roundingOf(a, b, c.Scale, opt.Bucket)
	c.testAt(1 - opt.Alpha) // Student's standard error is for planning only
	c.Method = RandomisationTest + ", on " + c.Scale.plural()
	c.finishPairs(a, b, opt)
	c.warnPairs(d, opt)
	return c
}

// testAt sets the comparison's effect, interval and p from its deciding test
// at a level.
func (c *Comparison) testAt(level float64) {
	if c.random == nil {
		c.Effect = newTest(c.Effect.Estimate, c.Effect.SE, c.Effect.DF, level)
		return
	}
	c.Effect.Interval = c.random.Interval(level)
	c.Effect.Low, c.Effect.High = c.Effect.Low-c.rounding, c.Effect.High+c.rounding
	c.Effect.P = 1
	if math.Abs(c.Effect.Estimate) >= c.rounding {
		c.Effect.P = max(c.random.P(-c.rounding), c.random.P(c.rounding))
	}
}

func (c *Comparison) warnPairs(d []float64, opt Options) {
	if c.N < LeastPairs {
		c.warn(TooFew, "run at least 6 pairs", "%d pairs cannot decide: their smallest p is %.3g", c.N, c.random.Least())
		return
	}
	if c.SD == 0 {
		c.warn(NoVariation, "check that the metric is measured again in every window and not rounded", "all %d effects of pairs are equal", c.N)
	}
	if o := FindOutliers(d); len(o) > 0 {
		c.warn(Outliers, "look at these windows; they are kept", "far from the rest: %s", numbers("pair", o))
	}
	c.warnPower(opt, func() string { return "run " + blocksText(c, opt) + " pairs" })
}

// Randomization is the randomisation test for pairs whose order was drawn at random,
// and its inversion. Under "the effect is θ", the difference of a pair, less θ,
// changes its sign with the pair's order, whatever the traffic, its trend or its
// autocorrelation did meanwhile: the test relies on the draw alone (Fisher 1935;
// Bojinov, Simchi-Levi & Zhao, Design and Analysis of Switchback Experiments, arXiv
// 2009.00148).
//
// For the mean as the statistic, the inversion has a closed form: an assignment that
// reverses the set F of pairs is as extreme as the observed one exactly if θ is at
// least the mean of F, so the confidence limits are order statistics of the means of
// subsets (typical values: Hartigan, JASA 64, 1969).
type Randomization struct {
	N        int     // pairs
	Estimate float64 // mean of the differences
	Exact    bool    // all assignments were enumerated
	means    []float64
	same     float64 // assignments equal to the observed one, itself included
	total    float64 // assignments counted, the observed one included
}

// Invert prepares the test of an estimate over units other than pairs, from other assignments
// that could have been drawn: typical lists the effects from which on each of them is as
// extreme as the observed one; same counts the assignments equal to it.
func Invert(estimate float64, units int, typical []float64, same int) Randomization {
	t := Randomization{N: units, Estimate: estimate, means: typical, same: float64(same + 1), total: float64(len(typical) + same + 1)}
	if len(typical) == 0 {
		t.N = 0
	}
	slices.Sort(t.means)
	return t
}

// exactOrders is the largest number of pairs for which all assignments are enumerated.
const exactOrders = 14

// Randomise prepares the test of differences, treated − control, one per
// pair. Beyond exactOrders pairs it samples draws assignments with a seed,
// and counts the observed one in addition (Phipson & Smyth 2010).
func Randomise(d []float64, draws int, seed uint64) Randomization {
	t := Randomization{N: len(d), Estimate: math.NaN()}
	if len(d) == 0 {
		return t
	}
	t.Estimate, _ = MeanVariance(d)
	if len(d) <= exactOrders {
		t.Exact, t.means = true, subsetMeans(d)
	} else {
		t.means = drawnMeans(d, draws, rand.New(rand.NewPCG(seed, uint64(len(d)))))
	}
	t.same, t.total = 1, float64(len(t.means)+1)
	slices.Sort(t.means)
	return t
}

// subsetMeans returns the means of all non-empty subsets.
func subsetMeans(d []float64) []float64 {
	all := 1 << len(d)
	sums, means := make([]float64, all), make([]float64, all-1)
	counts := make([]int, all)
	for set := 1; set < all; set++ {
		last := 0
		for set>>last&1 == 0 {
			last++
		}
		rest := set &^ (1 << last)
		sums[set], counts[set] = sums[rest]+d[last], counts[rest]+1
		means[set-1] = sums[set] / float64(counts[set])
	}
	return means
}

// drawnMeans returns the means of random subsets, drawing again if one is empty.
func drawnMeans(d []float64, draws int, r *rand.Rand) []float64 {
	means := make([]float64, 0, draws)
	for len(means) < draws {
		sum, n := 0.0, 0
		for i := 0; i < len(d); i += 64 {
			coins := r.Uint64()
			for j := i; j < min(i+64, len(d)); j++ {
				if coins&1 == 1 {
					sum += d[j]
					n++
				}
				coins >>= 1
			}
		}
		if n > 0 {
			means = append(means, sum/float64(n))
		}
	}
	return means
}

// Least returns the smallest two-sided p that this number of pairs, or draws,
// can give: six pairs are the fewest that reach 5 %.
func (t Randomization) Least() float64 {
	if t.total == 0 {
		return math.NaN()
	}
	return min(1, 2*t.same/t.total)
}

// above returns the p of "the effect is at most θ", below that of "at least θ".
func (t Randomization) above(theta float64) float64 {
	return (float64(t.upTo(theta+t.rounding())) + t.same) / t.total
}

func (t Randomization) below(theta float64) float64 {
	least, _ := slices.BinarySearch(t.means, theta-t.rounding()) // ties with θ count
	return (float64(len(t.means)-least) + t.same) / t.total
}

// upTo returns the number of means at or below a value.
func (t Randomization) upTo(v float64) int {
	n, _ := slices.BinarySearchFunc(t.means, v, func(mean, v float64) int {
		if mean <= v {
			return -1
		}
		return 1
	})
	return n
}

// rounding returns the largest difference between sums of the same numbers in different orders.
func (t Randomization) rounding() float64 {
	return 1e-12 * max(math.Abs(t.means[0]), math.Abs(t.means[len(t.means)-1]))
}

// P returns the two-sided p of "the effect is θ".
func (t Randomization) P(theta float64) float64 {
	if t.N == 0 {
		return math.NaN()
	}
	return min(1, 2*min(t.above(theta), t.below(theta)))
}

// Interval contains the effects that the test does not reject at 1−level. Its
// limits are NaN if there are too few pairs to reject anything at that level.
func (t Randomization) Interval(level float64) Interval {
	i := noInterval(t.Estimate, level)
	c := int(math.Floor((1-level)/2*t.total*(1+1e-12)-t.same)) + 1
	if t.N == 0 || c < 1 {
		return i
	}
	i.Low, i.High = t.means[c-1], t.means[len(t.means)-c]
	return i
}

// Above returns the p of "the effect is at most θ".
func (t Randomization) Above(theta float64) float64 {
	if t.N == 0 {
		return math.NaN()
	}
	return t.above(theta)
}

// Below returns the p of "the effect is at least θ".
func (t Randomization) Below(theta float64) float64 {
	if t.N == 0 {
		return math.NaN()
	}
	return t.below(theta)
}

// Equivalent returns the p of "the effect is outside low and high", by two
// one-sided tests.
func (t Randomization) Equivalent(low, high float64) float64 {
	if t.N == 0 {
		return math.NaN()
	}
	return max(t.above(low), t.below(high))
}
