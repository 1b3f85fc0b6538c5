package calibrate

import (
	"math"
	"slices"

	"linerate/internal/stats"
	"linerate/internal/stats/ministat"
)

// Decision is what a rule says of two arms.
type Decision struct {
	Differs   bool
	Low, High float64 // interval of the relative effect; NaN where the rule has none
}

// Rule decides whether two arms differ at 5 %.
type Rule struct {
	Name   string
	decide func(control, variant []float64) Decision
	// claims lists where the rule claims its nominal level; elsewhere it is
	// shown without a claim.
	claims func(s Shape, o Order, n int) Claim
}

// Claim is what a rule promises for a kind of data.
type Claim string

// The claims.
const (
	// Nominal: false positives 5 % and coverage 95 %, each ±1 point.
	Nominal Claim = "nominal"
	// Conservative: false positives at most 6 %, coverage at least 94 %,
	// and less power than could be had.
	Conservative Claim = "conservative"
	// None: no level is claimed, and a warning or the documentation says so.
	None Claim = "none"
	// Unreachable: the rule cannot reach 5 % at this n at all.
	Unreachable Claim = "unreachable"
)

// Rules lists linerate's two deciding rules and its permutation test, then ministat's and
// benchstat's rules.
func Rules() []Rule {
	return []Rule{
		{"linerate blocks", blocks, claimBlocks},
		{"linerate Welch", welch, claimWelch},
		{"permutation", permutation, claimPermutation},
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

func permutation(control, variant []float64) Decision {
	p := stats.SignFlip(logRatios(control, variant), 399, 1)
	return Decision{p.P <= 0.05, math.NaN(), math.NaN()}
}

// ministatRule is ministat's test at 95 %; its interval is the relative one.
func ministatRule(control, variant []float64) Decision {
	d, err := ministat.Compare(control, variant, 95)
	if err != nil {
		return Decision{}
	}
	return Decision{d.Proven, (d.Percent - d.PercentError) / 100, (d.Percent + d.PercentError) / 100}
}

// benchstatRule is benchstat's default: Mann–Whitney at 5 %, no interval on
// the difference. Without ties that is a comparison of U with its critical
// value, kept per sample size.
func benchstatRule() func(control, variant []float64) Decision {
	critical := map[int]int{}
	return func(control, variant []float64) Decision {
		n := len(control)
		c, ok := critical[n]
		if !ok {
			c, _ = stats.RankCritical(n, n, 0.05)
			critical[n] = c
		}
		u := rankU(control, variant)
		return Decision{min(u, n*n-u) <= c, math.NaN(), math.NaN()}
	}
}

// rankU is how many pairs have the variant above the control.
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
	l := make([]float64, len(x))
	for i := range l {
		l[i] = math.Log(x[i])
	}
	return l
}

// claimBlocks: block-wise log ratios of exchangeable arms are symmetric about
// zero whatever the shape, and randomisation inside blocks keeps them so under
// drift. Heavy tails and skew make t conservative in small samples; there it
// promises no more than to keep below its level.
func claimBlocks(s Shape, o Order, _ int) Claim {
	switch {
	case o == Consecutive && (s == Drifting || s == Correlated):
		return None
	case s == HeavyTail || s == Skewed:
		return Conservative
	}
	return Nominal
}

// claimWelch: independent trials.
func claimWelch(s Shape, _ Order, n int) Claim {
	switch {
	case s == Drifting || s == Correlated:
		return None
	case s == HeavyTail || s == Skewed || n < 10:
		return Conservative
	}
	return Nominal
}

// claimPermutation: exact for exchangeable arms, but discrete: with n blocks
// no p is below 2^(1−n).
func claimPermutation(s Shape, o Order, n int) Claim {
	switch {
	case math.Pow(2, float64(1-n)) > 0.05:
		return Unreachable
	case o == Consecutive && (s == Drifting || s == Correlated):
		return None
	}
	return Conservative
}

func noClaim(Shape, Order, int) Claim { return None }
