package study

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Slot is one trial to be run: which arm, in which block, at which place.
// Blocks are counted through all parts of a study, from 1; places within a
// block too, so that a retry has a place after the last arm.
type Slot struct {
	Part    string
	Block   int
	Order   int
	Variant string
	Retry   bool // it repeats an invalid trial of its block
}

func shuffled(names []string, rng *rand.Rand) []string {
	out := slices.Clone(names)
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// NameHash gives every part a separate random stream, so that adding a part does not change
// the order of the others.
func NameHash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

func nextInBlock(slots []Slot, done []Trial, unavailable map[string]bool, s Spec) (Slot, bool) {
	last := len(slots)
	for _, t := range done {
		last = max(last, t.Order)
	}
	type tally struct {
		slot  Slot
		tried int
		valid bool // or tried in vain
	}
	arms := make([]tally, 0, len(slots))
	for _, slot := range slots {
		a := tally{slot: slot}
		for _, t := range done {
			if t.Variant == slot.Variant {
				a.tried++
				a.valid = a.valid || t.Valid || s.inVain(t)
			}
		}
		if a.tried == 0 && !unavailable[slot.Variant] {
			return slot, true
		}
		arms = append(arms, a)
	}
	// The arm tried least goes first, so that one bad arm does not starve
	// the others of the quiet time they may need too.
	slices.SortStableFunc(arms, func(a, b tally) int { return cmp.Compare(a.tried, b.tried) })
	inInstances := slices.ContainsFunc(done, func(t Trial) bool { return t.Attempt() > 0 })
	for _, a := range arms {
		if inInstances && a.slot.Variant != s.Control && a.slot.Variant != AA {
			continue // what is wrong with one arm of an instance, another would have too
		}
		if !a.valid && a.tried <= s.Retries && !unavailable[a.slot.Variant] {
			retry := a.slot
			retry.Order, retry.Retry = last+1, true
			return retry, true
		}
	}
	return Slot{}, false
}

// inVain reports whether a trial that was not valid would not be the next time: on
// machines a generator that cannot overload the DUT cannot after another boot.
func (s *Spec) inVain(t Trial) bool { return s.OnMachines() && t.lasting() }
