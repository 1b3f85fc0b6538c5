package study

import (
	"fmt"

	"linerate/internal/show"
)

// RedoneIn sums up the slices of a part that were done again, of one arm, or of
// all where arm is empty; nil: none was.
func RedoneIn(r *Results, part, arm string) (sum *Redone) {
	for _, t := range r.Trials {
		if t.Part != part || arm != "" && t.Variant != arm || t.Saw().Redone == nil {
			continue
		}
		if sum == nil {
			sum = &Redone{}
		}
		sum.Slices, sum.Starved = sum.Slices+t.Saw().Redone.Slices, sum.Starved+t.Saw().Redone.Starved
	}
	return sum
}

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
		if sum := RedoneIn(r, p.Name, ""); sum != nil {
			all.Slices, all.Starved = all.Slices+sum.Slices, all.Starved+sum.Starved
			of = append(of, fmt.Sprintf("%d of part %s", sum.Slices, p.Name))
		}
	}
	if all.Slices > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s done again%s: %s", were(all.Slices), all.why(), show.List(of)))
	}
}
