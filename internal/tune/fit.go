package tune

import (
	"fmt"
	"math"
)

// Fits are experiments that precede a search: every factor once by itself, as many arms
// together as the search wants. They show which factors the testbed does not have, and
// whether it can run so many arms at once. Nothing is concluded from their values.
func (s *Search) Fits() (out []Experiment) {
	var e Experiment
	for f := range s.Levels {
		e.Arms = append(e.Arms, s.base().With(f, 1))
		if len(e.Arms) == max(1, s.Together) || f == len(s.Levels)-1 {
			e.Name, e.Phase, e.Control, e.Blocks = fmt.Sprintf("fit-%d-%d", s.Together, len(out)+1), Fit, s.base(), 1
			out, e = append(out, e), Experiment{}
		}
	}
	return out
}

// Factor is the factor that an arm of a fit has by itself.
func (m *Measured) Factor(arm int) int {
	for f, level := range m.Arms[arm] {
		if level > 0 {
			return f
		}
	}
	return -1
}

// Usable is the share of the available trials that have a value.
func (m *Measured) Usable() float64 {
	valid, all := 0.0, 0.0
	for _, block := range m.Values {
		for i, v := range block {
			if _, gone := m.Unavailable[i-beside]; gone {
				continue
			}
			all++
			if !math.IsNaN(v) {
				valid++
			}
		}
	}
	return valid / max(1, all)
}
