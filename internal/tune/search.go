package tune

import (
	"math"
	"slices"

	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/stats"
)

// Config is a configuration: the level of every factor. 0 is the base's, 1 the
// first that is worth trying, more are further doses.
type Config []int

// Size is how many factors are not at the base's level.
func (c Config) Size() (n int) {
	for _, level := range c {
		if level > 0 {
			n++
		}
	}
	return n
}

// With is the configuration with one factor at another level.
func (c Config) With(factor, level int) Config {
	out := slices.Clone(c)
	out[factor] = level
	return out
}

// Phase is what an experiment is for.
type Phase string

// The phases, in order.
const (
	Fit     Phase = "fit"     // how many arms live side by side, and what the testbed has
	Screen  Phase = "screen"  // which factors act
	Confirm Phase = "confirm" // whether it is better than the base
	Guard   Phase = "guard"   // whether it leaves the study's other metrics alone
)

// Experiment is a comparison to be made: blocks of arms that live side by side.
type Experiment struct {
	Name  string `json:"name"` // unique in its search
	Phase Phase  `json:"phase"`
	// Control is what the arms are compared with. Every block has it twice, the
	// second time as the A/A arm.
	Control Config   `json:"control"`
	Arms    []Config `json:"arms"`
	Blocks  int      `json:"blocks"`
	// Looks are the numbers of blocks after which the experiment may end, and Alpha
	// the level of all of them together; without looks every block is run.
	Looks []int   `json:"looks,omitempty"`
	Alpha float64 `json:"alpha,omitempty"`
	// Guards names the guardrails that a guard is to decide on.
	Guards []string `json:"guards,omitempty"`
}

// Slots is how many trials the experiment takes at most.
func (e Experiment) Slots() int { return e.Blocks * (len(e.Arms) + beside) }

// beside is how many arms of a block are not candidates: control and A/A.
const beside = 2

// Measured is an experiment with its results.
type Measured struct {
	Experiment
	// Values are natural logarithms of the metric that is to get better, turned so
	// that more is better; NaN where a trial is invalid. Of each block the control
	// comes first, then the A/A arm, then the arms.
	Values [][]float64
	// Seconds is what it took, of the budget's kind.
	Seconds float64
	// Harm are the guardrails that the candidate is not shown to leave alone; of a
	// confirmation and the guard after it only.
	Harm []Guardrail
	// Ran counts the trials, those among them that repeat an invalid one; Invalid those
	// that were refused, by the gate. Ran is 0 where each arm ran once a block.
	Ran     int
	Invalid map[string]int
	// Unavailable says of arms, by number, why the testbed cannot have them.
	Unavailable map[int]string
}

// Slots is how many values it was to have: one for each arm of each block.
func (m *Measured) Slots() int { return len(m.Values) * (len(m.Arms) + beside) }

// trials is how many it took.
func (m *Measured) trials() int {
	if m.Ran > 0 {
		return m.Ran
	}
	return m.Slots()
}

// Search is the input of a search. The same search and the
// same measurements lead to the same next experiment, always.
type Search struct {
	// Levels is how many levels each factor has in addition to the base's.
	Levels []int
	// Seconds is the budget, and PerSlot how long a trial is believed to take until
	// some have been seen.
	Seconds, PerSlot float64
	// More is what the guard may take beyond the budget, in seconds.
	More float64
	// Together is how many arms can be up at once, not counting control and A/A.
	Together int
	// Worth is the least effect of one setting that matters, as a log ratio: the
	// screening stops when it would be seen, and an equivalent is within it.
	Worth float64
	// Confirmations is which confirmation of its question this is, from 1.
	Confirmations int
	Seed          uint64
}

// base is the configuration that changes nothing.
func (s *Search) base() Config { return make(Config, len(s.Levels)) }

// state is a search with what was measured.
type state struct {
	*Search
	done []Measured
}

// MaxFactors is how many settings one search takes.
const MaxFactors = 126

// Next is what to measure after what is done; ok is false at the end.
func (s *Search) Next(done []Measured) (next Experiment, ok bool, err error) {
	if n := len(s.Levels); n < 1 || n > MaxFactors {
		return Experiment{}, false, hint.With(hint.Usagef("%d settings: a search takes 1 to %d", n, MaxFactors), "leave some out, or name those of interest")
	}
	st := &state{s, done}
	for _, step := range []func() (Experiment, bool){st.screen, st.confirm, st.guard} {
		if next, ok = step(); ok {
			return next, true, nil
		}
	}
	return Experiment{}, false, nil
}

// of are the experiments of a phase.
func (s *state) of(p Phase) (out []Measured) {
	return list.Filter(s.done, func(m Measured) bool { return m.Phase == p })
}

// last is the experiment of a phase that ended it.
func (s *state) last(p Phase) (Measured, bool) {
	all := s.of(p)
	if len(all) == 0 {
		return Measured{}, false
	}
	return all[len(all)-1], true
}

// left is how many trials the budget has left at the pace so far. Confirmation and guard do
// not count towards the pace, because they run other parts in addition to the primary one.
func (s *state) left() int {
	used, own, slots := 0.0, 0.0, 0
	for i := range s.done {
		m := &s.done[i]
		used += m.Seconds
		if m.Phase != Confirm && m.Phase != Guard {
			own, slots = own+m.Seconds, slots+m.Slots()
		}
	}
	pace := s.PerSlot
	if slots > 0 && own > 0 {
		pace = own / float64(slots)
	}
	return int(math.Floor((s.Seconds-used)/pace + 1e-9))
}

// confirmShare: at least one part in so many of the budget is left to the
// confirmation, which is enough where there is something to confirm.
const confirmShare = 5

// total is how many trials the whole budget is, of which so many are left.
func (s *state) total(left int) int {
	for i := range s.done {
		left += s.done[i].Slots()
	}
	return left
}

// beside0 is the variance of one value between arms of a block, estimated from the control
// and its A/A arm, and from how many blocks.
func (s *state) beside0() (variance, n float64) {
	for _, m := range s.done {
		for _, block := range m.Values {
			if d := block[1] - block[0]; !math.IsNaN(d) {
				variance, n = variance+d*d/2, n+1
			}
		}
	}
	return variance / max(1, n), n
}

// toConfirm is about how many trials a confirmation takes that finds the candidate's
// gain with a power, at the level that is due.
func (k *known) toConfirm(power float64) int {
	gain := 2 * k.Worth
	if c, ok := k.choose(); ok {
		gain = max(gain, k.gain(c))
	}
	z := 1.1*stats.NormalQuantile(1-Alpha(k.Confirmations)/2) + stats.NormalQuantile(power)
	n := math.Ceil(z*z*2*k.noise/(gain*gain)) + 3
	return (beside + 1) * int(min(max(leastPairs, n), mostPairs))
}

// Bounds of a confirmation, in blocks.
const (
	leastPairs = 6
	mostPairs  = 60
)
