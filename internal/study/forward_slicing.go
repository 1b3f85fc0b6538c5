package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"linerate/internal/load"
)

// Turns is in how many slices a part's seconds are measured where overloaded
// DUTs take turns.
func Turns(p Part) int { return max(2, int(math.Round(p.Seconds/overloadFor.Seconds()))) }

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
func Slicing(s *Spec, p Part, how Interleaving, seed uint64, block, attempt, lanes int) load.SlicePlan {
	plan := load.SlicePlan{Slice: sliceFor, Guard: guardFrames, Limit: Seconds(p.Seconds * float64(lanes))}
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
	plan.Warm = max(warmFrames, int(2*float64(w.Flows)/max(0.05, 1-w.Elephant))) * DirectionCount(p) // an elephant's are not the others'
	return plan
}

// Rounds is the order of an instance's slices: each round has every lane once, in a fresh
// random order. The same arguments give the same order.
func Rounds(p Part, seed uint64, block, attempt, lanes, most int) []uint8 {
	rng := rand.New(rand.NewPCG(seed, NameHash(fmt.Sprintf("%s/%d/%d", p.Name, block, attempt))))
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
