package study_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/study"
	"linerate/internal/testbed"
)

func twoParts() study.Spec {
	return study.Spec{
		Name: "x", Control: "a", Retries: 2, Variants: []study.Variant{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Parts: []study.Part{
			{Name: "cost", Mode: testbed.Cost, Rate: study.MaxRate, Blocks: 5, Seconds: 1},
			{Name: "over", Mode: testbed.Overload, Rate: study.MaxRate, Blocks: 2, Seconds: 1},
		},
		Metrics: []study.Goal{{Metric: study.CostNS, Part: "cost", Primary: true, MarginPercent: 3}},
		Gates:   study.DefaultGates(),
	}
}

func TestScheduleIsCompleteBlocks(t *testing.T) {
	s := twoParts()
	slots := study.Schedule(s, 7)
	if want := (5 + 2) * 4; len(slots) != want {
		t.Fatalf("%d slots, want %d", len(slots), want)
	}
	orders := map[string]bool{}
	for block := 1; block <= 7; block++ {
		var arms []string
		order := ""
		for _, slot := range slots {
			if slot.Block == block {
				arms = append(arms, slot.Variant)
				order += slot.Variant + " "
				if slot.Order != len(arms) {
					t.Errorf("block %d: position %d is numbered %d", block, len(arms), slot.Order)
				}
			}
		}
		orders[order] = true
		slices.Sort(arms)
		if !slices.Equal(arms, []string{"a", "aa", "b", "c"}) {
			t.Errorf("block %d tries %v, want every arm once, including the A/A arm", block, arms)
		}
	}
	if len(orders) < 3 {
		t.Errorf("seven blocks have %d orders: they are not random", len(orders))
	}
}

func TestScheduleIsTheSeeds(t *testing.T) {
	s := twoParts()
	if diff := cmp.Diff(study.Schedule(s, 7), study.Schedule(s, 7)); diff != "" {
		t.Errorf("the same seed gave another schedule:\n%s", diff)
	}
	if cmp.Equal(study.Schedule(s, 7), study.Schedule(s, 8)) {
		t.Error("another seed gave the same schedule")
	}
}

// TestScheduleHasNoFavourites: over many blocks every arm is at every position about equally often.
func TestScheduleHasNoFavourites(t *testing.T) {
	s := twoParts()
	s.Parts[0].Blocks = 4000
	count := map[string]int{}
	for _, slot := range study.Schedule(s, 1) {
		if slot.Part == "cost" && slot.Order == 1 {
			count[slot.Variant]++
		}
	}
	for arm, n := range count {
		if n < 850 || n > 1150 { // 1000 ± 5.5 standard deviations
			t.Errorf("%s comes first in %d of 4000 blocks", arm, n)
		}
	}
}

// runAll follows Next, adding a trial with the given validity for each slot.
func runAll(s study.Spec, seed uint64, done []study.Trial, valid func(study.Slot) bool) []study.Trial {
	for len(done) < 1000 {
		slot, ok := study.Next(s, seed, done, nil)
		if !ok {
			return done
		}
		done = append(done, study.Trial{Part: slot.Part, Variant: slot.Variant, Block: slot.Block, Order: slot.Order, Retry: slot.Retry, Valid: valid(slot)})
	}
	return done
}

func TestNextFollowsTheSchedule(t *testing.T) {
	s := twoParts()
	done := runAll(s, 3, nil, func(study.Slot) bool { return true })
	want := study.Schedule(s, 3)
	if len(done) != len(want) {
		t.Fatalf("%d trials for %d slots", len(done), len(want))
	}
	for i, slot := range want {
		if got := (study.Slot{done[i].Part, done[i].Block, done[i].Order, done[i].Variant, done[i].Retry}); got != slot {
			t.Errorf("trial %d is %+v, scheduled was %+v", i, got, slot)
		}
	}
}

// TestNextGoesOnAnywhere cuts a run at every trial: resuming each partial record gives the same
// complete record.
func TestNextGoesOnAnywhere(t *testing.T) {
	s := twoParts()
	moody := func(slot study.Slot) bool { return (slot.Block*7+slot.Order*3)%5 != 0 }
	whole := runAll(s, 3, nil, moody)
	for cut := range whole {
		got := runAll(s, 3, slices.Clone(whole[:cut]), moody)
		if diff := cmp.Diff(whole, got); diff != "" {
			t.Fatalf("resumed after %d trials:\n%s", cut, diff)
		}
	}
}

func TestNextRetriesAtTheBlocksEnd(t *testing.T) {
	s := twoParts()
	done := runAll(s, 3, nil, func(slot study.Slot) bool { return slot.Block != 2 || slot.Variant != "b" })
	var tries []study.Trial
	for i, d := range done {
		if d.Block == 2 && d.Variant == "b" {
			tries = append(tries, d)
			if i+1 < len(done) && done[i+1].Block > 3 {
				t.Errorf("a retry of block 2 ran after block 3 began")
			}
		}
	}
	if len(tries) != 1+s.Retries {
		t.Fatalf("an arm that is never valid was tried %d times, want %d", len(tries), 1+s.Retries)
	}
	if tries[0].Retry || !tries[1].Retry || tries[1].Order != 5 || tries[2].Order != 6 {
		t.Errorf("retries do not come after the block's arms: %+v", tries)
	}
}

func TestNextPassesOverWhatCannotBe(t *testing.T) {
	s := twoParts()
	first := study.Schedule(s, 3)[0]
	done := []study.Trial{{Part: first.Part, Variant: first.Variant, Block: 1, Order: 1, Unavailable: "no such thing"}}
	for _, d := range runAll(s, 3, done, func(study.Slot) bool { return true })[1:] {
		if d.Variant == first.Variant {
			t.Fatalf("block %d tried %s, which is unavailable", d.Block, d.Variant)
		}
	}
	slot, ok := study.Next(s, 3, nil, func(p study.Part) bool { return p.Mode == testbed.Cost })
	if !ok || slot.Part != "over" || slot.Block != 6 {
		t.Errorf("without mode cost the next slot is %+v", slot)
	}
}
