package tunebench

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"

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

// Rows are how many there are in a table.
func Rows() int { return len(Landscapes) + len(Noises()) - 1 }

// Table holds the methods' results on every landscape. progress, which may be nil, is called with numbers of
// studies done since the last call.
func Table(ctx context.Context, studies int, seed uint64, methods []Method, progress func(n int)) ([]Row, error) {
	var rows []Row
	for _, l := range Landscapes {
		for _, sd := range Noises() {
			if sd != usualNoise && len(rows) >= len(Noises()) {
				continue
			}
			row := Row{Landscape: l, SDPercent: sd}
			for _, m := range methods {
				// All methods see the same hosts.
				got, err := each(ctx, studies, seed+uint64(len(rows)+1)<<48, progress, func(rng *rand.Rand) (tune.Config, *world, error) {
					w := l.draw(rng)
					c, err := m.run(&bench{world: w, sd: sd / 100, rng: rng})
					return c, w, err
				})
				if err != nil {
					return nil, err
				}
				row.BestPercent = got.best
				row.Methods = append(row.Methods, Outcome{m, got.shipped, got.gain, got.useless})
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// means over studies.
type means struct{ shipped, gain, useless, best float64 }

// batch is how many studies there are between reports of progress.
const batch = 100

// workers run the studies in parallel. Each study has a separate random generator, so the
// table does not depend on the number of workers.
const workers = 2

func each(ctx context.Context, studies int, seed uint64, progress func(int), one func(*rand.Rand) (tune.Config, *world, error)) (means, error) {
	var mu sync.Mutex
	var sum means
	var failed error
	var wg sync.WaitGroup
	done := 0
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := w; i < studies && ctx.Err() == nil; i += workers {
				c, world, err := one(rand.New(rand.NewPCG(seed, uint64(i))))
				best := world.best()
				mu.Lock()
				if err != nil {
					failed = err
				}
				sum.best += best
				if c != nil {
					sum.shipped++
					sum.gain += 100 * math.Expm1(world.gain(c))
					sum.useless += float64(world.useless(c))
				}
				if done++; progress != nil && (done%batch == 0 || done == studies) {
					progress((done-1)%batch + 1)
				}
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	n := float64(studies)
	if failed == nil {
		failed = ctx.Err()
	}
	return means{sum.shipped / n, sum.gain / n, sum.useless / n, sum.best / n}, failed
}
