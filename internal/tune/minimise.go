package tune

import (
	"fmt"
	"math"

	"linerate/internal/stats"
)

// Bounds of the blocks of a minimisation.
const (
	leastDrops = 4
	mostDrops  = 200
)

// minimise compares the confirmed candidate with itself without each of its settings.
// It is skipped where the budget cannot show that a setting does nothing.
func (s *state) minimise() (Experiment, bool) {
	c, ok := s.confirmed()
	if _, on := s.last(Check); !ok || on || c.Size() < 2 {
		return Experiment{}, false
	}
	groups := s.dropGroups(c)
	done := len(s.of(Minimise))
	if done >= len(groups) {
		return Experiment{}, false
	}
	arms := c.Size() + beside*len(groups)
	blocks := mostDrops
	if done > 0 {
		first := s.of(Minimise)[0]
		blocks = first.Blocks
	} else {
		reserve := 3 * leastPairs * 2
		blocks = min(blocks, (s.left()-reserve)/arms)
		need := s.toDrop(c.Size())
		if blocks < leastDrops || blocks < need*2/3 {
			return Experiment{}, false
		}
		blocks = min(blocks, 2*need)
	}
	e := Experiment{Name: fmt.Sprintf("minimise-%d", done+1), Phase: Minimise, Control: c, Blocks: blocks}
	for _, f := range groups[done] {
		e.Arms = append(e.Arms, c.With(f, 0))
	}
	return e, true
}

// dropGroups deals the settings of a candidate to experiments.
func (s *state) dropGroups(c Config) [][]int {
	n := (c.Size() + max(1, s.Together) - 1) / max(1, s.Together)
	out := make([][]int, n)
	k := 0
	for f, l := range c {
		if l > 0 {
			out[k%n] = append(out[k%n], f)
			k++
		}
	}
	return out
}

// toDrop is how many blocks show, with a power of 0.9, that the candidate is no worse
// without one of so many settings, at Holm's first step.
func (s *state) toDrop(settings int) int {
	z := stats.NormalQuantile(1-level/float64(settings)) + stats.NormalQuantile(0.9)
	own, _ := s.beside0()
	n := z * z * 2 * max(s.learn().noise, own) / (s.Worth * s.Worth)
	if math.IsNaN(n) || n > 1e6 {
		return math.MaxInt32
	}
	return int(math.Ceil(n)) + 2
}

// Dropped is what became of one setting of the confirmed candidate.
type Dropped struct {
	Factor int `json:"factor"`
	stats.Result
	// PNotWorse is the corrected p by which the candidate is shown to be no worse
	// without it, but for less than an effect that matters.
	PNotWorse stats.Number `json:"p_not_worse_holm"`
	// Idle: that is shown, and the setting goes.
	Idle bool `json:"idle"`
}

// drops judges all drop-one arms together: Holm over all of them.
func (s *state) drops() (out []Dropped) {
	c, ok := s.confirmed()
	if !ok {
		return nil
	}
	var p, q []float64
	for _, m := range s.of(Minimise) {
		for i, arm := range m.Arms {
			cmp := m.compare(-beside, i)
			d := Dropped{Result: cmp.Result()}
			for f := range c {
				if c[f] != arm[f] {
					d.Factor = f
				}
			}
			p, q = append(p, cmp.P), append(q, cmp.Effect.NotBelow(-s.Worth))
			out = append(out, d)
		}
	}
	p, q = stats.Holm(p), stats.Holm(q)
	for i := range out {
		out[i].PHolm, out[i].PNotWorse = stats.Num(p[i]), stats.Num(q[i])
		out[i].Idle = q[i] <= level
	}
	return out
}

// reduced is the candidate without what it does without; false where that is all
// or nothing of it.
func (s *state) reduced() (Config, bool) {
	c, _ := s.confirmed()
	out, dropped := c, false
	for _, d := range s.drops() {
		if d.Idle {
			out, dropped = out.With(d.Factor, 0), true
		}
	}
	return out, dropped && out.Size() > 0
}

// check compares the reduced candidate, and the whole, with the base on fresh
// blocks: the page's figures of the plan are measured on the plan.
func (s *state) check() (Experiment, bool) {
	c, ok := s.confirmed()
	if _, done := s.last(Check); !ok || done {
		return Experiment{}, false
	}
	r, ok := s.reduced()
	if !ok {
		return Experiment{}, false
	}
	confirmed, _ := s.last(Confirm)
	e := Experiment{Name: string(Check), Phase: Check, Control: s.base(), Arms: []Config{r, c}, Alpha: confirmed.Alpha}
	// Blocks of the minimisation and of the check run only the primary part; those of the
	// confirmation also ran the guardrails' parts.
	like, _ := s.last(Minimise)
	affords := max(s.left(), s.overdraft(like)*(len(like.Arms)+beside)) / (len(e.Arms) + beside)
	blocks := min(mostPairs, max(leastPairs, len(confirmed.Values), s.toDrop(1)), affords)
	if blocks < leastDrops {
		return Experiment{}, false
	}
	e.Blocks = blocks
	return e, true
}
