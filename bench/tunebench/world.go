// Package tunebench measures searches on simulated hosts with known effects: how much
// linerate's search gains, how often it ships a useless setting and how often it claims a
// gain where there is none, compared with other strategies given the same number of trials.
package tunebench

import (
	"math"
	"math/rand/v2"

	"linerate/internal/tune"
)

// The world: so many settings, of which so many act; the best configuration there is
// gains so much.
const (
	Settings    = 30
	Active      = 6
	BestPercent = 3.5
	// Slots is how many trials of one arm each method has.
	Slots = 240
)

// world is a host: what each configuration gains, as a log ratio.
type world struct {
	effect [Settings]float64
	pairs  []pair
}

type pair struct {
	a, b int
	gain float64 // of both together, beyond the sum
}

// Harmful is how many of the settings that act do harm: what is worth trying is not
// known to help.
const Harmful = 2

// newWorld draws which settings act and how much. Most help, some do harm; two that help are worth more together
// than their sum, two others less. All is scaled so that the best configuration
// gains what BestPercent says.
func newWorld(rng *rand.Rand) *world {
	w := &world{}
	act := rng.Perm(Settings)[:Active]
	for _, i := range act {
		w.effect[i] = 0.3 + 0.7*rng.Float64()
	}
	for _, i := range act[Active-Harmful:] {
		w.effect[i] = -w.effect[i]
	}
	w.pairs = []pair{{act[0], act[1], 0.3 + 0.4*rng.Float64()}, {act[2], act[3], -(0.3 + 0.4*rng.Float64())}}
	best := 0.0
	c := make(tune.Config, Settings)
	for set := range 1 << Active {
		for k, i := range act {
			c[i] = set >> k & 1
		}
		best = max(best, w.gain(c))
	}
	scale := math.Log1p(BestPercent/100) / best
	for i := range w.effect {
		w.effect[i] *= scale
	}
	for i := range w.pairs {
		w.pairs[i].gain *= scale
	}
	return w
}

// gain is what a configuration is worth.
func (w *world) gain(c tune.Config) (sum float64) {
	for i, level := range c {
		if level > 0 {
			sum += w.effect[i]
		}
	}
	for _, p := range w.pairs {
		if c[p.a] > 0 && c[p.b] > 0 {
			sum += p.gain
		}
	}
	return sum
}

// useless counts the settings of a configuration that have no effect alone.
func (w *world) useless(c tune.Config) (n int) {
	for i, level := range c {
		if level > 0 && w.effect[i] == 0 {
			n++
		}
	}
	return n
}

// bench measures arms of a world with noise, and counts them.
type bench struct {
	*world
	sd   float64 // of one arm of a block, as a log ratio
	rng  *rand.Rand
	used int
}

// block measures arms side by side: each has its own noise, all share the block's.
func (b *bench) block(arms ...tune.Config) []float64 {
	shared := 0.05 * b.rng.NormFloat64()
	out := make([]float64, len(arms))
	for i, c := range arms {
		out[i] = shared + b.gain(c) + b.sd*b.rng.NormFloat64()
	}
	b.used += len(arms)
	return out
}
