package study

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"linerate/internal/list"
)

// Unit is what one testbed runs at a time: a block.
type Unit struct {
	Part   string
	Blocks []int
}

// Units returns what may run now, on as many equal testbeds in parallel, after the trials
// on record. It returns none if the study is complete or skip (which may be nil) skips
// the rest. All units are of one part, since a part may depend on earlier ones, and end
// at the study's next look.
func Units(s Spec, seed uint64, done []Trial, skip func(Part) bool) (units []Unit) {
	unavailable, byBlock := missing(done), byBlocks(done)
	begun := 0 // blocks of the primary metric's part
	for _, slots := range inBlocks(Schedule(s, seed)) {
		part, _ := s.Part(slots[0].Part)
		if len(units) > 0 && units[0].Part != part.Name {
			break
		}
		if skip != nil && skip(part) {
			continue
		}
		mine := byBlock[slots[0].Block]
		if part.Name == s.Primary().Part {
			if len(mine) == 0 && s.Looks != nil && slices.Contains(s.Looks.Blocks, begun) {
				if len(units) > 0 {
					break
				}
				if s.settled(seed, begun, done) {
					continue
				}
			}
			begun++
		}
		if _, open := nextInBlock(slots, mine, unavailable, s); open {
			units = append(units, Unit{part.Name, []int{slots[0].Block}})
		}
	}
	return units
}

// NextOf is Next within the blocks of a unit; false when the unit is complete.
func NextOf(s Spec, seed uint64, blocks []int, done []Trial, skip func(Part) bool) (Slot, bool) {
	unavailable, byBlock := missing(done), byBlocks(done)
	begun := map[string]int{} // complete blocks of each part
	for _, slots := range inBlocks(Schedule(s, seed)) {
		part, _ := s.Part(slots[0].Part)
		if blocks != nil && !slices.Contains(blocks, slots[0].Block) || skip != nil && skip(part) {
			continue
		}
		mine := byBlock[slots[0].Block]
		if len(mine) > 0 {
			begun[part.Name]++
		} else if blocks == nil && part.Name == s.Primary().Part && s.settled(seed, begun[part.Name], done) {
			continue
		}
		if slot, ok := nextInBlock(slots, mine, unavailable, s); ok {
			return slot, true
		}
	}
	return Slot{}, false
}

// inBlocks splits a schedule into blocks.
func inBlocks(schedule []Slot) (blocks [][]Slot) {
	for len(schedule) > 0 {
		n := 1
		for n < len(schedule) && schedule[n].Block == schedule[0].Block {
			n++
		}
		blocks, schedule = append(blocks, schedule[:n]), schedule[n:]
	}
	return blocks
}

// missing returns the variants that trials found unavailable.
func missing(done []Trial) map[string]bool {
	out := map[string]bool{}
	for _, t := range done {
		if t.Unavailable != "" {
			out[t.Variant] = true
		}
	}
	return out
}

// byBlocks groups trials by block.
func byBlocks(done []Trial) map[int][]Trial {
	out := map[int][]Trial{}
	for _, t := range done {
		out[t.Block] = append(out[t.Block], t)
	}
	return out
}

// Schedule returns the randomised complete block design of a study: every
// block tries every arm once, in an order drawn for that block alone. The
// same seed gives the same schedule.
func Schedule(s Spec, seed uint64) []Slot {
	var slots []Slot
	block := 0
	for _, p := range s.Parts {
		if KindOf(p) == KindSwitchback {
			slots = append(slots, pairSlots(&s, p, seed, block+1)...)
			block = slots[len(slots)-1].Block
			continue
		}
		rng := rand.New(rand.NewPCG(seed, NameHash(p.Name)))
		for range p.Blocks {
			block++
			for i, arm := range shuffled(s.Arms(), rng) {
				slots = append(slots, Slot{Part: p.Name, Block: block, Order: i + 1, Variant: arm})
			}
		}
	}
	return slots
}

// Next returns the slot to run after the trials on record, or false when the
// study is complete. It depends on the record alone, so that a study resumes
// after a crash where it stopped: first the scheduled slots of a block, then
// as many retries as the study allows, then the next block. It skips variants
// found unavailable, and parts for which skip (which may be nil) is true.
func Next(s Spec, seed uint64, done []Trial, skip func(Part) bool) (Slot, bool) {
	return NextOf(s, seed, nil, done, skip)
}

// Slot is one trial to run: its arm, block and place. Blocks are numbered
// from 1 through all parts of a study, places from 1 within a block, so a
// retry's place follows the last arm's.
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

// NameHash gives every part its own random stream, so that adding a part does not change
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
		valid bool // or retrying is in vain
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
	// The arm with the fewest tries goes first, so that one bad arm does not
	// use up the quiet time that the others may need too.
	list.Sort(arms, func(a, b tally) int { return cmp.Compare(a.tried, b.tried) })
	inInstances := slices.ContainsFunc(done, func(t Trial) bool { return t.Attempt() > 0 })
	for _, a := range arms {
		if inInstances && a.slot.Variant != s.Control && a.slot.Variant != AA {
			continue // a fault of one arm would recur in another instance
		}
		if !a.valid && a.tried <= s.Retries && !unavailable[a.slot.Variant] {
			retry := a.slot
			retry.Order, retry.Retry = last+1, true
			return retry, true
		}
	}
	return Slot{}, false
}

// inVain reports whether retrying an invalid trial cannot help: on machines, a
// generator that cannot overload the DUT cannot do so after another boot either.
func (s *Spec) inVain(t Trial) bool { return s.OnMachines() && t.lasting() }
