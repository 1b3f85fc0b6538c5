package tune

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/stats"
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

// Fitness is how well arms fit side by side, by the fits of so many.
type Fitness struct {
	Together int
	Valid    float64 // the share of the available trials that have a value
	// Seconds are what an arm's trial took, with those of control and A/A arm and all
	// that had to be repeated: arms that take turns share only these.
	Seconds float64
	// Scatter is the standard deviation of an arm relative to the others of its block, as a
	// log ratio, from the middle half, since few settings have an effect. NaN without
	// values.
	Scatter float64
}

// FitnessOf sums fits up. No setting is judged by it.
func FitnessOf(together int, fits []Measured) Fitness {
	f := Fitness{Together: together}
	arms := 0.0
	var off []float64
	for i := range fits {
		m := &fits[i]
		n := float64(len(m.Arms))
		f.Valid, arms, f.Seconds = f.Valid+m.Usable()*n, arms+n, f.Seconds+m.Seconds
		for _, block := range m.Values {
			have := slices.DeleteFunc(slices.Clone(block), math.IsNaN)
			middle := stats.Median(have)
			for _, v := range have {
				off = append(off, math.Abs(v-middle))
			}
		}
	}
	f.Valid, f.Seconds = f.Valid/max(1, arms), f.Seconds/max(1, arms)
	f.Scatter = 1.4826 * stats.Median(off) // the median of half a normal distribution
	return f
}

// Ample reports that fewer arms side by side need not be tried: two trials in three are
// valid, and an arm scatters by no more than twice what matters.
func (f Fitness) Ample(worth float64) bool { return f.Valid >= 2./3 && f.Scatter <= 2*worth }

// Poor reports that too few trials are valid to search with: an invalid block is tried
// three times.
func (f Fitness) Poor() bool { return f.Valid < 1./3 || math.IsNaN(f.Scatter) }

// Better reports whether arms fit better than others do: the variance of an effect falls with
// the number of valid trials in the same time.
func (f Fitness) Better(than Fitness) bool {
	yield := func(f Fitness) float64 { return f.Valid / (f.Seconds * f.Scatter * f.Scatter) }
	return !f.Poor() && (than.Poor() || yield(f) > yield(than))
}
