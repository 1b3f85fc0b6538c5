package tune

import (
	"cmp"
	"math"
	"slices"

	"linerate/internal/stats"
)

// Effect is what the screening says of a factor, or of a placebo column. Sizes are
// natural logarithms of ratios, more is better: 0.01 is about 1 %.
type Effect struct {
	// Factor is its number; −1 is a placebo.
	Factor int `json:"factor"`
	// Effect is the main effect: the mean of the runs with the level tried, less
	// that of the others.
	Effect float64 `json:"effect"`
	// Active is the probability that the effect is one at all, and Expected its
	// mean, by the distribution of all effects.
	Active   float64 `json:"active"`
	Expected float64 `json:"expected"`
}

// Interaction is how much more two factors do together than each by itself, halved
// as effects of two-level arrays are. Others that share its alias chain are not told from it.
type Interaction struct {
	A      int     `json:"a"`
	B      int     `json:"b"`
	Effect float64 `json:"effect"`
	// Aliases are other pairs that the array cannot tell from it, among all factors.
	Aliases int `json:"aliases"`
}

// Model is the result of the screening.
type Model struct {
	Runs         int           `json:"runs"` // values that it rests on
	Effects      []Effect      `json:"effects"`
	Interactions []Interaction `json:"interactions"`
	Lenth        Lenth         `json:"lenth"`
	// SD is the scatter of one value between arms of a block, as the effects show it.
	SD float64 `json:"sd"`
	// Levels are the levels beyond the first of each factor that has some, measured or not.
	Levels []LevelEffect `json:"levels"`

	share, tau2 float64 // of the effects that are some: see weigh
}

// ofScreening fits the model.
func ofScreening(s *screened, factors int) Model {
	effects, residual := s.effects()
	m := Model{Runs: len(s.y), Lenth: LenthOf(effects)}
	m.SD = m.Lenth.PSE * math.Sqrt(float64(len(s.y))) / 2
	for i, e := range effects {
		f := i
		if i >= factors {
			f = -1
		}
		m.Effects = append(m.Effects, Effect{Factor: f, Effect: e})
	}
	m.weigh()
	m.interact(s, residual, factors)
	return m
}

// floor raises the scale of effects that are nothing to what a variance of single values,
// seen in at least four blocks, makes it.
func (m *Model) floor(variance, blocks float64) {
	se := 2 * math.Sqrt(variance/float64(max(1, m.Runs)))
	if blocks < 4 || se <= m.Lenth.PSE {
		return
	}
	up := se / m.Lenth.PSE
	if m.Lenth.PSE == 0 {
		return
	}
	m.Lenth.PSE, m.Lenth.Margin, m.Lenth.Simultaneous, m.SD = se, m.Lenth.Margin*up, m.Lenth.Simultaneous*up, m.SD*up
	m.weigh()
}

// weigh computes the probability that each effect is real. A share of the effects is normal
// with a larger variance, the rest are noise of Lenth's scale. EM estimates share and
// variance from all effects, with a prior worth ten effects of which one in six is real
// (the vital few; Box & Meyer, Technometrics 28, 1986).
func (m *Model) weigh() {
	s2 := m.Lenth.PSE * m.Lenth.PSE
	m.share, m.tau2 = 1.0/6, 4*s2
	for range 60 {
		sum, square := 0.0, 0.0
		for i := range m.Effects {
			e := &m.Effects[i]
			e.Active, e.Expected = m.shrink(e.Effect, m.Lenth.PSE)
			sum += e.Active
			square += e.Active * e.Effect * e.Effect
		}
		m.share = (sum + 10.0/6) / (float64(len(m.Effects)) + 10)
		m.tau2 = max(s2, (square+2*s2)/(sum+1)-s2)
	}
}

// shrink is how probably an effect of a standard error is one, and what to expect of it.
func (m *Model) shrink(effect, se float64) (active, expected float64) {
	s2 := se * se
	if !(s2 > 0) {
		return 0, effect
	}
	odds := m.share / (1 - m.share) * math.Sqrt(s2/(s2+m.tau2)) * math.Exp(min(600, effect*effect*m.tau2/(2*s2*(s2+m.tau2))))
	active = odds / (1 + odds)
	return active, active * effect * m.tau2 / (m.tau2 + s2)
}

// heredity bounds the factors among which interactions are looked for: those with a main
// effect, the clearest first (effect heredity).
const heredity = 10

// interact adds the interactions that stand out among those of active factors, one
// after the other.
func (m *Model) interact(s *screened, residual []float64, factors int) {
	m.Interactions = []Interaction{}
	var act []int
	for i, e := range m.Effects[:factors] {
		if e.Active > 0.5 {
			act = append(act, i)
		}
	}
	slices.SortFunc(act, func(a, b int) int {
		return cmp.Compare(math.Abs(m.Effects[b].Effect), math.Abs(m.Effects[a].Effect))
	})
	act = act[:min(len(act), heredity)]
	pairs := float64(len(act)*(len(act)-1)) / 2
	if pairs == 0 || !(m.Lenth.PSE > 0) {
		return
	}
	limit := m.Lenth.PSE * stats.TQuantile(1-0.025/pairs, m.Lenth.DF)
	for range 6 {
		best, column := Interaction{}, []float64(nil)
		for k, i := range act {
			for _, j := range act[:k] {
				z := s.product(i, j)
				zz := dot(z, z)
				if e := 2 * dot(z, residual) / zz; zz > 0 && math.Abs(e) > max(limit, math.Abs(best.Effect)) {
					best, column = Interaction{A: min(i, j), B: max(i, j), Effect: e}, z
				}
			}
		}
		if column == nil {
			return
		}
		best.Aliases = s.aliases(best, factors)
		m.Interactions = append(m.Interactions, best)
		for i := range residual {
			residual[i] -= best.Effect / 2 * column[i]
		}
	}
}

// aliases counts the other pairs of factors whose product is the same column, or
// its negative, all through.
func (s *screened) aliases(of Interaction, factors int) (n int) {
	for i := range factors {
		for j := range i {
			same, other := true, true
			for _, z := range s.z {
				a, b := z[of.A]*z[of.B], z[i]*z[j]
				same, other = same && a == b, other && a == -b
			}
			if (same || other) && (min(i, j) != of.A || max(i, j) != of.B) {
				n++
			}
		}
	}
	return n
}

// predict is the gain that the model expects of a configuration over the base; a
// level beyond the first counts as the first where it was not measured.
func (m *Model) predict(c Config) float64 {
	sum := 0.0
	on := make([]bool, len(c)) // the factors that stand as the screening has seen them
	for i, level := range c {
		on[i] = level > 0
		if l, ok := m.level(i, level); ok {
			sum += l.Expected
			on[i] = false
		}
		if on[i] {
			sum += m.Effects[i].Expected
		}
	}
	for _, g := range m.Interactions {
		if on[g.A] != on[g.B] {
			sum -= g.Effect
		}
	}
	return sum
}

// twoLevel is the configuration of first levels with the greatest predicted gain, each setting of which
// must pay its price: from all that promise to help, by flips of one and of two.
func (m *Model) twoLevel(factors int, price float64) Config {
	c := make(Config, factors)
	for i := range c {
		if m.Effects[i].Expected > price {
			c[i] = 1
		}
	}
	worth := func() float64 { return m.predict(c) - price*float64(c.Size()) }
	for range 4 * factors {
		now, at := worth()+1e-12, [2]int{-1, -1}
		for i := range c {
			c[i] = 1 - c[i]
			for j := i; j < len(c) && (j == i || len(m.Interactions) > 0); j++ {
				if j != i {
					c[j] = 1 - c[j]
				}
				if v := worth(); v > now {
					now, at = v, [2]int{i, j}
				}
				if j != i {
					c[j] = 1 - c[j]
				}
			}
			c[i] = 1 - c[i]
		}
		if at[0] < 0 {
			break
		}
		for k, i := range at {
			if k == 0 || i != at[0] {
				c[i] = 1 - c[i]
			}
		}
	}
	return c
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
