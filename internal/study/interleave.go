package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"linerate/internal/load"
	"linerate/internal/testbed"
)

// Interleaving says how the arms of a block took turns.
type Interleaving string

// The ways. In the first two all arms are up at once, as one instance, and
// take turns slice by slice.
const (
	// BySlices: slices of a fraction of a millisecond, on one endless stream.
	BySlices Interleaving = "slices"
	// Alternating: turns of tens of milliseconds. In mode cost they are many
	// such slices in a row, and settings that are global to the kernel are
	// written before each; in mode overload the DUT's queue drains after each.
	Alternating Interleaving = "alternating"
	// Lockstep: searches, which advance together: every arm runs the trial that
	// its search asks for next, in random order, before any runs another.
	Lockstep Interleaving = "lockstep"
	// Together: requests to all servers at the same time, the same to each,
	// a share of a mean gap apart: what the machine does, it does to all.
	Together Interleaving = "together"
	// InSequence: one trial after the other, each of a DUT of its own.
	InSequence Interleaving = "sequential"
)

// BypassLane is the name of the arm without a DUT in an instance's record.
// No variant can have it.
const BypassLane = "(bypass)"

// Interleaving tells how the trials of a part are run on a testbed that can
// have several DUTs up at once: in mode overload, where searches advance in
// lockstep, and in mode cost. A study may ask for sequential trials.
func (s *Spec) Interleaving(p Part) Interleaving {
	if s.OnMachines() {
		return InSequence // there is one DUT
	}
	if p.Mode == testbed.Serve {
		return s.interleavingServers(p)
	}
	if p.Management {
		return InSequence // the DUT is asked for longer than a turn takes
	}
	if p.Mode == testbed.Overload && (s.Interleave == nil || *s.Interleave) && !s.hostScope() {
		if p.Search != nil {
			return Lockstep
		}
		return Alternating
	}
	lanes := len(s.Arms()) + 1
	if p.Mode != testbed.Cost || s.Interleave != nil && !*s.Interleave ||
		lanes*p.Ways() > load.MaxLanes || lanes*p.Ways()*s.Offers(p).Flows > maxLaneFlows {
		return InSequence
	}
	switch {
	case !s.hostScope():
		return BySlices
	case !s.switches():
		return InSequence
	}
	return Alternating
}

// interleavingServers: an open loop leaves room for others beside it, a closed
// one does not. What is global to the kernel has one value at a time: turns of a
// closed loop write an arm's own before each, where that is a sysctl.
func (s *Spec) interleavingServers(p Part) Interleaving {
	open := p.Requests().Rate > 0
	switch {
	case s.Interleave != nil && !*s.Interleave || s.hostScope() && (open || !s.switches()):
		return InSequence
	case open:
		return Together
	}
	return Alternating
}

// switches reports whether all that variants set of what all DUTs share is cheap to
// write again and again, and known to be: sysctls.
func (s *Spec) switches() bool {
	return !slices.ContainsFunc(s.Variants, func(v Variant) bool {
		return slices.ContainsFunc(v.HostScope(), func(set Setting) bool { return set.Sysctl == "" })
	})
}

// hostScope reports whether any variant sets what all DUTs share.
func (s *Spec) hostScope() bool {
	return slices.ContainsFunc(s.Variants, func(v Variant) bool { return len(v.HostScope()) > 0 })
}

// Turns is in how many slices a part's seconds are measured where overloaded
// DUTs take turns.
func (p Part) Turns() int { return max(2, int(math.Round(p.Seconds/overloadFor.Seconds()))) }

// Bursts is in how many rounds a part of mode serve whose turns are a number of
// requests asks, at most.
func (p Part) Bursts() int { return max(2, int(math.Round(p.Seconds/burstFor.Seconds()))) }

// burstFor is how long a burst is thought to take.
const burstFor = 150 * time.Millisecond

// maxLaneFlows bounds the memory of accounts of all lanes together.
const maxLaneFlows = 1 << 21

// The slices of an instance.
const (
	sliceFor    = 350 * time.Microsecond // measured time of a slice, at least
	overloadFor = 50 * time.Millisecond  // a turn of an overloaded DUT
	guardFrames = 128                    // before a slice, not measured
	maxSlices   = 1 << 16
	turnSlices  = 16   // of an arm in a row where settings are written before each turn
	warmFrames  = 2048 // before an arm's first slice, at least
)

// Slicing plans the traffic of one instance of a part.
func (s *Spec) Slicing(p Part, how Interleaving, seed uint64, block, attempt, lanes int) load.SlicePlan {
	plan := load.SlicePlan{Slice: sliceFor, Guard: guardFrames, Limit: seconds(p.Seconds * float64(lanes))}
	if how == Alternating {
		plan.Turn = turnSlices
	}
	turn := max(1, plan.Turn)
	plan.Least = leastRounds * lanes
	most := min(maxSlices, max(int(plan.Limit/plan.Slice), plan.Least)+2*lanes*turn)
	for _, lane := range Rounds(p, seed, block, attempt, lanes, most/turn) {
		plan.Order = append(plan.Order, slices.Repeat([]uint8{lane}, turn)...)
	}
	// Enough that every flow has an entry, wherever one is kept, before it
	// is measured.
	w := s.Offers(p)
	plan.Warm = max(warmFrames, int(2*float64(w.Flows)/max(0.05, 1-w.Elephant))) * p.Ways() // an elephant's are not the others'
	return plan
}

// Rounds is the order of an instance's slices: rounds of every lane once, each
// in a random order of its own. The same arguments give the same order.
func Rounds(p Part, seed uint64, block, attempt, lanes, most int) []uint8 {
	rng := rand.New(rand.NewPCG(seed, nameHash(fmt.Sprintf("%s/%d/%d", p.Name, block, attempt))))
	round := make([]uint8, lanes)
	for i := range round {
		round[i] = uint8(i)
	}
	order := make([]uint8, 0, most)
	for len(order)+lanes <= most {
		rng.Shuffle(lanes, func(i, j int) { round[i], round[j] = round[j], round[i] })
		order = append(order, round...)
	}
	return order
}

// attempt is which instance of its block a trial is of; 0: of none.
func (t Trial) attempt() int {
	if t.Observed == nil || t.Observed.Interleaved == nil {
		return 0
	}
	return t.Observed.Interleaved.Attempt
}

// together reports whether trials are of instances.
func together(trials []Trial) bool {
	return slices.ContainsFunc(trials, func(t Trial) bool { return t.attempt() > 0 })
}

// Attempts is how many instances of a block are on record.
func Attempts(trials []Trial, block int) (n int) {
	for _, t := range trials {
		if t.Block == block {
			n = max(n, t.attempt())
		}
	}
	return n
}

// instances tells which instance counts for each block: arms are compared
// within one instance only, and that is the last whose control is valid.
func instances(s Spec, trials []Trial) map[int]int {
	counts := map[int]int{}
	for _, t := range trials {
		if t.Valid && t.Variant == s.Control {
			counts[t.Block] = max(counts[t.Block], t.attempt())
		}
	}
	return counts
}

// howOf tells how the trials of a variant took turns with the control's.
func howOf(trials []Trial, part, variant string) Interleaving {
	for _, t := range trials {
		if t.Part == part && t.Variant == variant && t.attempt() > 0 {
			return t.Observed.Interleaved.How
		}
	}
	return InSequence
}
