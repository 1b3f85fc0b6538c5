package study

import (
	"slices"

	"linerate/internal/list"
	"linerate/internal/stats"
)

// Width is how wide the intervals of the primary metric were after so many blocks.
type Width struct {
	Blocks int `json:"blocks"`
	// AA is half the A/A arm's interval, Widest half the widest of the variants', in
	// percent, or in percentage points of shares.
	AA     stats.Number `json:"aa"`
	Widest stats.Number `json:"widest"`
}

// Narrowing is Interim after each number of whole blocks, from the first that has
// intervals on, beyond after, at most so many, evenly spread, the last among them. A block
// is whole when each arm that has ever been tried has a trial of it.
func (s Spec) Narrowing(seed uint64, trials []Trial, after, most int) []Width {
	part := s.Primary().Part
	arms, byBlock := map[string]bool{}, map[int]map[string]bool{}
	for _, t := range trials {
		if t.Part != part || t.Unavailable != "" {
			continue
		}
		if byBlock[t.Block] == nil {
			byBlock[t.Block] = map[string]bool{}
		}
		arms[t.Variant], byBlock[t.Block][t.Variant] = true, true
	}
	var whole []int
	for b, has := range byBlock {
		if len(has) == len(arms) {
			whole = append(whole, b)
		}
	}
	slices.Sort(whole)
	var at []int // numbers of blocks
	for n := max(minBlocks, after+1); n <= len(whole); n++ {
		at = append(at, n)
	}
	step := (len(at) + most - 1) / max(1, most)
	var out []Width
	for i, n := range at {
		if step > 1 && (len(at)-1-i)%step != 0 {
			continue
		}
		last := whole[n-1]
		w := Width{Blocks: n}
		w.AA, w.Widest = s.Interim(seed, upTo(trials, part, last))
		out = append(out, w)
	}
	return out
}

// minBlocks are the fewest blocks that have an interval.
const minBlocks = 3

// upTo are the trials of a part up to a block.
func upTo(trials []Trial, part string, block int) []Trial {
	return list.Filter(trials, func(t Trial) bool { return t.Part == part && t.Block <= block })
}
