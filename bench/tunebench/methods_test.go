package tunebench

import (
	"math"
	"slices"

	"linerate/internal/stats"
	"linerate/internal/tune"
)

// Method is a search strategy.
type Method string

// The methods. Those other than linerate ship what their users would: the best
// configuration measured, if a confirmation succeeds.
const (
	// Linerate is the search of package tune.
	Linerate Method = "linerate"
	// RandomSearch measures random configurations and confirms the best one
	// (Bergstra & Bengio, JMLR 13, 2012).
	RandomSearch Method = "random search + confirmation"
	// OneAtATime measures each setting alone, and confirms the combination of all
	// that looked better.
	OneAtATime Method = "one at a time + confirmation"
	// Thompson samples with a linear model and confirms the best.
	Thompson Method = "Thompson sampling + confirmation"
	// Optuna is the TPE sampler of Optuna, if installed, followed by a confirmation of the best.
	Optuna Method = "TPE of Optuna + confirmation"
)

// Methods lists all methods except Optuna, linerate first.
func Methods() []Method { return []Method{Linerate, RandomSearch, OneAtATime, Thompson} }

// run searches with a method and returns the configuration it ships, nil for none.
func (m Method) run(b *bench) (tune.Config, error) {
	switch m {
	case RandomSearch:
		return b.randomSearch(), nil
	case OneAtATime:
		return b.oneAtATime(), nil
	case Thompson:
		return b.thompson(), nil
	case Optuna:
		return b.optuna()
	}
	return b.linerate()
}

// Together is how many arms the simulated lab runs side by side: as many as the
// other methods need in a block.
const Together = 32

func (b *bench) linerate() (tune.Config, error) {
	r, err := b.linerateResult()
	return r.Ships, err
}

func (b *bench) linerateResult() (tune.Result, error) {
	s := tune.Search{Levels: make([]int, len(b.effect)), Seconds: Slots, PerSlot: 1, Together: Together, Worth: math.Log1p(0.0025), Confirmations: 1, Seed: b.rng.Uint64()}
	for i := range s.Levels {
		s.Levels[i] = len(b.effect[i]) - 1
	}
	var done []tune.Measured
	for {
		e, ok, err := s.Next(done)
		if err != nil {
			return tune.Result{}, err
		}
		if !ok {
			break
		}
		m := tune.Measured{Experiment: e}
		arms := append([]tune.Config{e.Control, e.Control}, e.Arms...)
		for n := 1; n <= e.Blocks; n++ {
			m.Values = append(m.Values, b.block(arms...))
			if _, settled := m.Judge(0); slices.Contains(e.Looks, n) && settled {
				break
			}
		}
		m.Seconds = float64(m.Slots())
		done = append(done, m)
	}
	return s.Result(done)
}

// confirmPairs is the number of blocks in the confirmations of the other
// methods, each with control and candidate.
const confirmPairs = 27

// confirmed compares a candidate with the base by a paired t-test at 5 %, and returns
// it if it is better, else nil.
func (b *bench) confirmed(c tune.Config, pairs int) tune.Config {
	d := make([]float64, pairs)
	base := b.base()
	for i := range d {
		v := b.block(base, c)
		d[i] = v[1] - v[0]
	}
	if t := stats.OneSample(d, 0.95); t.P <= 0.05 && t.Estimate > 0 {
		return c
	}
	return nil
}

func (b *bench) random() tune.Config {
	c := b.base()
	for i := range c {
		c[i] = b.rng.IntN(len(b.effect[i]))
	}
	return c
}

// randomSearch runs 31 configurations and the base six times each, and confirms the best.
func (b *bench) randomSearch() tune.Config {
	arms := make([]tune.Config, 31)
	for i := range arms {
		arms[i] = b.random()
	}
	sum := make([]float64, len(arms))
	for range 6 {
		for i, v := range b.block(arms...) {
			sum[i] += v
		}
	}
	best := slices.Index(sum, slices.Max(sum))
	return b.confirmed(arms[best], confirmPairs)
}

// oneAtATime runs the base and each level of each setting alone, as often as fits, and confirms the
// combination of all that looked better.
func (b *bench) oneAtATime() tune.Config {
	arms := []tune.Config{b.base()}
	for i, e := range b.effect {
		for level := 1; level < len(e); level++ {
			arms = append(arms, b.base().With(i, level))
		}
	}
	sum := make([]float64, len(arms))
	for range (Slots - 2*confirmPairs) / len(arms) {
		for i, v := range b.block(arms...) {
			sum[i] += v
		}
	}
	c, most := b.base(), slices.Repeat([]float64{sum[0]}, len(b.effect))
	for k, arm := range arms[1:] {
		for i, level := range arm {
			if level > 0 && sum[k+1] > most[i] {
				most[i], c[i] = sum[k+1], level
			}
		}
	}
	if c.Size() == 0 {
		return nil
	}
	return b.confirmed(c, confirmPairs)
}
