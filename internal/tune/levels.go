package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// LevelEffect is what a level beyond a factor's first does.
type LevelEffect struct {
	Factor int `json:"factor"`
	Level  int `json:"level"`
	// Effect is its gain over the base's level; where the screening's best configuration
	// has the factor at its first level, over that. 0 until it was measured.
	Effect float64 `json:"effect"`
	// Over is the level that it is the gain over: 0 or 1.
	Over int `json:"over"`
	// Active and Expected are as in Effect, with the share and the size that the screening
	// found active effects to have.
	Active   float64 `json:"active"`
	Expected float64 `json:"expected"`
	// Asked counts the blocks that had it, Blocks those of them in which it has a value.
	Asked  int `json:"asked"`
	Blocks int `json:"blocks"`
	// Lacking says why the testbed does not have it; "": it has, or was not asked.
	Lacking string `json:"lacking,omitempty"`

	se float64 // standard error of Effect
}

// levelShare: the levels take at most one part in so many of the budget, beyond a first
// look at each.
const levelShare = 4

// levels measures the further levels of every factor against the best configuration of the
// screening, which tried only the first level: another congestion control or file system
// may help where the first did harm. The levels measured least go first; one that is
// unlikely to pay for its place is dropped. Nothing is claimed from these measurements.
func (s *state) levels() (Experiment, bool) {
	_, racing := s.last(Race)
	_, confirming := s.last(Confirm)
	m := s.model()
	if racing || confirming || len(m.Levels) == 0 {
		return Experiment{}, false
	}
	open := slices.DeleteFunc(slices.Clone(m.Levels), func(l LevelEffect) bool { return !s.open(m, l) })
	slices.SortStableFunc(open, func(a, b LevelEffect) int { return cmp.Compare(a.Asked, b.Asked) })
	open = open[:min(len(open), max(1, s.Together))]
	if len(open) == 0 {
		return Experiment{}, false
	}
	e := Experiment{Name: fmt.Sprintf("levels-%d", len(s.of(Levels))+1), Phase: Levels, Control: m.from, Blocks: 1}
	for _, l := range open {
		e.Arms = append(e.Arms, m.from.With(l.Factor, l.Level))
	}
	left, used := s.left(), e.Slots()
	for _, done := range s.of(Levels) {
		used += done.Slots()
	}
	reserve := s.toConfirm(m, 0.9)
	if open[0].Asked == 0 { // a first look at each, if any confirmation is possible after it
		reserve = min(reserve, (beside+1)*leastPairs)
	}
	if e.Slots()+reserve > left || open[0].Asked > 0 && used > s.total(left)/levelShare {
		return Experiment{}, false
	}
	return e, true
}

// open tells whether more blocks of a level are worth their time.
func (s *state) open(m Model, l LevelEffect) bool {
	if l.Blocks == 0 {
		return l.Asked < 2 // the testbed may not have it
	}
	return l.se > s.Worth/3 && l.Effect+2*l.se > m.priceOf(l, s.price(m))
}

// forLevels is how many trials a screening leaves to the levels.
func (s *state) forLevels() int {
	n := 0
	for _, levels := range s.Levels {
		n += max(0, levels-1)
	}
	together := max(1, s.Together)
	once := n + beside*((n+together-1)/together)
	return min(raceBlocks*once, s.total(s.left())/levelShare)
}

// weighLevels adds what was measured of further levels to the model.
func (s *state) weighLevels(m *Model) {
	m.Levels = []LevelEffect{}
	m.from = m.twoLevel(len(s.Levels), s.price(*m))
	variance := s.noise(*m)
	for f, levels := range s.Levels {
		for level := 2; level <= levels; level++ {
			l := LevelEffect{Factor: f, Level: level, Over: m.from[f]}
			var gains []float64
			for _, done := range s.of(Levels) {
				l.seen(&done, m.from.With(f, level), &gains)
			}
			if l.Blocks = len(gains); l.Blocks > 0 {
				l.Effect, l.se = mean(gains), math.Sqrt(1.5*variance/float64(l.Blocks))
				l.Active, l.Expected = m.shrink(l.Effect, l.se)
			}
			m.Levels = append(m.Levels, l)
		}
	}
}

// seen appends how much more the level's arm has than the mean of control and A/A arm, by
// block, and counts the blocks that had it.
func (l *LevelEffect) seen(m *Measured, of Config, to *[]float64) {
	i := slices.IndexFunc(m.Arms, func(c Config) bool { return slices.Equal(c, of) })
	if i < 0 {
		return
	}
	l.Lacking = m.Unavailable[i]
	for _, block := range m.Values {
		l.Asked++
		if d := block[beside+i] - (block[0]+block[1])/2; !math.IsNaN(d) {
			*to = append(*to, d)
		}
	}
}

func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

// level is what is known of a factor's level beyond the first; ok is false where nothing is.
func (m *Model) level(factor, level int) (l LevelEffect, ok bool) {
	i := slices.IndexFunc(m.Levels, func(l LevelEffect) bool { return l.Factor == factor && l.Level == level && l.Blocks > 0 })
	if i < 0 {
		return l, false
	}
	return m.Levels[i], true
}

// priceOf is what a level must promise for its place: nothing more where the factor's
// first level has one already.
func (m *Model) priceOf(l LevelEffect, price float64) float64 {
	if m.from[l.Factor] > 0 {
		return 0
	}
	return price
}

// best is the configuration of the greatest predicted gain, each setting of which must pay
// its price, at the level that promises most.
func (m *Model) best(factors int, price float64) Config {
	c := m.twoLevel(factors, price)
	for i := range c {
		most := 0.0
		for _, l := range m.Levels {
			if gain := l.Expected - m.priceOf(l, price); l.Factor == i && l.Blocks > 0 && gain > most {
				most, c[i] = gain, l.Level
			}
		}
	}
	return c
}
