package study

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/show"
	"linerate/internal/testbed"
)

// headroomGate begins the reason of a trial that offered too little.
const headroomGate = "headroom: "

// warnHeadroom names the variants that the generator could not overload in any
// trial of a part: what they forward at most was not measured.
func (r *Results) warnHeadroom(s Spec) {
	for _, p := range s.Parts {
		if p.Mode != testbed.Overload || !p.Rate.IsMax() || p.Search != nil || p.Flood != "" {
			continue
		}
		var never []string
		most := 0.0
		for _, v := range s.Variants {
			if offered, short := neverOverloaded(r.Trials, p.Name, v.Name); short {
				never, most = append(never, v.Name), max(most, offered)
			}
		}
		if len(never) > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("part %s: the generator, which offered no more than %s, could not overload %s: what it forwards at most is not known here",
				p.Name, show.Rate(most), show.List(never)))
		}
	}
}

// neverOverloaded reports whether a variant was tried in a part and all of its
// trials had too little offered, and the most that was.
func neverOverloaded(trials []Trial, part, variant string) (most float64, short bool) {
	for _, t := range trials {
		if t.Part != part || t.Variant != variant {
			continue
		}
		if !slices.ContainsFunc(t.Reasons, func(why string) bool { return strings.HasPrefix(why, headroomGate) }) {
			return 0, false
		}
		most, short = max(most, t.Metrics[OfferedRate]), true
	}
	return most, short
}
