// Package tunebench evaluates searches on simulated hosts with known effects: the gain of
// linerate's search, and how often it ships a useless setting or claims a gain where there
// is none, compared with other strategies given the same number of trials.
package tunebench

import (
	"math"
	"math/rand/v2"

	"linerate/internal/list"
	"linerate/internal/tune"
)

// Slots is the number of single-arm trials that each method may use.
const Slots = 240

// Landscape describes a kind of host: its factors, their levels and their effects.
type Landscape struct {
	Name    string `json:"name"`
	Factors int    `json:"factors"`
	Levels  int    `json:"levels"` // besides that of the base
	// Active factors gain Least to Most percent at their best level; the last Harmful of them lose that instead.
	Active  int     `json:"active"`
	Harmful int     `json:"harmful"`
	Least   float64 `json:"least_percent"`
	Most    float64 `json:"most_percent"`
	// Shape is the share of a factor's effect at each level.
	Shape []float64 `json:"shape"`
	// Pairs is an interaction: the first two active factors together gain this many percent more
	// than the sum of their effects, the next two as much less.
	Pairs float64 `json:"pairs_percent"`
}

var switches = []float64{1}

// Landscapes of the bench. The first has many switches, few of which matter; nothing matters in the second.
var Landscapes = []Landscape{
	{"six of thirty act, two pairs", 30, 1, 6, 2, 0.5, 1.5, switches, 0.7},
	{"nothing acts", 30, 1, 0, 0, 0, 0, switches, 0},
	{"one of twelve, 3 %", 12, 1, 1, 0, 3, 3, switches, 0},
	{"four of twenty, 1 %", 20, 1, 4, 0, 1, 1, switches, 0},
	{"four weak ones of thirty", 30, 1, 4, 0, 0.2, 0.4, switches, 0},
	{"all small, half harm", 20, 1, 20, 10, 0.05, 0.2, switches, 0},
	{"most harm", 30, 1, 10, 8, 0.5, 1.5, switches, 0},
	{"all of five", 5, 1, 5, 1, 0.5, 1, switches, 0},
	{"three of ten, 5 %", 10, 1, 3, 0, 4, 6, switches, 0},
	{"pairs alone", 20, 1, 4, 0, 0.1, 0.1, switches, 2},
	{"strong pairs", 20, 1, 6, 0, 0.5, 1, switches, 1.5},
	{"three levels, the first harms, the middle best", 10, 3, 10, 0, 0.4, 0.7, []float64{-0.5, 1, 0.3}, 0},
	{"three levels, the last best", 10, 3, 10, 0, 0.4, 0.7, []float64{0.3, 0.6, 1}, 0},
	{"three levels, the first best", 10, 3, 10, 0, 0.4, 0.7, []float64{1, 0.6, 0.2}, 0},
	{"three levels, the first does nothing", 10, 3, 10, 0, 0.4, 0.7, []float64{0, 1, 0.5}, 0},
	{"three levels, four of twenty act, middle best", 20, 3, 4, 0, 0.7, 1.2, []float64{-0.3, 1, 0.6}, 0},
	{"four levels, three of six act, third best", 6, 4, 3, 0, 1, 2, []float64{0.2, 0.6, 1, 0.4}, 0},
}

// world is a simulated host: the gain of each configuration, as a log ratio.
type world struct {
	effect [][]float64 // by factor and level; 0 at the base
	pairs  []pair
	active []int
}

type pair struct {
	a, b int
	gain float64 // of both together, beyond the sum
}

// draw generates a host of the landscape.
func (l Landscape) draw(rng *rand.Rand) *world {
	w := &world{active: rng.Perm(l.Factors)[:l.Active]}
	for range l.Factors {
		w.effect = append(w.effect, make([]float64, l.Levels+1))
	}
	for k, i := range w.active {
		size := (l.Least + (l.Most-l.Least)*rng.Float64()) / 100
		if k >= l.Active-l.Harmful {
			size = -size
		}
		for level, share := range l.Shape {
			w.effect[i][level+1] = share * size
		}
	}
	if l.Pairs > 0 {
		w.pairs = []pair{{w.active[0], w.active[1], l.Pairs / 100}, {w.active[2], w.active[3], -l.Pairs / 100}}
	}
	return w
}

// gain returns the gain of a configuration, as a log ratio.
func (w *world) gain(c tune.Config) (sum float64) {
	for i, level := range c {
		sum += w.effect[i][level]
	}
	for _, p := range w.pairs {
		if c[p.a] > 0 && c[p.b] > 0 {
			sum += p.gain
		}
	}
	return sum
}

// best returns the gain of the best configuration in percent: three rounds of coordinate-wise
// improvement, from every combination of the paired factors.
func (w *world) best() (most float64) {
	for start := range 1 << (2 * len(w.pairs)) {
		c := make(tune.Config, len(w.effect))
		for k, p := range w.pairs {
			c[p.a], c[p.b] = start>>(2*k)&1, start>>(2*k+1)&1
		}
		for range 3 {
			for i := range c {
				for level := range w.effect[i] {
					if other := c.With(i, level); w.gain(other) > w.gain(c) {
						c = other
					}
				}
			}
		}
		most = max(most, w.gain(c))
	}
	return 100 * math.Expm1(most)
}

// useless counts the settings of a configuration that have no effect, alone or in a pair.
func (w *world) useless(c tune.Config) (n int) {
	for i, level := range c {
		paired := false
		for _, p := range w.pairs {
			paired = paired || p.a == i || p.b == i
		}
		if level > 0 && w.effect[i][level] == 0 && !paired {
			n++
		}
	}
	return n
}

// bench measures arms of a world with noise, and counts the trials.
type bench struct {
	*world
	sd   float64 // of one arm of a block, as a log ratio
	rng  *rand.Rand
	used int
}

func (b *bench) base() tune.Config { return make(tune.Config, len(b.effect)) }

// block measures arms side by side, with shared noise of the block and noise of each arm.
func (b *bench) block(arms ...tune.Config) []float64 {
	shared := 0.05 * b.rng.NormFloat64()
	b.used += len(arms)
	return list.Map(arms, func(c tune.Config) float64 { return shared + b.gain(c) + b.sd*b.rng.NormFloat64() })
}
