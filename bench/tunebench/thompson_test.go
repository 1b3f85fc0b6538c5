package tunebench

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"linerate/internal/stats"
	"linerate/internal/tune"
)

// linear is a Bayesian linear regression of values, minus their block's mean, on levels.
type linear struct {
	precision *mat.SymDense
	moment    *mat.VecDense
	first     []int // column of each factor's first level
	columns   int
}

// priorSD is the prior standard deviation of a level's effect, as a log ratio.
const priorSD = 0.01

func (b *bench) linear() *linear {
	l := &linear{}
	for _, e := range b.effect {
		l.first = append(l.first, l.columns)
		l.columns += len(e) - 1
	}
	l.precision, l.moment = mat.NewSymDense(l.columns, nil), mat.NewVecDense(l.columns, nil)
	for i := range l.columns {
		l.precision.SetSym(i, i, 1/(priorSD*priorSD))
	}
	return l
}

// add updates the model with the values of a block.
func (l *linear) add(arms []tune.Config, values []float64, sd float64) {
	mean, rows := mat.NewVecDense(l.columns, nil), make([]*mat.VecDense, len(arms))
	for k, c := range arms {
		rows[k] = mat.NewVecDense(l.columns, nil)
		for i, level := range c {
			if level > 0 {
				rows[k].SetVec(l.first[i]+level-1, 1)
			}
		}
		mean.AddScaledVec(mean, 1/float64(len(arms)), rows[k])
	}
	level := stats.Mean(values)
	for k, row := range rows {
		row.SubVec(row, mean)
		l.precision.SymRankOne(l.precision, 1/(sd*sd), row)
		l.moment.AddScaledVec(l.moment, (values[k]-level)/(sd*sd), row)
	}
}

// draws returns the configuration that is best in expectation, then those of n posterior draws.
func (b *bench) draws(l *linear, n int) []tune.Config {
	var chol mat.Cholesky
	if !chol.Factorize(l.precision) { //nolint:misspell // method name of the library
		return nil
	}
	var expected mat.VecDense
	_ = chol.SolveVecTo(&expected, l.moment)
	var upper mat.TriDense
	chol.UTo(&upper)
	out := []tune.Config{b.argmax(l, &expected)}
	for range n {
		z, theta := mat.NewVecDense(l.columns, nil), mat.NewVecDense(l.columns, nil)
		for i := range l.columns {
			z.SetVec(i, b.rng.NormFloat64())
		}
		_ = theta.SolveVec(&upper, z)
		theta.AddVec(theta, &expected)
		out = append(out, b.argmax(l, theta))
	}
	return out
}

// argmax returns the configuration of the best level of each factor.
func (b *bench) argmax(l *linear, effects mat.Vector) tune.Config {
	c := b.base()
	for i, e := range b.effect {
		most := 0.0
		for level := 1; level < len(e); level++ {
			if v := effects.AtVec(l.first[i] + level - 1); v > most {
				most, c[i] = v, level
			}
		}
	}
	return c
}

// thompson samples configurations with a linear model of the levels, and confirms the best
// (Thompson, Biometrika 25, 1933; Agrawal & Goyal, ICML 2013).
func (b *bench) thompson() tune.Config {
	l := b.linear()
	for b.used+16 <= Slots-2*confirmPairs {
		arms := b.draws(l, 15)
		arms[0] = b.base()
		l.add(arms, b.block(arms...), math.Max(b.sd, 1e-4))
	}
	c := b.draws(l, 0)[0]
	if c.Size() == 0 {
		return nil
	}
	return b.confirmed(c, confirmPairs)
}
