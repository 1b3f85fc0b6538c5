package tune

import (
	"slices"

	"linerate/internal/stats"
)

// Guardrail is a metric on which a candidate was not shown to be harmless.
type Guardrail struct {
	Name string
	// Blocks is about how many blocks show, with a power of 0.8, that it is worse by at
	// most its margin, if half of the observed gain is real; 0: no number of blocks does.
	Blocks int
}

// overdrawn allows the guard this fraction of the budget (one in overdrawn) even if
// earlier phases have used it all, since without it their result is lost.
const overdrawn = 4

// guard measures again, on new blocks, what the confirmation left open: the primary
// metric ends a confirmation, possibly too early for the others. Each of the two has
// a one-sided level of 2.5 %.
func (s *state) guard() (Experiment, bool) {
	m, ok := s.last(Confirm)
	if _, done := s.last(Guard); done || !ok || s.openBlocks() == 0 {
		return Experiment{}, false
	}
	need := s.openBlocks()
	blocks := min(need, mostPairs, s.overdraft(m))
	if blocks < need*2/3 {
		return Experiment{}, false
	}
	e := Experiment{Name: string(Guard), Phase: Guard, Control: m.Control, Arms: m.Arms, Blocks: max(blocks, leastPairs)}
	for _, g := range m.Harm {
		e.Guards = append(e.Guards, g.Name)
	}
	return e, true
}

// openBlocks returns how many blocks decide on every guardrail that a winner's
// confirmation left open; 0 if there is none, or one of them cannot be decided.
func (s *state) openBlocks() (need int) {
	m, ok := s.last(Confirm)
	if !ok {
		return 0
	}
	if j, _ := m.Judge(0); j.Verdict != stats.Better {
		return 0
	}
	for _, g := range m.Harm {
		if g.Blocks == 0 {
			return 0
		}
		need = max(need, g.Blocks)
	}
	return need
}

// overdraft returns how many blocks like those of an experiment the guard may take.
func (s *state) overdraft(like Measured) int {
	used := 0.0
	for i := range s.done {
		used += s.done[i].Seconds
	}
	seconds := max(s.Seconds-used, s.Seconds/overdrawn, s.More)
	return int(seconds / max(1e-9, perBlock(like)))
}

// perBlock returns the duration of an experiment's block, including its other parts, in seconds.
func perBlock(m Measured) float64 { return m.Seconds / float64(max(1, len(m.Values))) }

// harm returns the guardrails on which neither the confirmation nor the guard showed
// the candidate to be harmless.
func (s *state) harm() (out []string) {
	confirm, _ := s.last(Confirm)
	guard, guarded := s.last(Guard)
	for _, g := range confirm.Harm {
		still := func(o Guardrail) bool { return o.Name == g.Name }
		if !guarded || slices.ContainsFunc(guard.Harm, still) {
			out = append(out, g.Name)
		}
	}
	return out
}
