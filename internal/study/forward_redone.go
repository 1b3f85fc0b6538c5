package study

import (
	"fmt"

	"linerate/internal/show"
)

// were begins a sentence about slices.
func were(slices int) string {
	if slices == 1 {
		return "1 slice was"
	}
	return show.Plural(slices, "slice") + " were"
}

// why says for what slices were done again, for people.
func (r *Redone) why() string {
	const short, starved = "because the generator fell short of its rate", "because the router waited for its CPU"
	switch n := r.Slices - r.Starved; {
	case r.Starved == 0:
		return " " + short
	case n == 0:
		return " " + starved
	default:
		return fmt.Sprintf(", %d %s and %d %s", n, short, r.Starved, starved)
	}
}

// warnRedone says how many slices were done again, why, and of which parts.
func warnRedone(r *Results, s Spec) {
	var all Redone
	var of []string
	for _, p := range s.Parts {
		redone := 0
		for _, t := range r.Trials {
			if again := t.Saw().Redone; t.Part == p.Name && again != nil {
				redone += again.Slices
				all.Slices, all.Starved = all.Slices+again.Slices, all.Starved+again.Starved
			}
		}
		if redone > 0 {
			of = append(of, fmt.Sprintf("%d of part %s", redone, p.Name))
		}
	}
	if all.Slices > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s done again%s: %s", were(all.Slices), all.why(), show.List(of)))
	}
}
