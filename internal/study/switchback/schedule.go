package switchback

import (
	"math"
	"math/rand/v2"
	"time"
)

// The arms of windows that are no treatment.
const (
	Control = "control"
	Sham    = "sham" // the control's value, written again through the treatment's path
	Rest    = "rest" // belongs to no pair: keeps the share of time under treatment low
)

// Plan is the design of a study: how long windows are and how pairs follow.
type Plan struct {
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

// Slot is one window of the schedule.
type Slot struct {
	Pair int    // from 1; 0: a rest
	Half int    // 1 or 2, in the order of time
	Of   string // the pair's treatment, or Sham
	Arm  string // what the host has in it: Control, Sham, Rest, or a treatment
}

// Treated reports whether the window changes what the host runs with.
func (s Slot) Treated() bool { return s.Arm != Control && s.Arm != Sham && s.Arm != Rest }

// Written reports whether the window begins with a write, real or sham.
func (s Slot) Written() bool { return s.Arm != Control && s.Arm != Rest }

// treatmentsPerSham keeps at least one pair in four a sham.
const treatmentsPerSham = 3

// Schedule orders the windows. Pairs come in groups, each treatment once and a sham
// for every three of them or part of three, shuffled; the order within each pair is a
// fair coin, which is what the deciding test leans on. The same seed gives the same
// schedule, and a longer plan begins like a shorter one.
func (p Plan) Schedule(seed uint64) []Slot {
	var slots []Slot
	pair := 0
	for group := range p.Pairs {
		r := rand.New(rand.NewPCG(seed, uint64(group)))
		for _, of := range p.group(r) {
			pair++
			first, second := Control, of
			if r.IntN(2) == 1 {
				first, second = of, Control
			}
			slots = append(slots, Slot{pair, 1, of, first}, Slot{pair, 2, of, second})
		}
		for range p.rests() {
			slots = append(slots, Slot{Of: Rest, Arm: Rest})
		}
	}
	return slots
}

func (p Plan) group(r *rand.Rand) []string {
	g := append([]string{}, p.Treatments...)
	for range p.shams() {
		g = append(g, Sham)
	}
	r.Shuffle(len(g), func(i, j int) { g[i], g[j] = g[j], g[i] })
	return g
}

func (p Plan) shams() int {
	return (len(p.Treatments) + treatmentsPerSham - 1) / treatmentsPerSham
}

// rests is how many windows of rest a group needs to stay below MaxShare.
func (p Plan) rests() int {
	if p.MaxShare <= 0 {
		return 0
	}
	treated, all := float64(len(p.Treatments)), float64(2*(len(p.Treatments)+p.shams()))
	return int(max(0, math.Ceil(treated/p.MaxShare-all-1e-9)))
}

// Share of the time that is under treatment.
func (p Plan) Share() float64 {
	group := len(p.Treatments) + p.shams()
	return float64(len(p.Treatments)) / float64(2*group+p.rests())
}

// Duration of all windows, without what switching takes.
func (p Plan) Duration() time.Duration {
	return time.Duration(p.Pairs*(2*(len(p.Treatments)+p.shams())+p.rests())) * p.Window
}

// PairsIn is how many pairs of each treatment end within a time.
func (p Plan) PairsIn(d time.Duration) int {
	one := p
	one.Pairs = 1
	return int(d / max(1, one.Duration()))
}
