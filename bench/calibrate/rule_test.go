package calibrate

import (
	"math"
	"slices"

	"linerate/internal/compare"
	"linerate/internal/list"
	"linerate/internal/stats"
)

// Decision is the result of a rule for two arms.
type Decision struct {
	Differs   bool
	Low, High float64 // interval of the relative effect; NaN if the rule has none
}

// Rule decides at the 5 % level whether two arms differ.
type Rule struct {
	Name   string
	decide func(control, variant []float64) Decision
	// claims returns what the rule claims about its level for a kind of data.
	claims func(s Shape, o Order, n int) Claim
}

// Claim is what a rule claims for a kind of data.
type Claim string

// The claims.
const (
	// Nominal: false positives 5 % and coverage 95 %, each ±1 point.
	Nominal Claim = "nominal"
	// Conservative: false positives at most 6 %, coverage at least 94 %, at a
	// loss of power.
	Conservative Claim = "conservative"
	// None: no level is claimed, which a warning or the documentation says.
	None Claim = "none"
)

// Rules lists the two rules of linerate, then those of ministat and benchstat.
func Rules() []Rule {
	return []Rule{
		{"linerate blocks", blocks, claimBlocks},
		{"linerate Welch", welch, claimWelch},
		{"ministat", ministatRule, noClaim},
		{"benchstat", benchstatRule(), noClaim},
	}
}

func blocks(control, variant []float64) Decision {
	t := stats.OneSample(logRatios(control, variant), 0.95)
	return Decision{t.P <= 0.05, math.Expm1(t.Low), math.Expm1(t.High)}
}

func welch(control, variant []float64) Decision {
	t := stats.Welch(logarithms(control), logarithms(variant), 0.95)
	return Decision{t.P <= 0.05, math.Expm1(t.Low), math.Expm1(t.High)}
}

// ministatRule is ministat's test at 95 %, with the interval of the relative effect.
func ministatRule(control, variant []float64) Decision {
	d, err := compare.Ministat(control, variant, 95)
	if err != nil {
		return Decision{}
	}
	return Decision{d.Proven, (d.Percent - d.PercentError) / 100, (d.Percent + d.PercentError) / 100}
}

// benchstatRule is benchstat's default, the Mann–Whitney test at 5 %, without
// an interval. Without ties, it compares U with a critical value, which is
// cached per sample size.
func benchstatRule() func(control, variant []float64) Decision {
	critical := map[int]int{}
	return func(control, variant []float64) Decision {
		n := len(control)
		c, ok := critical[n]
		if !ok {
			c = rankCritical(n)
			critical[n] = c
		}
		u := rankU(control, variant)
		return Decision{min(u, n*n-u) <= c, math.NaN(), math.NaN()}
	}
}

// rankCritical returns the largest U whose two-sided p is at most 5 %, or −1 if there is none, by
// Mann and Whitney's recurrence on the sample of the largest value.
func rankCritical(n int) int {
	rows := make([][]float64, n+1) // probabilities of each U of i values against the j so far
	for i := range rows {
		rows[i] = make([]float64, n*n+1)
		rows[i][0] = 1
	}
	for j := 1; j <= n; j++ {
		for i := 1; i <= n; i++ {
			for u := i * j; u >= 0; u-- {
				w := rows[i-1][u] * float64(i) / float64(i+j)
				if u >= i {
					w += rows[i][u-i] * float64(j) / float64(i+j)
				}
				rows[i][u] = w
			}
		}
	}
	sum := 0.0
	for u, w := range rows[n] {
		if sum += w; sum > 0.025 {
			return u - 1
		}
	}
	return n * n
}

// rankU counts the pairs in which the variant is above the control.
func rankU(control, variant []float64) int {
	a, b := slices.Sorted(slices.Values(control)), slices.Sorted(slices.Values(variant))
	u, i := 0, 0
	for _, v := range b {
		for i < len(a) && a[i] < v {
			i++
		}
		u += i
	}
	return u
}

func logRatios(control, variant []float64) []float64 {
	d := make([]float64, len(control))
	for i := range d {
		d[i] = math.Log(variant[i] / control[i])
	}
	return d
}

func logarithms(x []float64) []float64 {
	return list.Map(x, math.Log)
}

// claimBlocks: with exchangeable arms, block-wise log ratios are symmetric
// about zero for any shape, and randomisation within blocks keeps them so
// under drift. Heavy tails and skew make t conservative in small samples, so
// only a bound is claimed for them.
func claimBlocks(s Shape, o Order, _ int) Claim {
	switch {
	case o == Consecutive && (s == Drifting || s == Correlated):
		return None
	case s == HeavyTail || s == Skewed:
		return Conservative
	}
	return Nominal
}

// claimWelch: Welch's test needs independent trials.
func claimWelch(s Shape, _ Order, n int) Claim {
	switch {
	case s == Drifting || s == Correlated:
		return None
	case s == HeavyTail || s == Skewed || n < 10:
		return Conservative
	}
	return Nominal
}

func noClaim(Shape, Order, int) Claim { return None }
