package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"
)

// The arms of windows that are no treatment.
const (
	Control = "control"
	Sham    = "sham" // the control's value, written again through the treatment's path
	Rest    = "rest" // belongs to no pair: keeps the share of time under treatment low
)

// WindowPlan is the design of a study: how long windows are and how pairs follow.
type WindowPlan struct {
	Window time.Duration
	// BurnIn is the start of every window that does not count, in which what the
	// window before left behind fades.
	BurnIn time.Duration
	// Treatments are the names of what is compared with the control.
	Treatments []string
	// Pairs is how many pairs each treatment gets.
	Pairs int
	// MaxShare of the time may be under treatment, shams not counted; 0: no limit.
	MaxShare float64
}

// WindowSlot is one window of the schedule.
type WindowSlot struct {
	Pair int    // from 1; 0: a rest
	Half int    // 1 or 2, in the order of time
	Of   string // the pair's treatment, or Sham
	Arm  string // what the host has in it: Control, Sham, Rest, or a treatment
}

// Treated reports whether the window changes what the host runs with.
func (s WindowSlot) Treated() bool { return s.Arm != Control && s.Arm != Sham && s.Arm != Rest }

// treatmentsPerSham is how many pairs of treatments share one pair of shams, so at least
// one pair in four is a sham.
const treatmentsPerSham = 3

// Schedule orders the windows. Pairs come in groups, each treatment once, with as many
// shams as keep them one for every three pairs of treatments so far, shuffled; the
// order within each pair is a fair coin, which is what the deciding test leans on. The
// same seed gives the same schedule, and a longer plan begins like a shorter one.
func (p WindowPlan) Schedule(seed uint64) []WindowSlot {
	var slots []WindowSlot
	pair := 0
	for group := range p.Pairs {
		r := rand.New(rand.NewPCG(seed, uint64(group)))
		for _, of := range p.group(r, group) {
			pair++
			first, second := Control, of
			if r.IntN(2) == 1 {
				first, second = of, Control
			}
			slots = append(slots, WindowSlot{pair, 1, of, first}, WindowSlot{pair, 2, of, second})
		}
		for range p.restsAfter(group+1) - p.restsAfter(group) {
			slots = append(slots, WindowSlot{Of: Rest, Arm: Rest})
		}
	}
	return slots
}

func (p WindowPlan) group(r *rand.Rand, group int) []string {
	g := append([]string{}, p.Treatments...)
	for range p.shamsAfter(group+1) - p.shamsAfter(group) {
		g = append(g, Sham)
	}
	r.Shuffle(len(g), func(i, j int) { g[i], g[j] = g[j], g[i] })
	return g
}

// shamsAfter is how many shams so many groups have.
func (p WindowPlan) shamsAfter(groups int) int {
	return (groups*len(p.Treatments) + treatmentsPerSham - 1) / treatmentsPerSham
}

// windowsAfter is how many windows so many groups have, without rests.
func (p WindowPlan) windowsAfter(groups int) int {
	return 2 * (groups*len(p.Treatments) + p.shamsAfter(groups))
}

// restsAfter is how many windows of rest keep so many groups below MaxShare.
func (p WindowPlan) restsAfter(groups int) int {
	if p.MaxShare <= 0 {
		return 0
	}
	treated := float64(groups * len(p.Treatments))
	return max(0, int(math.Ceil(treated/p.MaxShare-1e-9))-p.windowsAfter(groups))
}

// Share of the time that is under treatment.
func (p WindowPlan) Share() float64 {
	return float64(p.Pairs*len(p.Treatments)) / float64(max(1, p.windowsAfter(p.Pairs)+p.restsAfter(p.Pairs)))
}

// Duration of all windows, without what switching takes.
func (p WindowPlan) Duration() time.Duration {
	return time.Duration(p.windowsAfter(p.Pairs)+p.restsAfter(p.Pairs)) * p.Window
}

// Left is how many windows come after a pair, rests among them, until every treatment has
// its pairs: valid has how many of each count so far, and those that do not are made up
// for, up to as many again.
func (p WindowPlan) Left(seed uint64, pair int, valid map[string]int) int {
	missing, treatments := map[string]int{}, 0
	for _, t := range p.Treatments {
		if missing[t] = p.Pairs - valid[t]; missing[t] > 0 {
			treatments++
		}
	}
	again := p
	again.Pairs *= 2
	left := 0
	for _, slot := range again.Schedule(seed) {
		if slot.Pair > 0 && slot.Pair <= pair {
			left = 0
			continue
		}
		if treatments == 0 && slot.Half != 2 {
			break
		}
		left++
		if missing[slot.Of] > 0 && slot.Half == 2 {
			if missing[slot.Of]--; missing[slot.Of] == 0 {
				treatments--
			}
		}
	}
	return left
}

// Pitch is the time from the start of a window to that of the next: the window, and what
// the switch between two costs. It is the median of what was seen, so that a pause does not
// count; the window's own length where nothing was seen yet.
func Pitch(starts []time.Time, window time.Duration) time.Duration {
	var seen []time.Duration
	for i := 1; i < len(starts); i++ {
		seen = append(seen, starts[i].Sub(starts[i-1]))
	}
	if len(seen) == 0 {
		return window
	}
	slices.Sort(seen)
	return max(window, seen[(len(seen)-1)/2])
}

// PairsIn is how many pairs of each treatment end within a time.
func (p WindowPlan) PairsIn(d time.Duration) int {
	fit := int(d / max(1, p.Window)) // windows
	return sort.Search(fit, func(n int) bool { return p.windowsAfter(n+1)+p.restsAfter(n+1) > fit })
}

// BlocksFor is how many pairs there are, shams among them, when every treatment has so
// many.
func (p WindowPlan) BlocksFor(pairs int) int { return p.windowsAfter(pairs) / 2 }

// pairsOf is how many pairs each treatment has when there are so many blocks.
func (p WindowPlan) pairsOf(blocks int) int {
	return max(1, sort.Search(blocks, func(n int) bool { return p.BlocksFor(n+1) > blocks }))
}
