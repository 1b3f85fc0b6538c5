package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"
)

// The arms of windows without treatment.
const (
	Control = "control"
	Sham    = "sham" // the control's values, rewritten in the same way as a treatment's
	Rest    = "rest" // belongs to no pair; limits the share of time under treatment
)

// WindowPlan is the design of a study: the length of windows and the order of pairs.
type WindowPlan struct {
	Window time.Duration
	// BurnIn is the initial part of every window, which does not count, so that
	// the effects of the previous window can fade.
	BurnIn time.Duration
	// Treatments are the names of the arms compared with the control.
	Treatments []string
	// Pairs is the number of pairs of each treatment.
	Pairs int
	// MaxShare is the largest share of time under treatment, shams not included; 0: no limit.
	MaxShare float64
}

// WindowSlot is one window of the schedule.
type WindowSlot struct {
	Pair int    // from 1; 0 for a rest
	Half int    // 1 or 2, in chronological order
	Of   string // the pair's treatment, or Sham
	Arm  string // state of the host: Control, Sham, Rest, or a treatment
}

// Treated reports whether the window changes the host's settings.
func (s WindowSlot) Treated() bool { return s.Arm != Control && s.Arm != Sham && s.Arm != Rest }

// treatmentsPerSham is the number of treatment pairs for each sham pair, so at least one
// pair in four is a sham.
const treatmentsPerSham = 3

// Schedule orders the windows. Pairs come in shuffled groups, with each treatment once
// and as many shams as keep one for every three treatment pairs so far. The order
// within each pair is a fair coin toss, on which the deciding test relies. The same
// seed gives the same schedule, and a longer plan begins like a shorter one.
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

// shamsAfter returns the number of shams in the given number of groups.
func (p WindowPlan) shamsAfter(groups int) int {
	return (groups*len(p.Treatments) + treatmentsPerSham - 1) / treatmentsPerSham
}

// windowsAfter returns the number of windows in the given number of groups, without rests.
func (p WindowPlan) windowsAfter(groups int) int {
	return 2 * (groups*len(p.Treatments) + p.shamsAfter(groups))
}

// restsAfter returns the number of rests that keep the given number of groups below MaxShare.
func (p WindowPlan) restsAfter(groups int) int {
	if p.MaxShare <= 0 {
		return 0
	}
	treated := float64(groups * len(p.Treatments))
	return max(0, int(math.Ceil(treated/p.MaxShare-1e-9))-p.windowsAfter(groups))
}

// Share returns the share of time under treatment.
func (p WindowPlan) Share() float64 {
	return float64(p.Pairs*len(p.Treatments)) / float64(max(1, p.windowsAfter(p.Pairs)+p.restsAfter(p.Pairs)))
}

// Duration returns the duration of all windows, without the switches.
func (p WindowPlan) Duration() time.Duration {
	return time.Duration(p.windowsAfter(p.Pairs)+p.restsAfter(p.Pairs)) * p.Window
}

// Left returns how many windows follow a pair, including rests, until every treatment has
// its pairs. valid holds the valid pairs of each so far; invalid ones are replaced, by up
// to as many again.
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

// Pitch returns the time from the start of a window to the start of the next: the window
// plus the switch. It is the median of the observed times, so that pauses do not count; the
// window's own length if there are none.
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

// PairsIn returns how many pairs of each treatment fit in a duration.
func (p WindowPlan) PairsIn(d time.Duration) int {
	fit := int(d / max(1, p.Window)) // windows
	return sort.Search(fit, func(n int) bool { return p.windowsAfter(n+1)+p.restsAfter(n+1) > fit })
}

// BlocksFor returns the number of pairs, including shams, when every treatment has the
// given number.
func (p WindowPlan) BlocksFor(pairs int) int { return p.windowsAfter(pairs) / 2 }

// pairsOf returns how many pairs each treatment has in the given number of blocks.
func (p WindowPlan) pairsOf(blocks int) int {
	return max(1, sort.Search(blocks, func(n int) bool { return p.BlocksFor(n+1) > blocks }))
}
