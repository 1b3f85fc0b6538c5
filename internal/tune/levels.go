package tune

import "slices"

// LevelEffect is what a level beyond a factor's first does.
type LevelEffect struct {
	Factor int `json:"factor"`
	Level  int `json:"level"`
	// Effect is its gain over the base's level. 0 until it was measured.
	Effect float64 `json:"effect"`
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

// level is what is known of a factor's level beyond the first; ok is false where nothing is.
func (m *Model) level(factor, level int) (l LevelEffect, ok bool) {
	i := slices.IndexFunc(m.Levels, func(l LevelEffect) bool { return l.Factor == factor && l.Level == level && l.Blocks > 0 })
	if i < 0 {
		return l, false
	}
	return m.Levels[i], true
}

// leans is how many standard errors an effect must have to be in the dense candidate.
const leans = 1.3

// dense is every factor at the level that leans most to help, and else as in a sparse candidate.
func (m *Model) dense(factors int, sparse Config) Config {
	c := slices.Clone(sparse)
	for i := range c {
		most := leans
		if z := m.Effects[i].Effect / m.Lenth.PSE; c[i] == 0 && z > most {
			most, c[i] = z, 1
		}
		for _, l := range m.Levels {
			if l.Factor == i && l.Blocks > 0 && sparse[i] == 0 && l.Effect/l.se > most {
				most, c[i] = l.Effect/l.se, l.Level
			}
		}
	}
	return c
}

// best is the configuration of the greatest predicted gain, each setting of which must pay
// its price, at the level that promises most.
func (m *Model) best(factors int, price float64) Config {
	c := m.twoLevel(factors, price)
	for i := range c {
		most := price
		if c[i] > 0 {
			most = m.Effects[i].Expected
		}
		for _, l := range m.Levels {
			if l.Factor == i && l.Blocks > 0 && l.Expected > most {
				most, c[i] = l.Expected, l.Level
			}
		}
	}
	return c
}
