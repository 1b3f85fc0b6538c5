package report

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/study"
	"linerate/internal/testbed"
)

// gateLine is a gate and how many trials it refused.
type gateLine struct {
	Name, Limit string
	In          testbed.Mode // where it is a matter; "": everywhere
	Tripped     int
}

// gates are what the study's trials had to pass, by the word that starts their
// reasons: those of the modes that it has, and any other that one tripped.
func gates(s study.Spec, r study.Results) []gateLine {
	g := s.Gates
	all := []gateLine{
		{Name: "drift", Limit: fmt.Sprintf("a CPU's calibration spin may change by %g %%", g.DriftPercent)},
		{Name: "stolen time", Limit: fmt.Sprintf("the hypervisor may take %g %% of a CPU", g.StealPercent)},
		{Name: "contention", In: testbed.Cost, Limit: fmt.Sprintf("other programs may take %g %% of the measuring CPU (their time is subtracted from costs)", g.ContentionPercent)},
		{Name: "starved", In: testbed.Overload, Limit: fmt.Sprintf("the router's thread may wait %g %% of an overload trial for other programs", g.StarvedPercent)},
		{Name: "no traffic", In: packets, Limit: "the generator must send"},
		{Name: "nothing arrived", In: packets, Limit: "frames must reach the receiver"},
		{Name: "drain", In: packets, Limit: "the end-of-stream frames must arrive, else the loss is unknown"},
		{Name: "account", In: packets, Limit: "received and lost must add up to sent"},
		{Name: "rounds", In: testbed.Cost, Limit: fmt.Sprintf("enough rounds, and %g %% of them, must be undisturbed", g.GoodRoundsPercent)},
		{Name: "unsent", In: testbed.Overload, Limit: fmt.Sprintf("%g %% of the frames due may be unsent at a given rate", g.UnsentPercent)},
		{Name: "pacing", In: testbed.Overload, Limit: fmt.Sprintf("a given rate may be off by %g %%", g.PacingPercent)},
		{Name: "counters", In: packets, Limit: "the router's counters must move forward and cover what arrived"},
		{Name: "loss", In: testbed.Cost, Limit: fmt.Sprintf("%g %% may be lost in mode cost, where nothing is overloaded", g.CostLossPercent)},
		{Name: "bypass", In: testbed.Cost, Limit: "the chain without router must be measurable"},
		{Name: "cost", In: testbed.Cost, Limit: "the chain with router must take longer than without"},
		{Name: "search", In: searching, Limit: "a search must end: with both bounds within its width, a loss curve with two loads in a row without loss"},
		{Name: "generator", In: searching, Limit: "the upper bound must be the router's, not frames the generator left unsent"},
		{Name: "headroom", In: testbed.Overload, Limit: fmt.Sprintf("at maximum load %g times the forwarded rate must be offered", g.Headroom)},
		{Name: "nothing asked", In: seldom, Limit: "the router must be asked whether it is usable"},
		{Name: "not taken", In: seldom, Limit: "the router must have taken what was set before it booted"},
		{Name: "receiver", In: seldom, Limit: "what the router forwarded must reach the receiver"},
		{Name: "queue", In: seldom, Limit: "all mail must have left the queue"},
		{Name: "delivery", In: seldom, Limit: "no mail may bounce or be put off"},
	}
	has := map[testbed.Mode]bool{"": true}
	for _, part := range s.Parts {
		has[part.Mode] = true
		has[packets] = has[packets] || part.Mode != testbed.Serve
		has[searching] = has[searching] || part.Search != nil
	}
	var lines []gateLine
	for _, line := range append(all, servedGates(g)...) {
		if line.Tripped = tripped(r, line.Name); has[line.In] || line.Tripped > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// Where gates are that are not of one mode.
const (
	packets   testbed.Mode = "packets"
	searching testbed.Mode = "search"
	seldom    testbed.Mode = "seldom" // told where one tripped
)

// tripped counts the trials that a gate refused.
func tripped(r study.Results, gate string) (n int) {
	for _, t := range r.Trials {
		if slices.ContainsFunc(t.Reasons, func(reason string) bool { return strings.HasPrefix(reason, gate+":") }) {
			n++
		}
	}
	return n
}
