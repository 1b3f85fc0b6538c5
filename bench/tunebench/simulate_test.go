package tunebench

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"linerate/internal/tune"
)

// TestAgainstTheOthers: on the same hosts, with as many trials, nobody gains more
// than linerate at any noise, and everybody ships more that is useless. The bench does
// it with more studies; so few tell differences of a tenth of a per cent.
func TestAgainstTheOthers(t *testing.T) {
	rows, err := Table(context.Background(), 150, 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(Noises()) {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		ours := r.Methods[0]
		if ours.Method != Linerate || ours.GainPercent > BestPercent {
			t.Errorf("at %g %%: first is %s with %+.2f %%", r.SDPercent, ours.Method, ours.GainPercent)
		}
		for _, o := range r.Methods[1:] {
			if o.GainPercent > ours.GainPercent+0.1 || o.Useless < ours.Useless+3 {
				t.Errorf("at %g %%: %s gains %+.2f %% with %.1f useless settings, linerate %+.2f %% with %.1f",
					r.SDPercent, o.Method, o.GainPercent, o.Useless, ours.GainPercent, ours.Useless)
			}
		}
	}
}

// TestNulls: where nothing helps linerate seldom says that something does, and
// successive halving nearly always.
func TestNulls(t *testing.T) {
	var told int
	rates, err := Nulls(context.Background(), 400, 3, func(n int) { told += n })
	if err != nil {
		t.Fatal(err)
	}
	if rates[Linerate] > 0.05 || rates[Halving] < 0.5 {
		t.Errorf("winners of nothing: %v", rates)
	}
	if want := 400 * len(Methods()); told != want {
		t.Errorf("progress told of %d studies, want %d", told, want)
	}
}

// TestSlots: no method takes more trials than it may, and the same seed finds the same.
func TestSlots(t *testing.T) {
	for _, m := range Methods() {
		var first tune.Config
		for again := range 2 {
			rng := rand.New(rand.NewPCG(5, 6))
			b := &bench{world: newWorld(rng), sd: 0.01, rng: rng}
			c, err := m.run(b)
			if err != nil {
				t.Fatal(err)
			}
			if b.used > Slots || b.used < Slots/2 {
				t.Errorf("%s took %d trials of %d", m, b.used, Slots)
			}
			if again == 1 && !reflect.DeepEqual(c, first) {
				t.Errorf("%s found %v, then %v", m, first, c)
			}
			first = c
		}
	}
}

// TestWorld: the best of all configurations gains what is promised, and settings
// that do nothing add nothing.
func TestWorld(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(rand.New(rand.NewPCG(seed, 1)))
		c, act := make(tune.Config, Settings), []int{}
		for i, e := range w.effect {
			if e != 0 {
				act = append(act, i)
			} else {
				c[i] = 1
			}
		}
		if len(act) != Active || w.useless(c) != Settings-Active || w.gain(c) != 0 {
			t.Fatalf("seed %d: %d act, %d useless, gain %g", seed, len(act), w.useless(c), w.gain(c))
		}
		best := 0.0
		for set := range 1 << Active {
			for k, i := range act {
				c[i] = set >> k & 1
			}
			best = max(best, w.gain(c))
		}
		if got := 100 * math.Expm1(best); !(math.Abs(got-BestPercent) <= 1e-9) {
			t.Errorf("seed %d: the best gains %g %%", seed, got)
		}
	}
}
