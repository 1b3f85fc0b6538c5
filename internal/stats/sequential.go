package stats

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"linerate/internal/hint"
)

// spent returns the share of alpha spent at information fraction t, by O'Brien and Fleming (Lan
// & DeMets, Biometrika 70, 1983): almost nothing early, so that a study that stops early has
// strong evidence, and the last look costs little.
func spent(t, alpha float64) float64 {
	if t >= 1 {
		return alpha
	}
	return 4 * normalUpper(NormalQuantile(1-alpha/4)/math.Sqrt(t)) // both sides, α/2 each
}

// Sequential is a plan to look at a study before it is complete, and to stop once
// every verdict is settled, with a false-positive rate of at most α: a
// group-sequential design with alpha spending. At look k a two-sided test rejects
// at Levels[k]; the interval of that level is a repeated confidence interval
// (Jennison & Turnbull, J. R. Statist. Soc. B 51, 1989), which covers the true
// effect at all looks together with probability 1−α, whatever the reason to stop.
// Levels are computed for normal statistics and used with Student's t (the
// significance-level approach, Pocock, Biometrika 64, 1977); bench/calibrate
// shows the resulting error rates.
type Sequential struct {
	Looks  []int     // complete blocks at each look, ascending; the last is the full study
	Levels []float64 // two-sided nominal level at each look
	Alpha  float64
}

// NewSequential plans looks. For m variants against one control, pass α/m:
// Bonferroni over variants, spending over looks.
func NewSequential(looks []int, alpha float64) (Sequential, error) {
	switch {
	case len(looks) == 0 || !slices.IsSorted(looks) || looks[0] < 3:
		return Sequential{}, hint.Usagef("looks %v: give numbers of blocks in ascending order, from 3", looks)
	case len(slices.Compact(slices.Clone(looks))) < len(looks) || len(looks) > 50:
		return Sequential{}, hint.Usagef("looks %v: give up to 50 different ones", looks)
	case !(alpha > 0 && alpha < 1):
		return Sequential{}, hint.Usagef("α %g is not between 0 and 1", alpha)
	}
	key := fmt.Sprint(looks, alpha)
	if plan, ok := plans.Load(key); ok {
		return plan.(Sequential), nil
	}
	s := Sequential{Looks: slices.Clone(looks), Alpha: alpha}
	d := density{at: []float64{0}, weight: []float64{1}}
	last, used := 0.0, 0.0
	for _, n := range looks {
		t := float64(n) / float64(looks[len(looks)-1])
		d = d.step(t - last)
		may := spent(t, alpha) - used
		c := d.boundary(may)
		s.Levels = append(s.Levels, 2*normalUpper(c/math.Sqrt(t)))
		d.cut(c)
		last, used = t, used+may
	}
	plans.Store(key, s)
	return s, nil
}

// plans caches plans: computing a dozen looks takes a tenth of a second.
var plans sync.Map

// density is the density of Brownian motion B(t) over the paths not yet
// stopped, on a grid symmetric about zero (recursive integration, Armitage,
// McPherson & Rowe, J. R. Statist. Soc. A 132, 1969).
type density struct {
	at     []float64
	weight []float64 // probability mass at each point
}

const gridPoints = 801

// step advances the motion by dt.
func (d density) step(dt float64) density {
	sd := math.Sqrt(dt)
	reach := math.Abs(d.at[len(d.at)-1]) + 8*sd
	next := density{at: make([]float64, gridPoints), weight: make([]float64, gridPoints)}
	h := 2 * reach / (gridPoints - 1)
	for i := range next.at {
		x := -reach + h*float64(i)
		sum := 0.0
		for j, from := range d.at {
			z := (x - from) / sd
			if d.weight[j] > 0 && math.Abs(z) < 8.5 {
				sum += d.weight[j] * math.Exp(-z*z/2)
			}
		}
		next.at[i] = x
		next.weight[i] = sum * h / (sd * math.Sqrt(2*math.Pi))
	}
	return next
}

// boundary returns the c for which the mass beyond ±c is p, interpolating
// linearly within a grid cell.
func (d density) boundary(p float64) float64 {
	mass := 0.0
	for i := range d.at {
		w := 2 * d.weight[i]
		if mass+w > p {
			h := d.at[1] - d.at[0]
			return -(d.at[i] - h/2 + h*(p-mass)/w)
		}
		mass += w
	}
	return 0
}

// cut removes the paths that stop beyond ±c.
func (d density) cut(c float64) {
	h := 0.0
	if len(d.at) > 1 {
		h = d.at[1] - d.at[0]
	}
	for i, x := range d.at {
		over := math.Abs(x) + h/2 - c // the part of the cell beyond c
		if over > 0 && h > 0 {
			d.weight[i] *= 1 - min(1, over/h)
		}
	}
}

// Look returns the index of the look at n complete blocks; false between looks.
func (s Sequential) Look(n int) (int, bool) { return slices.BinarySearch(s.Looks, n) }

// Settle judges a comparison in blocks at a look by its repeated confidence
// interval, and reports whether the verdict is final: better, worse and
// equivalent are, inconclusive only at the last look. The comparison's
// effect, p and verdict become those of the look.
func (s Sequential) Settle(c Comparison, look int, opt Options) (Comparison, bool) {
	opt = opt.filled()
	level := s.Levels[look]
	c.testAt(1 - level)
	c.inPercent()
	equivalent := false
	if low, high := c.margins(opt); high > low && c.Effect.Known() {
		equivalent = c.Effect.Within(low, high)
	}
	pEquivalent := math.NaN()
	if equivalent {
		pEquivalent = 0
	}
	c.Verdict = Judge(c.Effect.Estimate, c.Effect.P, pEquivalent, level, opt.Better)
	c.unselect(s.Looks, s.Levels, look)
	settled := c.Verdict == Better || c.Verdict == Worse || c.Verdict == Equivalent
	return c, settled || look == len(s.Looks)-1
}

// anytimeRatio is about the number of blocks after which the interval is narrowest relative to a fixed-time one.
const anytimeRatio = 10

// AnyTime returns the plan of a study that somebody may stop at will, after n blocks: at its level
// a test errs with probability at most α, whatever the time and the reason, and its intervals are
// a confidence sequence. It is Robbins' normal mixture (Ann. Math. Statist. 41, 1970; Howard,
// Ramdas, McAuliffe & Sekhon, Ann. Statist. 49, 2021), applied to Student's t through its level.
func AnyTime(n int, alpha float64) Sequential {
	const r = anytimeRatio
	v := float64(n)
	z := math.Sqrt(2 * (v + r) / v * math.Log(math.Sqrt((v+r)/r)/alpha))
	return Sequential{Looks: []int{n}, Levels: []float64{2 * normalUpper(z)}, Alpha: alpha}
}
