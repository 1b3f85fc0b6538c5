package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// racers bounds who takes part in a race.
const racers = 6

// raceBlocks is how many blocks a rung of the race has.
const raceBlocks = 3

// race compares the model's candidate with its borderline flips and other doses by
// successive halving: the better half goes on (Karnin, Koren & Somekh, ICML 2013).
// Who is better is judged by model and race together, each with its own precision.
func (s *state) race() (Experiment, bool) {
	rungs := s.of(Race)
	if _, on := s.last(Confirm); on {
		return Experiment{}, false
	}
	var field []Config
	m := s.model()
	if len(rungs) == 0 {
		field = s.field(m)
	} else {
		field = s.survivors(m)
	}
	e := Experiment{Name: fmt.Sprintf("race-%d", len(rungs)+1), Phase: Race, Control: s.base(), Arms: field, Blocks: raceBlocks}
	if len(field) < 2 || e.Slots()+s.toConfirm(m, 0.99) > s.left() {
		return Experiment{}, false
	}
	return e, true
}

// field lists the racers: the model's best; the best with levels that were never measured;
// and the best with the factors flipped, or at other levels, of which the model is least
// sure.
func (s *state) field(m Model) []Config {
	if len(m.Effects) == 0 {
		return nil
	}
	best := m.best(len(s.Levels), s.price(m))
	if m.predict(best) < 2*s.Worth { // many weak effects may be worth what none of them is
		if best = m.dense(len(s.Levels), best); best.Size() > 0 { // a race would drop them one by one
			return []Config{best}
		}
	}
	if best.Size() == 0 {
		return nil
	}
	field := []Config{best}
	type flip struct {
		Config
		doubt float64
	}
	var flips []flip
	at := m.predict(best)
	doubtful := func(other Config, se float64) {
		gain := m.predict(other) - at - s.price(m)*float64(other.Size()-best.Size())
		if doubt := -gain / se; doubt < 2 && other.Size() > 0 {
			flips = append(flips, flip{other, doubt})
		}
	}
	for i, level := range best {
		doubtful(best.With(i, 1-min(1, level)), m.Lenth.PSE)
		for other := 1; other <= s.Levels[i]; other++ {
			switch l, seen := m.level(i, other); {
			case other == level || level == 0 && other == 1:
			case other == 1:
				doubtful(best.With(i, 1), m.Lenth.PSE)
			case seen:
				doubtful(best.With(i, other), math.Hypot(m.Lenth.PSE, l.se))
			case level > 0:
				field = append(field, best.With(i, other))
			}
		}
	}
	slices.SortStableFunc(flips, func(a, b flip) int { return cmp.Compare(a.doubt, b.doubt) })
	for _, f := range flips {
		field = append(field, f.Config)
	}
	return field[:min(len(field), racers, max(1, s.Together))]
}

// survivors are the better half of the last rung.
func (s *state) survivors(m Model) []Config {
	rung, _ := s.last(Race)
	field := slices.Clone(rung.Arms)
	score := s.scores(m, field)
	order := make([]int, len(field))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	out := make([]Config, 0, len(field))
	for _, i := range order[:(len(field)+1)/2] {
		out = append(out, field[i])
	}
	return out
}

// scores are what the model and all rungs together expect of arms, less their
// price. The arms share most of their settings: what counts is how they differ.
func (s *state) scores(m Model, arms []Config) []float64 {
	out := make([]float64, len(arms))
	first := arms[0]
	for i, c := range arms {
		prior := m.predict(c) - m.predict(first)
		differ := 0
		for k := range c {
			if c[k] != first[k] {
				differ++
			}
		}
		// The model's own error of a difference, and a dose that it has not seen.
		variance := float64(max(1, differ)) * (m.Lenth.PSE*m.Lenth.PSE + s.price(m)*s.price(m))
		for k := range c {
			if l, seen := m.level(k, max(c[k], first[k])); seen {
				variance += l.se * l.se
			} else if c[k] > 1 || first[k] > 1 {
				variance += 4 * s.Worth * s.Worth
			}
		}
		mean, n := s.raced(c, first)
		if i > 0 && n > 0 {
			own := 2 * m.SD * m.SD / n
			prior = (prior/variance + mean/own) / (1/variance + 1/own)
		}
		out[i] = prior - s.price(m)*float64(c.Size()-first.Size())
	}
	return out
}

// raced is the mean difference of two arms over all blocks that had both.
func (s *state) raced(a, b Config) (mean, n float64) {
	for _, m := range s.of(Race) {
		i := slices.IndexFunc(m.Arms, func(c Config) bool { return slices.Equal(c, a) })
		j := slices.IndexFunc(m.Arms, func(c Config) bool { return slices.Equal(c, b) })
		if i < 0 || j < 0 {
			continue
		}
		for _, block := range m.Values {
			if d := block[beside+i] - block[beside+j]; !math.IsNaN(d) {
				mean, n = mean+d, n+1
			}
		}
	}
	return mean / max(1, n), n
}

// candidate is who goes into the confirmation; ok is false where nothing promises
// to help.
func (s *state) candidate() (c Config, ok bool) {
	m := s.model()
	if _, raced := s.last(Race); raced {
		return s.survivors(m)[0], true
	}
	field := s.field(m)
	if len(field) == 0 {
		return nil, false
	}
	return field[0], true
}
