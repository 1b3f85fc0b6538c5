package tune

import (
	"math"
	"testing"
)

// TestFits: every factor occurs once by itself, in experiments as wide as arms can run side by
// side.
func TestFits(t *testing.T) {
	s := newSearch(7)
	s.Together = 3
	seen := make([]int, 7)
	names := map[string]bool{}
	for _, e := range s.Fits() {
		names[e.Name] = true
		if len(e.Arms) > 3 || e.Blocks != 1 || e.Control.Size() != 0 {
			t.Errorf("%+v", e)
		}
		m := Measured{Experiment: e}
		for i, c := range e.Arms {
			if c.Size() != 1 {
				t.Errorf("%s: arm %v is not of one factor", e.Name, c)
			}
			seen[m.Factor(i)]++
		}
	}
	for f, n := range seen {
		if n != 1 {
			t.Errorf("factor %d is in %d arms", f, n)
		}
	}
	if len(names) != 3 {
		t.Errorf("experiments %v", names)
	}
}

// TestUsable counts arms that are available and have no value; what the testbed lacks does not
// suggest too many arms.
func TestUsable(t *testing.T) {
	nan := math.NaN()
	m := Measured{Values: [][]float64{{1, 1, nan, 1, nan}}, Unavailable: map[int]string{0: "no module"}}
	if got := m.Usable(); got != 0.75 {
		t.Errorf("usable %g, want 3 of 4", got)
	}
}

// TestFitness: fewer arms side by side are better only if they scatter so much less, or so many
// more of them are valid, that the same time yields more information.
func TestFitness(t *testing.T) {
	nan := math.NaN()
	arms := make([]Config, 4)
	block := func(values ...float64) Measured {
		return Measured{Experiment: Experiment{Arms: arms}, Values: [][]float64{values}, Seconds: 10}
	}
	// One effective setting does not make the arms scatter.
	if f := FitnessOf(4, []Measured{block(1, 1.01, 1, 0.99, 1.02, 5), block(7, 7.01, nan, nan, nan, 7.02)}); !(math.Abs(f.Scatter-0.0148) <= 0.001) || f.Valid != 0.75 || f.Seconds != 2.5 {
		t.Errorf("%+v", f)
	}
	const worth = 0.0125
	for _, c := range []struct {
		many, few           Fitness
		ample, poor, better bool // many, many, few
	}{
		// If arms run at the same time, a block takes as long with few arms as with many.
		{Fitness{32, 1, 1, 0.01}, Fitness{16, 1, 2, 0.009}, true, false, false},
		{Fitness{32, 0.9, 1, 0.3}, Fitness{16, 1, 2, 0.01}, false, false, true},
		{Fitness{32, 0.9, 1, 0.03}, Fitness{16, 1, 2, 0.025}, false, false, false},
		{Fitness{32, 0.4, 1, 0.01}, Fitness{16, 1, 2, 0.01}, false, false, true},
		{Fitness{32, 0.2, 1, 0.01}, Fitness{16, 0.5, 2, 0.02}, false, true, true},
		{Fitness{8, 0, 1, nan}, Fitness{4, 0, 2, nan}, false, true, false},
		// If they run in turn, each arm takes its own time.
		{Fitness{32, 0.9, 1.06, 0.03}, Fitness{16, 1, 1.12, 0.025}, false, false, true},
	} {
		if c.many.Ample(worth) != c.ample || c.many.Poor() != c.poor || c.few.Better(c.many) != c.better {
			t.Errorf("%+v beside %+v: ample %v, poor %v, better %v", c.many, c.few, c.many.Ample(worth), c.many.Poor(), c.few.Better(c.many))
		}
	}
}

// TestUnmeasured: a search without a single value ends, and claims nothing.
func TestUnmeasured(t *testing.T) {
	s := newSearch(5)
	var done []Measured
	for range 20 {
		e, ok, err := s.Next(done)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		ran := 3 * e.Blocks * (len(e.Arms) + beside)
		m := Measured{Experiment: e, Seconds: 1, Ran: ran, Invalid: map[string]int{"link": ran}}
		for range e.Blocks {
			block := make([]float64, len(e.Arms)+beside)
			for i := range block {
				block[i] = math.NaN()
			}
			m.Values = append(m.Values, block)
		}
		done = append(done, m)
	}
	r, err := s.Result(done)
	if err != nil || !r.Complete || r.Ships != nil || r.SeenPercent.Known() || r.Invalid["link"] != r.Trials || r.Trials == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
