package stats

import (
	"fmt"
	"math"
	"sync"
)

// A difference is reported because it was found, and larger estimates are found more
// easily, so the mean estimate over studies that find it is too large (the winner's curse).
// Unselected removes that bias.
//
// It is the conditional bias-adjusted estimate: the effect under which a study with the same plan
// is expected, if it finds a difference, to estimate what this one did (Whitehead, Biometrika 73,
// 1986, for the unconditional one; Fan, DeMets & Lan, Biom. J. 46, 2004; for one look it is the
// maximum of the conditional likelihood, Zhong & Prentice, Biostatistics 9, 2008). A difference in
// either direction counts as found, so that the sign is preserved.

// exits describes where paths of Brownian motion without drift leave at a plan's looks.
type exits struct {
	t        []float64
	at, mass [][]float64 // beyond the boundary of each look
}

// selections caches them for each plan.
var selections sync.Map

// exitsOf computes where the paths leave, at looks at fractions t of the information:
// beyond ±c·√t.
func exitsOf(t, c []float64) *exits {
	key := fmt.Sprint(t, c)
	if e, ok := selections.Load(key); ok {
		return e.(*exits)
	}
	e := &exits{t: t}
	if len(t) > 1 { // a single look is quick, and its boundary may be any number
		defer selections.Store(key, e)
	}
	d, last := density{at: []float64{0}, weight: []float64{1}}, 0.0
	for k := range t {
		d = d.step(t[k] - last)
		last = t[k]
		edge := c[k] * math.Sqrt(t[k])
		var at, mass []float64
		h := d.at[1] - d.at[0]
		for i, x := range d.at {
			if share := min(1, max(0, (math.Abs(x)+h/2-edge)/h)); share > 0 && d.weight[i] > 1e-15 {
				at, mass = append(at, x), append(mass, share*d.weight[i])
			}
		}
		e.at, e.mass = append(e.at, at), append(e.mass, mass)
		d.cut(edge)
	}
	return e
}

// mean returns the expected estimate among paths that left, for a drift, by weighting with its
// likelihood ratio.
func (e *exits) mean(drift float64) float64 {
	sum, all := 0.0, 0.0
	for k, t := range e.t {
		for i, x := range e.at[k] {
			w := e.mass[k][i] * math.Exp(drift*x-drift*drift*t/2)
			all += w
			sum += w * x / t
		}
	}
	return sum / all
}

// unselected returns the drift for which the mean estimate among paths that left equals estimate.
func (e *exits) unselected(estimate float64) float64 {
	size := math.Abs(estimate)
	return math.Copysign(bisect(0, size, 24, func(v float64) bool { return e.mean(v) < size }), estimate)
}

// certain is the number of standard errors beyond the boundary at which an effect is certain to be found.
const certain = 5

// unselect sets the comparison's effect corrected for selection, on its scale, given the
// numbers of blocks at the planned looks, their levels, and the look at which it was found.
func (c *Comparison) unselect(looks []int, levels []float64, look int) {
	c.Unselected = math.NaN()
	z := c.Effect.Estimate / c.Effect.SE
	if !c.Verdict.Differs() || math.IsNaN(z) || math.IsInf(z, 0) {
		return
	}
	t, edges := make([]float64, len(looks)), make([]float64, len(looks))
	for k, n := range looks {
		df := c.Effect.DF
		if c.Design != Independent {
			df = float64(n - 1)
		}
		t[k], edges[k] = float64(n)/float64(looks[len(looks)-1]), TQuantile(1-levels[k]/2, df)
	}
	if c.Unselected = c.Effect.Estimate; math.Abs(z) < edges[look]+certain {
		root := math.Sqrt(t[look])
		c.Unselected = exitsOf(t, edges).unselected(z/root) * c.Effect.SE * root
	}
}
