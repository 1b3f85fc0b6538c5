package study_test

import (
	"fmt"
	"slices"
	"testing"

	"linerate/internal/study"
)

// blocksIn returns the blocks of units.
func blocksIn(units []study.Unit) (out []int) {
	for _, u := range units {
		out = append(out, u.Blocks...)
	}
	return out
}

// runUnits runs a study as many testbeds would: in waves of units.
func runUnits(t *testing.T, s study.Spec, seed uint64, run func(study.Slot) study.Trial) (done []study.Trial, waves [][]int) {
	t.Helper()
	for {
		units := study.Units(s, seed, done, nil)
		if len(units) == 0 {
			return done, waves
		}
		waves = append(waves, blocksIn(units))
		if len(waves) > 50 {
			t.Fatal("the units never end")
		}
		var wave []study.Trial
		for _, u := range units { // each sees only the earlier waves and its own trials
			own := slices.Clone(done)
			for {
				slot, ok := study.NextOf(s, seed, u.Blocks, own, nil)
				if !ok {
					break
				}
				own = append(own, run(slot))
			}
			wave = append(wave, own[len(done):]...)
		}
		done = append(done, wave...)
	}
}

func TestUnitsRunWhatNextRuns(t *testing.T) {
	{
		s := fullGoals(twoParts())
		s.Retries = 1
		of := func(slot study.Slot) study.Trial {
			tr := study.Trial{Part: slot.Part, Variant: slot.Variant, Block: slot.Block, Order: slot.Order, Retry: slot.Retry, Reasons: []study.Refusal{}, Valid: true, Metrics: map[string]float64{}}
			tr.Valid = slot.Block != 2 || slot.Variant != "b" || slot.Retry // one is invalid at first
			return tr
		}
		done, waves := runUnits(t, s, 4, of)
		var one []study.Trial
		for {
			slot, ok := study.Next(s, 4, one, nil)
			if !ok {
				break
			}
			one = append(one, of(slot))
		}
		name := func(t study.Trial) string {
			return fmt.Sprintf("%s %d.%d %s %v", t.Part, t.Block, t.Order, t.Variant, t.Retry)
		}
		var a, b []string
		for _, t := range done {
			a = append(a, name(t))
		}
		for _, t := range one {
			b = append(b, name(t))
		}
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) {
			t.Errorf("units ran\n%v\nbut one lab would run\n%v", a, b)
		}
		if len(waves) != 2 || len(waves[0]) != 5 {
			t.Errorf("waves %v, want one per part", waves)
		}
	}
}

func TestUnitsWaitForLooks(t *testing.T) {
	s := fullGoals(twoParts()).WithLooks(9, 0)
	trials := made(s, 9, nil) // b differs by far, but without a margin c stays undecided
	at := func(slot study.Slot) study.Trial {
		for _, t := range trials {
			if t.Block == slot.Block && t.Variant == slot.Variant {
				return t
			}
		}
		return study.Trial{}
	}
	_, waves := runUnits(t, s, 9, at)
	if len(waves[0]) != 4 {
		t.Errorf("looks at %v, waves %v: the first must end at the first look", s.Looks.Blocks, waves)
	}
	n := 0
	for _, w := range waves[:len(waves)-1] {
		n += len(w)
		if !slices.Contains(s.Looks.Blocks, n) {
			t.Errorf("a wave ends after %d blocks, but there is no look then (%v)", n, s.Looks.Blocks)
		}
	}
}
