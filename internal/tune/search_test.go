package tune

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"linerate/internal/stats"
)

// host is a simulated host: the gains of each factor's first level, and of one pair.
type host struct {
	effect []float64
	pair   [2]int
	both   float64
	sd     float64
	// other are levels whose gain is a different multiple of the first level's.
	other map[[2]int]float64
}

func (h host) measure(rng *rand.Rand, e Experiment) Measured {
	m := Measured{Experiment: e}
	for n := 1; n <= e.Blocks; n++ {
		var block []float64
		for _, c := range append([]Config{e.Control, e.Control}, e.Arms...) {
			v := 7 + h.sd*rng.NormFloat64()
			for i, l := range c {
				if gain, ok := h.other[[2]int{i, l}]; ok {
					v += gain
				} else if l > 0 {
					v += h.effect[i] * float64(l)
				}
			}
			if h.both != 0 && c[h.pair[0]] > 0 && c[h.pair[1]] > 0 {
				v += h.both
			}
			block = append(block, v)
		}
		m.Values = append(m.Values, block)
		if _, settled := m.Judge(0); slices.Contains(e.Looks, n) && settled {
			break
		}
	}
	m.Seconds = float64(m.Slots())
	return m
}

func (h host) search(t *testing.T, s *Search, seed uint64) ([]Measured, Result) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	var done []Measured
	for {
		e, ok, err := s.Next(done)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if slices.ContainsFunc(done, func(m Measured) bool { return m.Name == e.Name }) || e.Blocks < 1 || len(e.Arms) == 0 {
			t.Fatalf("experiment %+v after %d", e, len(done))
		}
		done = append(done, h.measure(rng, e))
	}
	r, err := s.Result(done)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete {
		t.Error("the search is not complete")
	}
	return done, r
}

func newSearch(factors int) *Search {
	s := &Search{Seconds: 2000, PerSlot: 1, Together: 12, Worth: math.Log1p(0.0025), Confirmations: 1, Seed: 9}
	for range factors {
		s.Levels = append(s.Levels, 1)
	}
	return s
}

// TestFinds: the search finds three settings that help among 23 and ships nothing else; the
// reported interval contains the true gain.
func TestFinds(t *testing.T) {
	h := host{effect: make([]float64, 23), sd: 0.004}
	h.effect[3], h.effect[11], h.effect[20], h.effect[7] = 0.02, 0.015, 0.01, -0.03
	done, r := h.search(t, newSearch(23), 1)
	want := make(Config, 23)
	want[3], want[11], want[20] = 1, 1, 1
	if !reflect.DeepEqual(r.Ships, want) {
		t.Errorf("ships %v, want %v", r.Ships, want)
	}
	if truth := stats.Percent(0.045); r.Confirmation == nil || !(r.Confirmation.CILow.Float() < truth && truth < r.Confirmation.CIHigh.Float()) || math.Abs(r.ExpectedPercent.Float()-truth) > 0.5 {
		t.Errorf("gain %+v, expected %v, and the truth is %.2f %%", r.Confirmation, r.ExpectedPercent, truth)
	}
	if r.Trials > 2000 {
		t.Errorf("%d trials of 2000", r.Trials)
	}
	phases := map[Phase]bool{}
	for _, m := range done {
		phases[m.Phase] = true
	}
	if !phases[Screen] || !phases[Confirm] {
		t.Errorf("phases %v", phases)
	}
}

// TestWeakOnesShip: of weak effects that are confirmed together most are shipped, although none of
// them is certain.
func TestWeakOnesShip(t *testing.T) {
	had, shipped := 0, 0
	for seed := range uint64(12) {
		h := host{effect: make([]float64, 30), sd: 0.01}
		h.effect[0], h.effect[1], h.effect[2], h.effect[3] = 0.003, 0.003, 0.003, 0.003
		s := newSearch(30)
		s.Seconds = 240
		if _, r := h.search(t, s, seed); r.Ships != nil {
			had, shipped = had+r.Candidate[:4].Size(), shipped+r.Ships[:4].Size()
		}
	}
	if had < 20 || shipped < had*3/4 {
		t.Errorf("%d of %d were shipped, of 48", shipped, had)
	}
}

// TestPassengers: a candidate of many probably helpful settings is confirmed, and those with hardly
// any effect of their own are not shipped.
func TestPassengers(t *testing.T) {
	useless, lines, left := 0, 0, 0
	for seed := range uint64(12) {
		h := host{effect: make([]float64, 20), sd: 0.01}
		h.effect[0], h.effect[1], h.effect[2] = 0.006, 0.005, 0.005
		s := newSearch(20)
		s.Seconds = 240
		_, r := h.search(t, s, seed)
		if left += r.Candidate.Size() - r.Ships.Size(); r.Ships == nil {
			continue
		}
		for f, l := range r.Ships {
			if lines += l; l > 0 && h.effect[f] == 0 {
				useless++
			}
			if l > r.Candidate[f] {
				t.Errorf("ships %v of %v", r.Ships, r.Candidate)
			}
		}
		if !(r.ExpectedPercent.Float() > 0) {
			t.Errorf("expects %v", r.ExpectedPercent)
		}
	}
	if useless*3 > lines || lines < 12 || left == 0 {
		t.Errorf("%d of %d lines do nothing, %d were left out", useless, lines, left)
	}
}

// TestInteraction: two settings that help only together are recognised, and antagonists are not
// shipped together.
func TestInteraction(t *testing.T) {
	h := host{effect: make([]float64, 12), sd: 0.003, pair: [2]int{2, 5}, both: -0.035}
	h.effect[2], h.effect[5], h.effect[8] = 0.03, 0.02, 0.02
	_, r := h.search(t, newSearch(12), 4)
	if len(r.Model.Interactions) == 0 || r.Model.Interactions[0].A != 2 || r.Model.Interactions[0].B != 5 || r.Model.Interactions[0].Effect > -0.02 {
		t.Errorf("interactions %+v", r.Model.Interactions)
	}
	if r.Ships == nil || r.Ships[2] != 1 || r.Ships[5] != 0 || r.Ships[8] != 1 {
		t.Errorf("ships %v", r.Ships)
	}
}

// TestDoses: a second level that is better than the first wins.
func TestDoses(t *testing.T) {
	h := host{effect: make([]float64, 8), sd: 0.003}
	h.effect[1] = 0.02
	s := newSearch(8)
	s.Levels[1] = 2
	_, r := h.search(t, s, 5)
	if r.Ships == nil || r.Ships[1] != 2 {
		t.Errorf("ships %v", r.Ships)
	}
}

// TestFirstLook: if noise and a small budget leave no time to confirm the best of the screening,
// every level is still tried.
func TestFirstLook(t *testing.T) {
	s := newSearch(10)
	s.Seconds, s.Levels[2], s.Levels[4] = 70, 3, 3
	_, r := host{effect: make([]float64, 10), sd: 0.3}.search(t, s, 3)
	for _, l := range r.Model.Effects {
		if l.Seen == 0 {
			t.Errorf("nothing of level %d of factor %d after %d trials", l.Level, l.Factor, r.Trials)
		}
	}
}

// TestLevels: a helpful level is found even if the first level of its factor does harm or nothing,
// a level that the testbed lacks stops nothing, and levels without effect are not shipped.
func TestLevels(t *testing.T) {
	s := newSearch(10)
	s.Levels[2], s.Levels[4], s.Levels[6], s.Levels[7] = 3, 4, 3, 2
	h := host{effect: make([]float64, 10), sd: 0.004, other: map[[2]int]float64{
		{2, 2}: 0.03, {2, 3}: 0, {4, 2}: 0, {4, 3}: 0.02, {4, 4}: -0.05, {6, 2}: math.NaN(), {6, 3}: 0, {7, 2}: 0.03,
	}}
	h.effect[2], h.effect[7] = -0.05, 0.02
	_, r := h.search(t, s, 11)
	if want := (Config{0, 0, 2, 0, 3, 0, 0, 2, 0, 0}); !reflect.DeepEqual(r.Ships, want) {
		t.Errorf("ships %v, want %v; levels %+v", r.Ships, want, r.Model.Effects)
	}
	for _, e := range r.Model.Effects {
		if e.Factor == 4 && e.Level == 4 && e.Expected > 0 || e.Factor == 6 && e.Level == 2 && e.Seen > 0 || !(e.Low-e.SE <= e.Expected && e.Expected <= e.High+e.SE) {
			t.Errorf("a level that harms, or is lacking: %+v", e)
		}
	}
}

// TestNothing: if nothing helps, nothing is shipped, and the result states the smallest effect that
// would have been found.
func TestNothing(t *testing.T) {
	shipped := 0
	for seed := range uint64(40) {
		h := host{effect: make([]float64, 15), sd: 0.01}
		s := newSearch(15)
		for i := range 5 * (seed % 2) { // every other host has factors of many levels
			s.Levels[i] = 4
		}
		_, r := h.search(t, s, seed)
		if r.Ships != nil {
			shipped++
		}
		if seen := r.SeenPercent.Float(); !(seen > 0 && seen < 3) {
			t.Errorf("seed %d: would have seen %g %%", seed, seen)
		}
	}
	if shipped > 4 {
		t.Errorf("%d of 40 searches found a winner of nothing", shipped)
	}
}

// TestHarm: a candidate that violates a guardrail is not shipped.
func TestHarm(t *testing.T) {
	h := host{effect: []float64{0.03, 0, 0, 0, 0, 0}, sd: 0.003}
	s := newSearch(6)
	done, r := h.search(t, s, 6)
	if r.Ships == nil {
		t.Fatal("nothing was found")
	}
	i := slices.IndexFunc(done, func(m Measured) bool { return m.Phase == Confirm })
	done = done[:i+1]
	done[i].Harm = []Guardrail{{Name: "loss_ratio"}}
	r, err := s.Result(done)
	if err != nil || r.Ships != nil || !r.Complete || len(r.Harm) != 1 {
		t.Errorf("ships %v, harm %v, complete %v, %v", r.Ships, r.Harm, r.Complete, err)
	}
}

// TestGuard: what a confirmation left undecided is measured again if the budget allows, and then
// decides.
func TestGuard(t *testing.T) {
	h := host{effect: []float64{0.03, 0, 0, 0, 0, 0}, sd: 0.003}
	s := newSearch(6)
	done, _ := h.search(t, s, 6)
	i := slices.IndexFunc(done, func(m Measured) bool { return m.Phase == Confirm })
	done = slices.Clone(done[:i+1])
	open := []Guardrail{{"loss_ratio in part new", 9}, {"cpu in part new", 20}}
	done[i].Harm = open
	e, ok, err := s.Next(done)
	if err != nil || !ok || e.Phase != Guard || e.Blocks != 20 || len(e.Guards) != 2 || !reflect.DeepEqual(e.Arms, done[i].Arms) {
		t.Fatalf("next %+v, %v, %v", e, ok, err)
	}
	m := h.measure(rand.New(rand.NewPCG(1, 1)), e)
	for _, c := range []struct {
		harm  []Guardrail
		ships bool
	}{{nil, true}, {open[:1], false}, {[]Guardrail{{"another", 3}}, true}} {
		m.Harm = c.harm
		r, err := s.Result(append(slices.Clone(done), m))
		if err != nil || (r.Ships != nil) != c.ships {
			t.Errorf("%v after the guard: ships %v, harm %v, %v", c.harm, r.Ships, r.Harm, err)
		}
	}
	// 85 blocks are more than two thirds of a guard's maximum, 100 are too many; hopeless cases
	// are not measured.
	for blocks, want := range map[int]Phase{85: Guard, 100: "", 0: ""} {
		done[i].Harm = []Guardrail{{"loss_ratio", blocks}}
		if e, _, _ := s.Next(done); e.Phase != want {
			t.Errorf("%d blocks needed: %q", blocks, e.Phase)
		}
	}
	done[i].Harm = []Guardrail{{"loss_ratio", 50}}
	s.Seconds = 1
	if e, _, _ := s.Next(done); e.Phase == Guard {
		t.Error("a guard beyond its budget")
	}
	if s.More = 1e6; true {
		if e, _, _ := s.Next(done); e.Phase != Guard {
			t.Errorf("with more time: %q", e.Phase)
		}
	}
}

// TestMissing: invalid trials do not change the effects of the others.
func TestMissing(t *testing.T) {
	h := host{effect: make([]float64, 14), sd: 1e-9}
	h.effect[4], h.effect[9] = 0.02, -0.01
	s := newSearch(14)
	rng := rand.New(rand.NewPCG(8, 8))
	var done []Measured
	for {
		e, _, err := s.Next(done)
		if err != nil {
			t.Fatal(err)
		}
		if e.Phase != Screen || len(done) == 3 {
			break
		}
		m := h.measure(rng, e)
		m.Values[0][beside+len(done)] = math.NaN()
		done = append(done, m)
	}
	r, err := s.Result(done)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Model.Effects {
		if want := h.effect[e.Factor]; !(math.Abs(e.Effect-want) <= 1e-3) || e.Seen == 0 {
			t.Errorf("effect of %d: %+v, want %g", e.Factor, e, want)
		}
	}
}

// TestAlpha: the significance levels of all confirmations of a question add up to five per cent.
func TestAlpha(t *testing.T) {
	sum := 0.0
	for k := 1; k < 100000; k++ {
		sum += Alpha(k)
	}
	if !(math.Abs(sum-0.05) <= 1e-6) || !(math.Abs(Alpha(2)-Alpha(1)/4) <= 1e-15) || Alpha(0) != Alpha(1) {
		t.Errorf("sum %g, first %g", sum, Alpha(1))
	}
}
