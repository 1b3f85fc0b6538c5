package tunebench

import (
	"errors"
	"math"
	"math/rand/v2"

	"linerate/internal/list"
	"linerate/internal/tune"
)

// Row holds the methods' results on one landscape at one level of noise.
type Row struct {
	Landscape
	SDPercent   float64   `json:"sd_percent"`   // of one arm of a block
	BestPercent float64   `json:"best_percent"` // what the best configuration gains
	Methods     []Outcome `json:"methods"`
}

// Outcome is what a method ships, on average.
type Outcome struct {
	Method Method `json:"method"`
	// Shipped is how often it ships something.
	Shipped float64 `json:"shipped"`
	// GainPercent is the true gain of what it ships; nothing shipped gains nothing.
	GainPercent float64 `json:"gain_percent"`
	// Useless is how many of the settings shipped do nothing.
	Useless float64 `json:"useless"`
}

// Noises are the standard deviations, in percent, of the first landscape; all others have the second.
func Noises() []float64 { return []float64{0.4, 1, 2} }

// usualNoise is that of the other landscapes.
const usualNoise = 1

// Table holds the methods' results on every landscape.
func Table(studies int, seed uint64, methods []Method) ([]Row, error) {
	var rows []Row
	for _, l := range Landscapes {
		for _, sd := range Noises() {
			if sd != usualNoise && len(rows) >= len(Noises()) {
				continue
			}
			row := Row{Landscape: l, SDPercent: sd}
			for _, m := range methods {
				o, best, err := l.outcome(m, studies, sd/100, seed+uint64(len(rows)+1)<<48) // all see the same hosts
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

// outcome is a method's over many hosts of a landscape, and what the best would gain. Each
// search has a separate random generator: it depends on no other.
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
