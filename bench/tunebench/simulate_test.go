package tunebench

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"linerate/internal/tune"
)

// TestAgainstTheOthers: on every landscape linerate is close to the best method, seldom recommends a setting
// without effect, and claims no winner if there is none. So few studies resolve half a percent.
func TestAgainstTheOthers(t *testing.T) {
	rows, err := Table(20, 7, Methods())
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(Landscapes)+len(Noises())-1 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		ours := r.Methods[0]
		if ours.Method != Linerate || ours.GainPercent > r.BestPercent+1e-9 || ours.Useless > 12 {
			t.Errorf("%s at %g %%: %+v of %.2f %%", r.Name, r.SDPercent, ours, r.BestPercent)
		}
		if r.Active == 0 && ours.Shipped > 0.2 {
			t.Errorf("winners on a landscape without effects: %g", ours.Shipped)
		}
	}
}

// TestSlots: no method exceeds its number of trials, and the same seed gives the same result.
func TestSlots(t *testing.T) {
	for _, l := range Landscapes[:12] {
		for _, m := range Methods() {
			var first tune.Config
			for again := range 2 {
				rng := rand.New(rand.NewPCG(5, 6))
				b := &bench{world: l.draw(rng), sd: 0.01, rng: rng}
				c, err := m.run(b)
				if err != nil {
					t.Fatal(err)
				}
				if b.used > Slots {
					t.Errorf("%s: %s took %d trials of %d", l.Name, m, b.used, Slots)
				}
				if again == 1 && !reflect.DeepEqual(c, first) {
					t.Errorf("%s: %s found %v, then %v", l.Name, m, first, c)
				}
				first = c
			}
		}
	}
}

// TestWorld: no configuration gains more than the best, and settings without effect add nothing.
func TestWorld(t *testing.T) {
	for _, l := range Landscapes {
		rng := rand.New(rand.NewPCG(1, 1))
		w := l.draw(rng)
		b := &bench{world: w, rng: rng}
		most := w.best()
		for range 200 {
			if c := b.random(); 100*w.gain(c) > most+1e-9 {
				t.Errorf("%s: %v gains %g, the best %g", l.Name, c, 100*w.gain(c), most)
			}
		}
		if c := b.base(); w.gain(c) != 0 || w.useless(c) != 0 {
			t.Errorf("%s: the base has a gain", l.Name)
		}
	}
}
