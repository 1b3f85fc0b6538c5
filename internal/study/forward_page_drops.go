package study

import (
	"fmt"
	"strings"

	"linerate/internal/document"
	"linerate/internal/drop"
	"linerate/internal/show"
)

// leastShown is the share of the offered frames, in percent, below which a
// place is not shown: one frame in two thousand.
const leastShown = 0.05

// dropsTable has where the frames of each arm that lost any ended, with the counters that saw them.
func dropsTable(r Results) document.Table {
	t := document.Table{Header: []string{"part", "variant", "where", "of those offered", "counters"},
		Note: "A counter of the whole machine (*) says at most how many they were."}
	for _, d := range r.Drops {
		if 100-d.Percent(drop.Delivered) < leastShown {
			continue
		}
		for _, at := range drop.Places() {
			if d.Percent(at) < leastShown {
				continue
			}
			var seen []string
			for _, b := range d.Buckets {
				for _, c := range b.Causes {
					if b.Place == at {
						seen = append(seen, fmt.Sprintf("%s%s %s", c.Name, map[bool]string{true: "*"}[c.Machine], show.Count(c.Frames)))
					}
				}
			}
			t.Rows = append(t.Rows, []string{d.Part, r.ArmName(d.Variant), at.Words(), show.Percent(d.Percent(at)), strings.Join(seen, ", ")})
		}
	}
	return t
}
