package tunebench

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"

	"linerate/internal/tune"
)

// Row holds the methods' results at one level of noise.
type Row struct {
	SDPercent float64   `json:"sd_percent"` // of one arm of a block
	Methods   []Outcome `json:"methods"`
}

// Outcome is what a method ships, on average.
type Outcome struct {
	Method Method `json:"method"`
	// GainPercent is the true gain of what it ships; nothing shipped gains nothing.
	GainPercent float64 `json:"gain_percent"`
	// Useless is how many of the settings shipped do nothing.
	Useless float64 `json:"useless"`
}

// Noises are the standard deviations of the table, in percent.
func Noises() []float64 { return []float64{0.4, 1, 2} }

// NullNoise is the noise, in percent, of hosts on which nothing helps.
const NullNoise = 1

// Nulls is how often each method claims a winner where no setting does anything, of
// so many studies. progress, which may be nil, is called with numbers of studies done
// since the last call.
func Nulls(ctx context.Context, studies int, seed uint64, progress func(n int)) (map[Method]float64, error) {
	out := map[Method]float64{}
	for k, m := range Methods() {
		ships, err := each(ctx, studies, seed+uint64(k)<<32, progress, func(rng *rand.Rand) (tune.Config, *world, error) {
			w := &world{}
			c, err := m.run(&bench{world: w, sd: NullNoise / 100.0, rng: rng})
			return c, w, err
		})
		if err != nil {
			return nil, err
		}
		out[m] = ships.shipped
	}
	return out, nil
}

// Table holds each method's results at every level of noise; progress is as for Nulls.
func Table(ctx context.Context, studies int, seed uint64, progress func(n int)) ([]Row, error) {
	var rows []Row
	for n, sd := range Noises() {
		row := Row{SDPercent: sd}
		for _, m := range Methods() {
			// All methods see the same hosts.
			got, err := each(ctx, studies, seed+uint64(n+1)<<48, progress, func(rng *rand.Rand) (tune.Config, *world, error) {
				w := newWorld(rng)
				c, err := m.run(&bench{world: w, sd: sd / 100, rng: rng})
				return c, w, err
			})
			if err != nil {
				return nil, err
			}
			row.Methods = append(row.Methods, Outcome{m, got.gain, got.useless})
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// means over studies.
type means struct{ shipped, gain, useless float64 }

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
				mu.Lock()
				if err != nil {
					failed = err
				}
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
	return means{sum.shipped / n, sum.gain / n, sum.useless / n}, failed
}
