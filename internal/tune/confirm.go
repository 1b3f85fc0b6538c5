package tune

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/stats"
)

// confirm compares the candidate with the base, on new blocks.
func (s *state) confirm() (Experiment, bool) {
	if _, done := s.last(Confirm); done {
		return Experiment{}, false
	}
	k := s.learn()
	c, ok := k.choose()
	if !ok {
		return Experiment{}, false
	}
	blocks := min(mostPairs, s.left()/(beside+1), 2*k.toConfirm(0.99)/(beside+1))
	e := Experiment{Name: string(Confirm), Phase: Confirm, Control: s.base(), Arms: []Config{c}, Alpha: Alpha(s.Confirmations)}
	e.Looks = looks(k.toConfirm(0.5)/(beside+1), max(leastPairs, blocks))
	e.Blocks = e.Looks[len(e.Looks)-1]
	return e, true
}

// looks plans the looks at a study of n blocks: the first when it has an even chance to
// detect the expected gain, each further one after half as many blocks more.
func looks(first, n int) (at []int) {
	for k := max(4, first); k < n; k = max(k+1, k*3/2) {
		at = append(at, k)
	}
	return append(at, n)
}

// Judged is the result of comparing an arm with its control.
type Judged struct {
	stats.Result
	Blocks int     `json:"blocks"`
	Alpha  float64 `json:"alpha"`
	// DetectablePercent is the effect that so many blocks would detect with a
	// power of 0.8.
	DetectablePercent stats.Number `json:"detectable_percent"`

	sd float64
}

// Judge compares an arm of an experiment with its control after the blocks so far, by the
// study's own group-sequential test; settled reports whether no more blocks are needed.
func (m *Measured) Judge(arm int) (j Judged, settled bool) {
	c := stats.CompareBlocks(m.arm(-beside), []stats.Arm{m.arm(arm)}, moreIsBetter)[0]
	j = Judged{Blocks: c.N, Alpha: level}
	if plan, err := stats.NewSequential(m.Looks, m.Alpha); err == nil && len(m.Looks) > 0 {
		look, at := plan.Look(len(m.Values))
		if !at {
			look = max(0, look-1)
		}
		c, settled = plan.Settle(c, look, moreIsBetter)
		j.Alpha, settled = m.Alpha, settled && at
	}
	j.Result, j.sd = c.Result(), c.SD
	return j, settled
}

// detect fills in the detectable effect.
func (j Judged) detect() *Judged {
	j.DetectablePercent = stats.Num(stats.Percent(stats.MinimumDetectableEffect(j.sd, j.Blocks, j.Alpha, 0.8)))
	return &j
}

// moreIsBetter holds the options for values, which are turned so that more is better.
var moreIsBetter = stats.Options{Better: stats.HigherIsBetter, NoPlan: true, Bare: true}

// arm returns the values of an arm (−2: the control, −1: the A/A arm), as ratios
// to the block's first value.
func (m *Measured) arm(n int) stats.Arm {
	a := stats.Arm{Name: fmt.Sprint(n)}
	for _, block := range m.Values {
		a.Values = append(a.Values, math.Exp(block[beside+n]-level0(block)))
	}
	return a
}

// level0 returns a block's reference value, which keeps exponentials of logarithms near 1.
func level0(block []float64) float64 {
	if i := slices.IndexFunc(block, func(v float64) bool { return !math.IsNaN(v) }); i >= 0 {
		return block[i]
	}
	return 0
}

// confirmed returns the candidate if its confirmation succeeded.
func (s *state) confirmed() (Config, bool) {
	m, ok := s.last(Confirm)
	if !ok || len(s.harm()) > 0 {
		return nil, false
	}
	j, _ := m.Judge(0)
	return m.Arms[0], j.Verdict == stats.Better
}

// level is the significance level of all confirmations of a question together.
const level = 0.05

// Alpha returns the level of the k-th confirmation of a question, from 1: 5 %
// · 6/(π²k²). The sum over all k is 5 %, so repeated searches find a false
// winner for at most one question in twenty.
func Alpha(k int) float64 {
	k = max(1, k)
	return level * 6 / (math.Pi * math.Pi * float64(k) * float64(k))
}
