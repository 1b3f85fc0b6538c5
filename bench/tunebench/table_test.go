package tunebench

import (
	"errors"
	"math"
	"math/rand/v2"

	"linerate/internal/list"
	"linerate/internal/tune"
)

// Row holds the results of all methods on one landscape at one noise level.
type Row struct {
	Landscape
	SDPercent   float64   `json:"sd_percent"`   // of one arm of a block
	BestPercent float64   `json:"best_percent"` // gain of the best configuration
	Methods     []Outcome `json:"methods"`
}

// Outcome holds a method's averages over hosts.
type Outcome struct {
	Method Method `json:"method"`
	// Shipped is the share of searches that ship something.
	Shipped float64 `json:"shipped"`
	// GainPercent is the true gain of what is shipped, 0 for nothing.
	GainPercent float64 `json:"gain_percent"`
	// Useless is the number of shipped settings without effect.
	Useless float64 `json:"useless"`
}

// Noises lists the noise levels, in percent, tried on the first landscape; the others use usualNoise.
func Noises() []float64 { return []float64{0.4, 1, 2} }

// usualNoise is the noise level, in percent, of the other landscapes.
const usualNoise = 1

// Table runs the methods on every landscape.
func Table(studies int, seed uint64, methods []Method) ([]Row, error) {
	var rows []Row
	for _, l := range Landscapes {
		for _, sd := range Noises() {
			if sd != usualNoise && len(rows) >= len(Noises()) {
				continue
			}
			row := Row{Landscape: l, SDPercent: sd}
			for _, m := range methods {
				o, best, err := l.outcome(m, studies, sd/100, seed+uint64(len(rows)+1)<<48) // all methods see the same hosts
				if err != nil {
					return nil, err
				}
				row.BestPercent = best
				row.Methods = append(row.Methods, o)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// outcome runs a method on many random hosts of a landscape, and also returns the mean gain of the
// best configuration. Each search seeds its own generator, so results do not depend on the order.
func (l Landscape) outcome(m Method, studies int, sd float64, seed uint64) (o Outcome, best float64, err error) {
	type searched struct {
		*world
		ships tune.Config
		err   error
	}
	o.Method = m
	for _, s := range list.Parallel(studies, func(i int) searched {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		w := l.draw(rng)
		c, err := m.run(&bench{world: w, sd: sd, rng: rng})
		return searched{w, c, err}
	}) {
		err = errors.Join(err, s.err)
		best += s.best() / float64(studies)
		if s.ships != nil {
			o.Shipped += 1 / float64(studies)
			o.GainPercent += 100 * math.Expm1(s.gain(s.ships)) / float64(studies)
			o.Useless += float64(s.useless(s.ships)) / float64(studies)
		}
	}
	return o, best, err
}
