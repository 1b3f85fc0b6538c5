package stats

import "math"

// meanPair are the means of control and variant with their variances, as the interval of
// their ratio needs them: a percentage of the control has the control's error too.
type meanPair struct{ a, b, aa, bb, ab, df float64 }

func meansOf(control, variant []float64, c *Comparison) *meanPair {
	m := &meanPair{df: c.Effect.DF}
	m.a, m.aa = meanVariance(control)
	m.b, m.bb = meanVariance(variant)
	na, nb := float64(len(control)), float64(len(variant))
	m.aa, m.bb = m.aa/na, m.bb/nb
	if c.Design != Independent {
		_, difference := meanVariance(subtract(variant, control))
		m.ab, m.df = (m.aa+m.bb-difference/na)/2, na-1
	}
	if more := c.Effect.SE*c.Effect.SE - (m.aa + m.bb - 2*m.ab); more > 0 && c.random == nil { // of rounding
		m.bb += more
	}
	return m
}

// percent is the interval of 100·(variant/control − 1) by Fieller's theorem (J. R. Statist. Soc. B
// 16, 1954): the ratios r at which the mean of variant − r·control is not told from 0.
func (m *meanPair) percent(level float64) (low, high float64) {
	t := TQuantile((1+level)/2, m.df)
	g := t * t
	p, q, r := m.a*m.a-g*m.aa, m.a*m.b-g*m.ab, m.b*m.b-g*m.bb
	root := q*q - p*r
	if !(p > 0) || !(root >= 0) { // the control is not told from 0: any ratio may be
		return math.NaN(), math.NaN()
	}
	low, high = 100*((q-math.Sqrt(root))/p-1), 100*((q+math.Sqrt(root))/p-1)
	if m.a < 0 { // a percentage is of the control's size
		low, high = -high, -low
	}
	return low, high
}
