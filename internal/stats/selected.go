package stats

import (
	"fmt"
	"math"
	"sync"
)

// A difference is reported because it was found, and it is found the sooner the larger it
// looks, so among studies that find it the mean estimate is too large (the winner's curse).
// Unselected removes that bias.
//
// It is the conditional bias-adjusted estimate: the effect under which a study by the same
// plan, given that it finds a difference, is expected to estimate what this one did (Whitehead,
// Biometrika 73, 1986, for the unconditional one; Fan, DeMets & Lan, Biom. J. 46, 2004; for one look
// that is the conditional likelihood's maximum, Zhong & Prentice, Biostatistics 9, 2008). A difference in either
// direction counts as found, so that the sign stays.

// exits are where the paths of Brownian motion leave a plan's looks, under no drift.
type exits struct {
	t        []float64
	at, mass [][]float64 // beyond the boundary of each look
}

// selections are worked out once for each plan.
var selections sync.Map

// exitsOf follows the paths to looks at fractions t of the information, where they leave
// beyond ±c·√t.
func exitsOf(t, c []float64) *exits {
	key := fmt.Sprint(t, c)
	if e, ok := selections.Load(key); ok {
		return e.(*exits)
	}
	e := &exits{t: t}
	if len(t) > 1 { // one look takes no time, and its boundary may be any
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

// mean is the expected estimate of a drift among paths that left, by the likelihood ratio of the
// drift to none.
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

// unselected is the drift under which the mean estimate among paths that left is this one.
func (e *exits) unselected(estimate float64) float64 {
	size := math.Abs(estimate)
	return math.Copysign(bisect(0, size, 24, func(v float64) bool { return e.mean(v) < size }), estimate)
}

// certain is how many standard errors from its boundary an effect is found in any case.
const certain = 5

// unselect sets what the comparison's effect is without its selection, on its scale: it was to
// be looked at after these numbers of blocks, at these levels, and was found at look.
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
