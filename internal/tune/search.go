package tune

import (
	"math"
	"slices"

	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/stats"
)

// Config is a configuration: the level of every factor. 0 is the base's level,
// 1 the first one to try, and more are further doses.
type Config []int

// Size returns the number of factors that are not at the base's level.
func (c Config) Size() int {
	return list.Count(c, func(level int) bool { return level > 0 })
}

// With returns the configuration with one factor at another level.
func (c Config) With(factor, level int) Config {
	out := slices.Clone(c)
	out[factor] = level
	return out
}

// Phase is the purpose of an experiment.
type Phase string

// The phases, in order.
const (
	Fit     Phase = "fit"     // how many arms can run side by side, and what the testbed supports
	Screen  Phase = "screen"  // which factors have an effect
	Confirm Phase = "confirm" // whether the candidate is better than the base
	Guard   Phase = "guard"   // whether the candidate harms the study's other metrics
)

// Experiment is a comparison to run: blocks of arms that run side by side.
type Experiment struct {
	Name  string `json:"name"` // unique in its search
	Phase Phase  `json:"phase"`
	// Control is the configuration with which the arms are compared. Every
	// block has it twice, the second time as the A/A arm.
	Control Config   `json:"control"`
	Arms    []Config `json:"arms"`
	Blocks  int      `json:"blocks"`
	// Looks lists the numbers of blocks after which the experiment may end; Alpha
	// is their overall level. Without looks every block is run.
	Looks []int   `json:"looks,omitempty"`
	Alpha float64 `json:"alpha,omitempty"`
	// Guards names the guardrails that a guard must decide.
	Guards []string `json:"guards,omitempty"`
}

// beside is the number of arms in a block that are not candidates: control and A/A.
const beside = 2

// Measured is an experiment with its results.
type Measured struct {
	Experiment
	// Values are natural logarithms of the primary metric, turned so that more is
	// better; NaN if a trial is invalid. In each block the control comes first,
	// then the A/A arm, then the arms.
	Values [][]float64
	// Seconds is the time it took, which counts against the budget.
	Seconds float64
	// Harm lists the guardrails on which the candidate was not shown to be
	// harmless; only for a confirmation and its guard.
	Harm []Guardrail
	// Ran counts the trials, including repetitions of invalid ones; Invalid counts
	// those refused, by gate. Ran is 0 if each arm ran once per block.
	Ran     int
	Invalid map[string]int
	// Unavailable says why the testbed cannot run an arm, by its number.
	Unavailable map[int]string
}

// Slots returns the number of expected values: one for each arm of each block.
func (m *Measured) Slots() int { return len(m.Values) * (len(m.Arms) + beside) }

// trials returns the number of trials that it took.
func (m *Measured) trials() int {
	if m.Ran > 0 {
		return m.Ran
	}
	return m.Slots()
}

// Search is the input of a search. The same search and measurements always
// lead to the same next experiment.
type Search struct {
	// Levels is the number of levels of each factor, in addition to the base's.
	Levels []int
	// Seconds is the budget. PerSlot is the estimated duration of a trial until
	// some have been measured.
	Seconds, PerSlot float64
	// More is what the guard may use beyond the budget, in seconds.
	More float64
	// Together is the number of arms that can be up at once, not counting control and A/A.
	Together int
	// Worth is the smallest effect of one setting that matters, as a log ratio: the
	// screening stops when it would detect it, and equivalents lie within it.
	Worth float64
	// Confirmations is the number of this confirmation of its question, from 1.
	Confirmations int
	Seed          uint64
}

// base returns the configuration that changes nothing.
func (s *Search) base() Config { return make(Config, len(s.Levels)) }

// state is a search with its measurements.
type state struct {
	*Search
	done []Measured
}

// MaxFactors is the largest number of settings in a search.
const MaxFactors = 126

// Next returns what to measure after done; ok is false at the end.
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

// of returns the experiments of a phase.
func (s *state) of(p Phase) (out []Measured) {
	return list.Filter(s.done, func(m Measured) bool { return m.Phase == p })
}

// last returns the last experiment of a phase.
func (s *state) last(p Phase) (Measured, bool) {
	all := s.of(p)
	if len(all) == 0 {
		return Measured{}, false
	}
	return all[len(all)-1], true
}

// left returns how many trials fit in the remaining budget at the pace so far. Confirmation and
// guard do not count towards the pace, because they run other parts in addition to the primary one.
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

// confirmShare reserves this fraction of the budget (one in confirmShare) for
// the confirmation, which suffices if there is something to confirm.
const confirmShare = 5

// total returns the whole budget in trials, given the number left.
func (s *state) total(left int) int {
	for i := range s.done {
		left += s.done[i].Slots()
	}
	return left
}

// beside0 returns the variance of one value between arms of a block, estimated from the
// control and the A/A arm, and the number of blocks used.
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

// toConfirm estimates how many trials a confirmation takes to detect the candidate's
// gain with the given power, at its level.
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
