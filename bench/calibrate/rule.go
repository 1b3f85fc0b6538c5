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
)

// Rules lists linerate's two deciding rules, then ministat's and benchstat's.
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
			c = rankCritical(n)
			critical[n] = c
		}
		u := rankU(control, variant)
		return Decision{min(u, n*n-u) <= c, math.NaN(), math.NaN()}
	}
}

// rankCritical is the largest U whose two-sided p is at most 5 % without an effect, −1 where none is: by the
// recurrence of Mann & Whitney on which sample holds the largest value.
func rankCritical(n int) int {
	rows := make([][]float64, n+1) // chances of each U of i values against those so far
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

func noClaim(Shape, Order, int) Claim { return None }
