package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// TQuantile is the p-quantile of Student's t with df degrees of freedom
// (df may be fractional, as Welch–Satterthwaite gives it).
func TQuantile(p, df float64) float64 {
	if p == 0.5 {
		return 0
	}
	x := mathext.InvRegIncBeta(df/2, 0.5, 2*min(p, 1-p))
	return math.Copysign(math.Sqrt(df*(1-x)/x), p-0.5)
}

// twoSidedT is P(|T| ≥ |t|) for Student's t (Abramowitz & Stegun 26.5.27 and 26.7.1).
func twoSidedT(t, df float64) float64 {
	switch {
	case math.IsInf(t, 0):
		return 0
	case t == 0:
		return 1
	case math.IsNaN(t):
		return t
	}
	return mathext.RegIncBeta(df/2, 0.5, df/(t*t+df))
}

// upperT is P(T ≥ t).
func upperT(t, df float64) float64 {
	if t < 0 {
		return 1 - twoSidedT(t, df)/2
	}
	return twoSidedT(t, df) / 2
}

// NormalQuantile is the p-quantile of the standard normal.
func NormalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

func normalUpper(z float64) float64 { return 0.5 * (1 - math.Erf(z/math.Sqrt2)) }

// chiSquaredQuantile is the p-quantile of χ² with df degrees of freedom.
func chiSquaredQuantile(p, df float64) float64 { return 2 * mathext.GammaIncRegInv(df/2, p) }

// noncentralT is P(T ≤ t) of the noncentral t with df degrees of freedom and delta,
// above 0 and no more than 37, by the twin series of Lenth's algorithm AS 243 (Applied
// Statistics 38, 1989): of a t below zero, the upper tail of −t about −delta.
func noncentralT(t, df, delta float64) float64 {
	if t < 0 {
		return 1 - noncentralT(-t, df, -delta)
	}
	const terms, enough = 1000, 1e-12
	logGamma := func(x float64) float64 { y, _ := math.Lgamma(x); return y }
	x, half := t*t/(t*t+df), delta*delta/2
	p := 0.5 * math.Exp(-half)
	q := math.Sqrt(2/math.Pi) * p * delta
	rest := 0.5 - p
	a, b := 0.5, df/2
	odd, even := mathext.RegIncBeta(a, b, x), 1-math.Pow(1-x, b)
	oddTerm := 2 * math.Pow(1-x, b) * math.Exp(a*math.Log(x)-(math.Log(math.Sqrt(math.Pi))+logGamma(b)-logGamma(0.5+b)))
	evenTerm := b * x * math.Pow(1-x, b)
	sum := p*odd + q*even
	for n := 1.0; n <= terms; n++ {
		a++
		odd, even = odd-oddTerm, even-evenTerm
		oddTerm *= x * (a + b - 1) / a
		evenTerm *= x * (a + b - 0.5) / (a + 0.5)
		p *= 2 * half / (2 * n)
		q *= 2 * half / (2*n + 1)
		rest -= p
		sum += p*odd + q*even
		if rest < 0 || math.Abs(2*rest*(odd-oddTerm)) < enough {
			break
		}
	}
	return sum + math.Erfc(delta/math.Sqrt2)/2
}
