package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Where a factor has several levels, an array of two would see one of them, and a factor whose first
// level harms would be left alone for good. Such spaces are screened by Thompson sampling on a linear model of all
// levels (Thompson, Biometrika 25, 1933; Agrawal & Goyal, ICML 2013): each arm is the best configuration by
// effects drawn from what is known so far, so that every level is tried, and what promises is tried more.

// sampled reports whether the space is screened so.
func (s *Search) sampled() bool {
	return slices.ContainsFunc(s.Levels, func(n int) bool { return n > 1 })
}

// batch is how many arms a block of the sampling has at most: what is known guides the next.
const batch = 14

// deadAfter arms that had a level, none with a value, it is taken for one that the testbed does not have.
const deadAfter = 3

// posterior is what is known of all levels' effects.
type posterior struct {
	first    []int // column of each factor's first level
	columns  int
	sd       float64
	expected mat.VecDense
	chol     mat.Cholesky // of the precision
	se       []float64
	asked    []int // arms that had the level
	seen     []int // those with a value
}

// learn fits the linear model: values less their block's mean, effects with a normal prior.
func (s *state) learn() *posterior {
	p := &posterior{}
	for _, n := range s.Levels {
		p.first = append(p.first, p.columns)
		p.columns += n
	}
	p.asked, p.seen = make([]int, p.columns), make([]int, p.columns)
	prior := 4 * s.Worth
	variance, n := s.beside0()
	p.sd = math.Sqrt((n*variance + 2*prior*prior/4) / (n + 2))
	precision, moment := mat.NewSymDense(p.columns, nil), mat.NewVecDense(p.columns, nil)
	for i := range p.columns {
		precision.SetSym(i, i, 1/(prior*prior))
	}
	for _, m := range s.of(Screen) {
		arms := append([]Config{m.Control, m.Control}, m.Arms...)
		for _, block := range m.Values {
			p.add(precision, moment, arms, block)
		}
	}
	if p.chol.Factorize(precision) { //nolint:misspell // its name
		_ = p.chol.SolveVecTo(&p.expected, moment)
	}
	var covariance mat.SymDense
	_ = p.chol.InverseTo(&covariance)
	for i := range p.columns {
		p.se = append(p.se, math.Sqrt(covariance.At(i, i)))
	}
	return p
}

func (p *posterior) add(precision *mat.SymDense, moment *mat.VecDense, arms []Config, block []float64) {
	mean, level, n := mat.NewVecDense(p.columns, nil), 0.0, 0.0
	rows := make([]*mat.VecDense, len(arms))
	for k, c := range arms {
		row := mat.NewVecDense(p.columns, nil)
		known := !math.IsNaN(block[k])
		for i, l := range c {
			if l > 0 {
				column := p.first[i] + l - 1
				row.SetVec(column, 1)
				if p.asked[column]++; known {
					p.seen[column]++
				}
			}
		}
		if known {
			rows[k], n, level = row, n+1, level+block[k]
			mean.AddVec(mean, row)
		}
	}
	for k, row := range rows {
		if row != nil {
			row.AddScaledVec(row, -1/n, mean)
			precision.SymRankOne(precision, 1/(p.sd*p.sd), row)
			moment.AddScaledVec(moment, (block[k]-level/n)/(p.sd*p.sd), row)
		}
	}
}

// dead reports whether the testbed does not seem to have a level.
func (p *posterior) dead(column int) bool { return p.asked[column] >= deadAfter && p.seen[column] == 0 }

// lacking is why the testbed does not have a level; "" where it has.
func (s *state) lacking(p *posterior, factor, level int) string {
	for _, m := range s.of(Screen) {
		for i, why := range m.Unavailable {
			if m.Arms[i][factor] == level && p.dead(p.first[factor]+level-1) {
				return why
			}
		}
	}
	return ""
}

// draw is the best configuration by effects drawn from what is known.
func (s *state) draw(p *posterior, r *rand.Rand) Config {
	z, theta := mat.NewVecDense(p.columns, nil), mat.NewVecDense(p.columns, nil)
	for i := range p.columns {
		z.SetVec(i, r.NormFloat64())
	}
	var upper mat.TriDense
	p.chol.UTo(&upper)
	_ = theta.SolveVec(&upper, z) // of a positive definite matrix
	theta.AddVec(theta, &p.expected)
	c := s.base()
	for i := range c {
		most := 0.0
		for l := 1; l <= s.Levels[i]; l++ {
			if column := p.first[i] + l - 1; !p.dead(column) && theta.AtVec(column) > most {
				most, c[i] = theta.AtVec(column), l
			}
		}
	}
	return c
}

// sample is the next block of the sampling.
func (s *state) sample() (Experiment, bool) {
	done := len(s.of(Screen))
	if done > 0 && !s.again() {
		return Experiment{}, false
	}
	p := s.learn()
	r := rand.New(rand.NewPCG(s.Seed, 0x7503+uint64(done)))
	e := Experiment{Name: fmt.Sprintf("screen-%d", done+1), Phase: Screen, Control: s.base(), Blocks: 1}
	for range min(batch, max(1, s.Together)) {
		e.Arms = append(e.Arms, s.draw(p, r))
	}
	return e, true
}

// ofSampling is the model of what was sampled: every level with its effect over the base.
func (s *state) ofSampling() Model {
	p := s.learn()
	m := Model{Interactions: []Interaction{}, Levels: []LevelEffect{}, SD: p.sd}
	m.Lenth.PSE = median(slices.Sorted(slices.Values(p.se)))
	m.Lenth.DF = float64(max(1, p.columns))
	m.Lenth.Margin, m.Lenth.Simultaneous = 1.96*m.Lenth.PSE, 3.3*m.Lenth.PSE
	for _, done := range s.of(Screen) {
		m.Runs += len(done.Values) * len(done.Arms)
	}
	for i, n := range s.Levels {
		for l := 1; l <= n; l++ {
			column := p.first[i] + l - 1
			if effect := p.unshrunk(s, column); l == 1 {
				m.Effects = append(m.Effects, Effect{Factor: i, Effect: effect})
			} else {
				m.Levels = append(m.Levels, LevelEffect{Factor: i, Level: l, Effect: effect, Asked: p.asked[column], Blocks: p.seen[column], Lacking: s.lacking(p, i, l), se: p.error(s, column)})
			}
		}
	}
	m.weighAll(func(i int) float64 { return p.error(s, p.first[i]) })
	return m
}

// unshrunk and error are a level's effect and its standard error without the prior, which the weighing replaces
// by one that knows all effects.
func (p *posterior) unshrunk(s *state, column int) float64 {
	known := 1 - p.se[column]*p.se[column]/(16*s.Worth*s.Worth)
	return p.expected.AtVec(column) / max(0.05, known)
}

func (p *posterior) error(s *state, column int) float64 {
	known := 1 - p.se[column]*p.se[column]/(16*s.Worth*s.Worth)
	return p.se[column] / math.Sqrt(max(0.05, known))
}

// weighAll is weigh of effects with errors of their own, levels among them.
func (m *Model) weighAll(se func(factor int) float64) {
	s2 := m.Lenth.PSE * m.Lenth.PSE
	m.share, m.tau2 = 1.0/6, 4*s2
	n := float64(len(m.Effects) + len(m.Levels))
	for range 60 {
		sum, square := 0.0, 0.0
		take := func(effect, se float64) (active, expected float64) {
			active, expected = m.shrink(effect, se)
			sum, square = sum+active, square+active*max(0, effect*effect-se*se)
			return active, expected
		}
		for i := range m.Effects {
			e := &m.Effects[i]
			e.Active, e.Expected = take(e.Effect, se(e.Factor))
		}
		for i := range m.Levels {
			l := &m.Levels[i]
			l.Active, l.Expected = take(l.Effect, l.se)
		}
		m.share = (sum + 10.0/6) / (n + 10)
		m.tau2 = max(s2, (square+2*s2)/(sum+1))
	}
}
