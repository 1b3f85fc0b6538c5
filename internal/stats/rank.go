package stats

import (
	"math"
	"slices"
	"sync"
)

// exactPairs bounds n·m for the exact null distribution; beyond it the normal
// approximation is good to more digits than anybody prints.
const exactPairs = 2500

// RankTest is the outcome of a Mann–Whitney test.
type RankTest struct {
	U        float64  // pairs with b > a, ties counting half
	P        float64  // two-sided
	Exact    bool     // counted, not approximated
	Smallest float64  // the smallest p that these sample sizes can give
	Shift    Interval // Hodges–Lehmann estimate of b − a; Level is the exact coverage attained
}

// mannWhitney tests whether one of two independent, sorted samples tends to larger
// values, and estimates by how much (Mann & Whitney 1947; Hodges & Lehmann
// 1963). Small samples are counted exactly, ties included; large ones use the
// normal approximation with corrections for ties and continuity. The shift's
// interval uses the distribution without ties (Hollander & Wolfe 1999, §4.3)
// and is unknown when no pair of order statistics reaches the level.
func mannWhitney(sa, sb []float64, level float64) RankTest {
	n, m := len(sa), len(sb)
	if n == 0 || m == 0 {
		nan := math.NaN()
		return RankTest{U: nan, P: nan, Smallest: nan, Shift: noInterval(nan, level)}
	}
	u, groups := rankSum(sa, sb)
	r := RankTest{U: u, Exact: n*m <= exactPairs, Smallest: smallestP(n, m)}
	if r.Exact {
		r.P = exactRankP(groups, n, m, u)
	} else {
		r.P = normalRankP(groups, n, m, u)
	}
	r.Shift = hodgesLehmann(sa, sb, level)
	return r
}

// tieGroup is a run of equal values in the pooled sample.
type tieGroup struct{ a, b int }

// rankSum walks both sorted samples and returns U of b over a with the runs.
func rankSum(a, b []float64) (u float64, groups []tieGroup) {
	i, j := 0, 0
	groups = make([]tieGroup, 0, len(a)+len(b))
	for i < len(a) || j < len(b) {
		v := math.Inf(1)
		if i < len(a) {
			v = a[i]
		}
		if j < len(b) && b[j] < v {
			v = b[j]
		}
		g, below := tieGroup{}, i
		for ; i < len(a) && a[i] == v; i++ {
			g.a++
		}
		for ; j < len(b) && b[j] == v; j++ {
			g.b++
		}
		u += float64(g.b) * (float64(below) + float64(g.a)/2)
		groups = append(groups, g)
	}
	return u, groups
}

// smallestP is 2/C(n+m, n): both extreme orders of the pooled sample.
func smallestP(n, m int) float64 {
	l, _ := math.Lgamma(float64(n + m + 1))
	ln, _ := math.Lgamma(float64(n + 1))
	lm, _ := math.Lgamma(float64(m + 1))
	return min(1, 2*math.Exp(ln+lm-l))
}

// exactRankP counts, over all ways to deal the pooled values to the two
// samples, how often U is at least as far from its mean as seen.
func exactRankP(groups []tieGroup, n, m int, u float64) float64 {
	var dist []float64
	step := 2
	if slices.ContainsFunc(groups, func(g tieGroup) bool { return g.a+g.b > 1 }) {
		// Who is a and who is b does not matter to the distance from the mean.
		dist, step = dealDistribution(groups, max(n, m), min(n, m)), 1
	} else {
		dist = rankDistribution(n, m)
	}
	centre := n * m // of 2U
	seen := int(math.Abs(math.Round(2*u) - float64(centre)))
	p := 0.0
	for s, w := range dist {
		if d := step*s - centre; d >= seen || d <= -seen {
			p += w
		}
	}
	return min(1, p)
}

// dealDistribution is the probability of each value of 2U under the null,
// with the tie runs as they are. It fills run by run: state is how many
// values of b have been dealt and 2U so far.
func dealDistribution(groups []tieGroup, n, m int) []float64 {
	cur, next := states(n, m), states(n, m)
	cur[0][0] = 1
	dealt := 0
	for _, g := range groups {
		dealRun(cur, next, dealt, g.a+g.b, n)
		dealt += g.a + g.b
		cur, next = next, cur
	}
	total := 0.0
	for _, w := range cur[m] {
		total += w
	}
	for s := range cur[m] {
		cur[m][s] /= total
	}
	return cur[m]
}

func states(n, m int) [][]float64 {
	rows := make([][]float64, m+1)
	for k := range rows {
		rows[k] = make([]float64, 2*n*m+1)
	}
	return rows
}

// dealRun adds a run of size t to the states: k of them go to b, each beating all values of
// a dealt before and half of those in the same run. Weights are counts of ways; only their
// ratios matter.
func dealRun(cur, next [][]float64, dealt, t, n int) {
	for k := range next {
		clear(next[k])
	}
	m := len(cur) - 1
	for have := 0; have <= min(m, dealt); have++ {
		below := dealt - have // values of a so far
		ways := 1.0
		for k := 0; k <= t && have+k <= m; k++ {
			if k > 0 {
				ways *= float64(t-k+1) / float64(k)
			}
			if below > n || below+t-k > n {
				continue
			}
			// With have values of b among those dealt 2U is at most 2·have·below.
			shift(next[have+k], cur[have][:2*have*below+1], k*(2*below+t-k), ways)
		}
	}
}

// shift adds ways·from to to, moved up by add.
func shift(to, from []float64, add int, ways float64) {
	for s, w := range from[:min(len(from), len(to)-add)] {
		to[s+add] += w * ways
	}
}

// normalRankP is the normal approximation with the variance reduced by ties
// and half a step of continuity (Lehmann 1975, §1.2 and §1.4).
func normalRankP(groups []tieGroup, n, m int, u float64) float64 {
	fn, fm := float64(n), float64(m)
	total, ties := fn+fm, 0.0
	for _, g := range groups {
		t := float64(g.a + g.b)
		ties += t * (t*t - 1)
	}
	variance := fn * fm / 12 * (total + 1 - ties/(total*(total-1)))
	if variance <= 0 {
		return 1
	}
	z := max(0, math.Abs(u-fn*fm/2)-0.5) / math.Sqrt(variance)
	return min(1, 2*normalUpper(z))
}

// RankCritical is the largest c with P(U ≤ c) ≤ alpha/2 under the null
// without ties, and that probability; c is −1 when no U reaches the level.
func RankCritical(n, m int, alpha float64) (c int, p float64) {
	if n*m > exactPairs {
		fn, fm := float64(n), float64(m)
		sd := math.Sqrt(fn * fm * (fn + fm + 1) / 12)
		c = int(math.Floor(fn*fm/2 - 0.5 + NormalQuantile(alpha/2)*sd))
		return c, 1 - normalUpper((float64(c)+0.5-fn*fm/2)/sd)
	}
	c = -1
	for u, w := range rankDistribution(n, m) {
		if p+w > alpha/2 {
			break
		}
		c, p = u, p+w
	}
	return c, p
}

// rankDistributions are those worked out before, by n and m: a study has arms of
// the same sizes, and is looked at again and again.
var rankDistributions sync.Map

// rankDistribution is P(U = u), u = 0…nm, without ties. It is not the caller's to
// change.
func rankDistribution(n, m int) []float64 {
	sizes := [2]int{n, m}
	known, ok := rankDistributions.Load(sizes)
	if !ok {
		known, _ = rankDistributions.LoadOrStore(sizes, newRankDistribution(n, m))
	}
	return known.([]float64)
}

// newRankDistribution is rankDistribution's, by the recurrence of Mann & Whitney
// on which sample holds the largest value.
func newRankDistribution(n, m int) []float64 {
	// rows[i][u]: weights for i values of a, j of b, growing j.
	rows := make([][]float64, n+1)
	for i := range rows {
		rows[i] = make([]float64, n*m+1)
		rows[i][0] = 1
	}
	for j := 1; j <= m; j++ {
		for i := 1; i <= n; i++ {
			for u := i * j; u >= 0; u-- {
				w := 0.0
				if u >= i { // the largest is b's: it beats i values of a
					w = rows[i][u-i] * float64(j) / float64(i+j)
				}
				if u <= (i-1)*j {
					w += rows[i-1][u] * float64(i) / float64(i+j)
				}
				rows[i][u] = w
			}
		}
	}
	return rows[n]
}
