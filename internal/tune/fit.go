package tune

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/stats"
)

// Fits returns experiments that precede a search: every factor once by itself, with as many
// arms together as the search wants. They show which factors the testbed lacks, and whether
// it can run this many arms at once. Their values are not used for conclusions.
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

// Factor returns the factor that an arm of a fit changes.
func (m *Measured) Factor(arm int) int {
	return slices.IndexFunc(m.Arms[arm], func(level int) bool { return level > 0 })
}

// Usable returns the share of the available trials that have a value.
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

// Fitness describes how well arms run side by side, from fits with the given number of arms.
type Fitness struct {
	Together int
	Valid    float64 // share of the available trials that have a value
	// Seconds is the time per arm's trial, including control, A/A arm and
	// repetitions, which arms that take turns have in common.
	Seconds float64
	// Scatter is the standard deviation of an arm relative to the others in its block, as a
	// log ratio; it is estimated from the middle half, since few settings have an effect.
	// NaN without values.
	Scatter float64
}

// FitnessOf sums up fits. It does not judge any setting.
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
	f.Scatter = 1.4826 * stats.Median(off) // from the median of a half-normal distribution
	return f
}

// Ample reports whether fewer arms side by side need not be tried: two trials in three
// are valid, and an arm scatters by at most twice what matters.
func (f Fitness) Ample(worth float64) bool { return f.Valid >= 2./3 && f.Scatter <= 2*worth }

// Poor reports whether too few trials are valid for a search: an invalid block is
// tried three times.
func (f Fitness) Poor() bool { return f.Valid < 1./3 || math.IsNaN(f.Scatter) }

// Better reports whether arms fit better than in another fit: the variance of an effect is
// inversely proportional to the number of valid trials per time.
func (f Fitness) Better(than Fitness) bool {
	yield := func(f Fitness) float64 { return f.Valid / (f.Seconds * f.Scatter * f.Scatter) }
	return !f.Poor() && (than.Poor() || yield(f) > yield(than))
}
