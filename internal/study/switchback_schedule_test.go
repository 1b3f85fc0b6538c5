package study

import (
	"slices"
	"testing"
	"time"
)

func TestScheduleGroups(t *testing.T) {
	for _, treatments := range [][]string{{"a"}, {"a", "b", "c"}, {"a", "b", "c", "d"}} {
		p := WindowPlan{Treatments: treatments, Pairs: 40, Window: time.Minute}
		slots := p.Schedule(7)
		count, firsts := map[string]int{}, map[string]int{}
		for i := 0; i < len(slots); i += 2 {
			a, b := slots[i], slots[i+1]
			if a.Pair != b.Pair || a.Half != 1 || b.Half != 2 || a.Of != b.Of {
				t.Fatalf("windows do not form a pair: %+v %+v", a, b)
			}
			if arms := []string{a.Arm, b.Arm}; !slices.Contains(arms, Control) || !slices.Contains(arms, a.Of) {
				t.Errorf("pair %d of %s has arms %v", a.Pair, a.Of, arms)
			}
			count[a.Of]++
			if a.Arm == Control {
				firsts[a.Of]++
			}
		}
		for _, of := range treatments {
			if count[of] != 40 || firsts[of] < 8 || firsts[of] > 32 {
				t.Errorf("%s: %d pairs, control first in %d", of, count[of], firsts[of])
			}
		}
		if all := len(slots) / 2; 4*count[Sham] < all {
			t.Errorf("%d sham pairs of %d", count[Sham], all)
		}
		if got, want := p.Duration(), time.Duration(len(slots))*time.Minute; got != want {
			t.Errorf("duration %v, the windows take %v", got, want)
		}
	}
}

// TestScheduleGoesOn: a longer plan begins like a shorter one, so that pairs can be added to a study.
func TestScheduleGoesOn(t *testing.T) {
	p := WindowPlan{Treatments: []string{"a", "b"}, Pairs: 5, MaxShare: 0.2}
	short := p.Schedule(3)
	p.Pairs = 9
	if long := p.Schedule(3); !slices.Equal(short, long[:len(short)]) {
		t.Error("a longer plan begins differently")
	}
	if other := p.Schedule(4); slices.Equal(other, p.Schedule(3)) {
		t.Error("two seeds give the same schedule")
	}
}

func TestMaxShare(t *testing.T) {
	for _, share := range []float64{0.5, 0.25, 0.2, 0.1, 0.01} {
		p := WindowPlan{Treatments: []string{"a"}, Pairs: 10, MaxShare: share, Window: time.Second}
		treated, slots := 0, p.Schedule(1)
		for _, s := range slots {
			if s.Treated() {
				treated++
			}
		}
		if got := float64(treated) / float64(len(slots)); got > share || p.Share() != got {
			t.Errorf("maximum share %g: %g of the windows are treated, Share says %g", share, got, p.Share())
		}
	}
	p := WindowPlan{Treatments: []string{"a"}, Pairs: 6}
	if n := p.BlocksFor(6); n != 8 || len(p.Schedule(1)) != 16 || p.pairsOf(n) != 6 || p.pairsOf(n-1) != 5 {
		t.Errorf("six pairs are %d blocks, %d windows", n, len(p.Schedule(1)))
	}
	p = WindowPlan{Treatments: []string{"a"}, Window: 5 * time.Minute, MaxShare: 0.25}
	if n := p.PairsIn(time.Hour); n != 3 {
		t.Errorf("%d pairs in an hour", n)
	}
}

// TestLooks: the first look comes as soon as the test can reach its significance level.
func TestLooks(t *testing.T) {
	for pairs, want := range map[int][]int{6: {6}, 7: {7}, 12: {8, 12}, 24: {11, 16, 24}, 100: {21, 31, 46, 69, 100}} {
		if got := (WindowPlan{Treatments: []string{"a"}}).LooksIn(pairs); !slices.Equal(got, want) {
			t.Errorf("looks of %d pairs at %v, want %v", pairs, got, want)
		}
	}
	if one, two := (WindowPlan{Treatments: []string{"a"}}), (WindowPlan{Treatments: []string{"a", "b"}}); one.LeastPairs() != 6 || two.LeastPairs() != 7 {
		t.Errorf("at least %d and %d pairs", one.LeastPairs(), two.LeastPairs())
	}
	if l := (WindowPlan{Treatments: []string{"a"}}).LooksOf(12, 0); !slices.Equal(l.Blocks, []int{11, 16}) {
		t.Errorf("in blocks %v", l.Blocks)
	}
}

func TestPitch(t *testing.T) {
	const window = 2 * time.Second
	at := func(seconds ...float64) (starts []time.Time) {
		for _, s := range seconds {
			starts = append(starts, time.Unix(0, int64(s*1e9)))
		}
		return starts
	}
	for _, c := range []struct {
		name   string
		starts []time.Time
		want   time.Duration
	}{
		{"nothing seen", nil, window},
		{"one window", at(5), window},
		{"switching takes half a second", at(0, 2.5, 5, 7.5), 2500 * time.Millisecond},
		{"a night between two pairs", at(0, 3, 40000, 40003, 40006), 3 * time.Second},
		{"a rest after each pair", at(0, 3, 9, 12, 18, 21), 3 * time.Second},
		{"a clock that was set back", at(100, 50, 52.5, 55), 2500 * time.Millisecond},
	} {
		if got := Pitch(c.starts, window); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestLeft: nine pairs and three shams, with rest windows that limit the treated time to a fifth. The
// number of windows left shrinks to zero, and grows by the pairs that turn out invalid.
func TestLeft(t *testing.T) {
	p := WindowPlan{Treatments: []string{"a"}, Pairs: 9, Window: time.Minute, MaxShare: 0.2}
	slots := p.Schedule(3)
	for slots[len(slots)-1].Of != "a" { // the study ends with the last pair of a treatment
		slots = slots[:len(slots)-1]
	}
	if got := p.Left(3, 0, nil); got != len(slots) {
		t.Errorf("%d windows before the first pair, of %d", got, len(slots))
	}
	valid, left, rests := map[string]int{}, len(slots), 0
	for _, slot := range slots {
		if slot.Half != 2 {
			continue
		}
		valid[slot.Of]++
		now := p.Left(3, slot.Pair, valid)
		if left-now < 2 {
			t.Fatalf("pair %d: %d windows left, %d before it", slot.Pair, now, left)
		}
		rests += left - now - 2
		left = now
	}
	if rests == 0 || left != 0 {
		t.Errorf("%d rests, %d windows after the last pair", rests, left)
	}
	valid["a"] -= 2
	if again := p.Left(3, 12, valid); again < left+4 {
		t.Errorf("%d windows left with two invalid pairs, %d with none", again, left)
	}
}
