package stats

import (
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mathext"
)

// Interval is an estimate with its confidence interval. Low and High are NaN
// if there are too few data.
type Interval struct {
	Estimate, Low, High float64
	Level               float64 // intended coverage, e.g. 0.95
}

// noInterval returns an estimate without limits, for too few data.
func noInterval(estimate, level float64) Interval {
	return Interval{Estimate: estimate, Low: math.NaN(), High: math.NaN(), Level: level}
}

// Known reports whether the interval has limits.
func (i Interval) Known() bool { return !math.IsNaN(i.Low) && !math.IsNaN(i.High) }

// Contains reports whether x is inside, limits included.
func (i Interval) Contains(x float64) bool { return i.Low <= x && x <= i.High }

// Within reports whether the whole interval lies strictly between low and high.
func (i Interval) Within(low, high float64) bool { return low < i.Low && i.High < high }

// Half returns half the interval's width.
func (i Interval) Half() float64 { return (i.High - i.Low) / 2 }

// Map applies an increasing function to the estimate and both limits.
func (i Interval) Map(f func(float64) float64) Interval {
	return Interval{Estimate: f(i.Estimate), Low: f(i.Low), High: f(i.High), Level: i.Level}
}

// Percent turns a log ratio into percent: 100·(e^x − 1).
func Percent(logRatio float64) float64 { return 100 * math.Expm1(logRatio) }

// TQuantile is the p-quantile of Student's t with df degrees of freedom
// (df may be fractional, as Welch–Satterthwaite gives it).
func TQuantile(p, df float64) float64 {
	if p < 0.5 {
		return -TQuantile(1-p, df)
	}
	key := [2]float64{p, df}
	if known, ok := quantiles.Load(key); ok {
		return known.(float64)
	}
	x := mathext.InvRegIncBeta(df/2, 0.5, 2*(1-p))
	t := math.Sqrt(df * (1 - x) / x)
	if quantilesKept.Add(1) <= 10_000 {
		quantiles.Store(key, t)
	}
	return t
}

// quantiles has what TQuantile was asked first: analyses ask for few, and again and again.
var (
	quantiles     sync.Map
	quantilesKept atomic.Int64
)

// twoSidedT is P(|T| ≥ |t|) for Student's t.
func twoSidedT(t, df float64) float64 {
	if math.IsNaN(t) {
		return math.NaN()
	}
	if math.IsInf(t, 0) {
		return 0
	}
	return min(1, 2*UpperT(math.Abs(t), df))
}

// UpperT is P(T ≥ t) for Student's t with df degrees of freedom.
func UpperT(t, df float64) float64 {
	switch {
	case math.IsInf(t, 1):
		return 0
	case math.IsInf(t, -1):
		return 1
	case t < 0:
		return 1 - UpperT(-t, df)
	}
	return mathext.RegIncBeta(df/2, 0.5, df/(t*t+df)) / 2
}

// NormalQuantile is the p-quantile of the standard normal.
func NormalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

func normalUpper(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// meanPair holds the means of control and variant with their variances, for the interval
// of their ratio: a percentage of the control includes the control's error.
type meanPair struct{ a, b, aa, bb, ab, df float64 }

func meansOf(control, variant []float64, c *Comparison) *meanPair {
	m := &meanPair{df: c.Effect.DF}
	m.a, m.aa = MeanVariance(control)
	m.b, m.bb = MeanVariance(variant)
	na, nb := float64(len(control)), float64(len(variant))
	m.aa, m.bb = m.aa/na, m.bb/nb
	if c.Design != Independent {
		_, difference := MeanVariance(subtract(variant, control))
		m.ab, m.df = (m.aa+m.bb-difference/na)/2, na-1
	}
	if more := c.Effect.SE*c.Effect.SE - (m.aa + m.bb - 2*m.ab); more > 0 && c.random == nil { // from rounding
		m.bb += more
	}
	return m
}

// percent returns the interval of 100·(variant/control − 1) by Fieller's theorem (J. R. Statist.
// Soc. B 16, 1954): the ratios r at which the mean of variant − r·control cannot be told from 0.
func (m *meanPair) percent(level float64) (low, high float64) {
	t := TQuantile((1+level)/2, m.df)
	g := t * t
	p, q, r := m.a*m.a-g*m.aa, m.a*m.b-g*m.ab, m.b*m.b-g*m.bb
	root := q*q - p*r
	if !(p > 0) || !(root >= 0) { // the control cannot be told from 0: any ratio is possible
		return math.NaN(), math.NaN()
	}
	low, high = 100*((q-math.Sqrt(root))/p-1), 100*((q+math.Sqrt(root))/p-1)
	if m.a < 0 { // percentages are relative to the control's magnitude
		low, high = -high, -low
	}
	return low, high
}
