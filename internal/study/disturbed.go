package study

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/show"
)

// warnInvalid counts the trials that failed a gate, by the first that they
// failed.
func (r *Results) warnInvalid() {
	valid, all := Valid(r.Trials)
	if valid == all {
		return
	}
	why := map[string]int{}
	for _, t := range r.Trials {
		if !t.Valid && t.Unavailable == "" && len(t.Reasons) > 0 {
			gate, _, _ := strings.Cut(t.Reasons[0], ":")
			why[gate]++
		}
	}
	most := slices.SortedFunc(maps.Keys(why), func(a, b string) int {
		return cmp.Or(cmp.Compare(why[b], why[a]), cmp.Compare(a, b))
	})
	for i, gate := range most {
		most[i] = fmt.Sprintf("%d %s", why[gate], gate)
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d trials are invalid; they are in the record, with reasons (%s), and in no verdict",
		all-valid, all, show.List(most)))
}

// RedoneIn sums up the slices of a part that were done again, of one arm, or of
// all where arm is empty; nil: none was.
func (r *Results) RedoneIn(part, arm string) (sum *Redone) {
	for _, t := range r.Trials {
		if t.Part != part || arm != "" && t.Variant != arm || t.Observed == nil || t.Observed.Redone == nil {
			continue
		}
		if sum == nil {
			sum = &Redone{}
		}
		sum.Slices, sum.Starved = sum.Slices+t.Observed.Redone.Slices, sum.Starved+t.Observed.Redone.Starved
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
func (r *Results) warnRedone(s Spec) {
	var all Redone
	var of []string
	for _, p := range s.Parts {
		if sum := r.RedoneIn(p.Name, ""); sum != nil {
			all.Slices, all.Starved = all.Slices+sum.Slices, all.Starved+sum.Starved
			of = append(of, fmt.Sprintf("%d of part %s", sum.Slices, p.Name))
		}
	}
	if all.Slices > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s done again%s: %s", were(all.Slices), all.why(), show.List(of)))
	}
}
