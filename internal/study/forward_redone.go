package study

import (
	"fmt"

	"linerate/internal/show"
)

// warnRedone says how many slices of which parts were done again.
func warnRedone(r *Results, s Spec) {
	var of []string
	for _, p := range s.Parts {
		redone, starved := 0, 0
		for _, t := range r.Trials {
			if again := t.Saw().Redone; t.Part == p.Name && again != nil {
				redone, starved = redone+again.Slices, starved+again.Starved
			}
		}
		if redone > 0 {
			of = append(of, fmt.Sprintf("%d of part %s (%d because the router waited for its CPU)", redone, p.Name, starved))
		}
	}
	if len(of) > 0 {
		r.Warnings = append(r.Warnings, "slices in which the generator fell short of its rate or the router waited for its CPU were done again: "+show.List(of))
	}
}
