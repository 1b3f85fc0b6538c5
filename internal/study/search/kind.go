// Package search is the kind of a study's parts whose trials are searches: for
// throughput (MLRsearch, RFC 2544), the longest burst without loss (RFC 9004), or
// loss over load. The procedures themselves are linerate/internal/search's.
//
// The kind is in kind.go; what a part searches for in search.go and methods.go; what
// came of it, and what makes it invalid, in run.go and metrics.go; what a report shows
// of it in section.go and tables.go.
package search

import (
	"cmp"
	"slices"

	"linerate/internal/study"
	"linerate/internal/study/forward"
	"linerate/internal/testbed"
)

// Kind is that of parts whose trials are searches for throughput: packets
// as of the kind forward, at loads that a method chooses.
type Kind struct{ forward.Kind }

// Name satisfies Kind.
func (Kind) Name() string { return "search" }

// Modes satisfies Kind.
func (Kind) Modes() []testbed.Mode { return []testbed.Mode{testbed.Overload} }

// Owns satisfies Kind.
func (Kind) Owns(p study.Part) bool { return Of(p) != nil }

// Keys satisfies Kind.
func (Kind) Keys() study.Keys { return study.Keys{Part: new(Part)} }

// Saw satisfies Kind.
func (Kind) Saw() any { return new(searchSaw) }

// DefaultMode satisfies Kind.
func (Kind) DefaultMode(*study.Spec) testbed.Mode { return "" }

// FillPart satisfies Kind.
func (k Kind) FillPart(s *study.Spec, place int, said func(string) bool) {
	k.Kind.FillPart(s, place, said)
	Of(s.Parts[place]).fill(func(key string) bool { return said(study.PartPath(place) + ".search." + key) })
}

// CheckPart satisfies Kind.
func (k Kind) CheckPart(s *study.Spec, place int, path string) *study.Problem {
	switch p := s.Parts[place]; {
	case !forward.InOverload(p) || !p.Rate.IsMax():
		return cmp.Or(forward.NeedsRate(p, path), study.Wrong(path+".search", "a search chooses its loads in mode overload").Advise("use mode: overload and no rate"))
	default:
		return cmp.Or(k.Kind.CheckPart(s, place, path), Of(p).check(path+".search"))
	}
}

// Quick satisfies Kind.
func (Kind) Quick(p study.Part) study.Part {
	p.Own = &Part{Of(p).quick()}
	return p
}

// Interleaving satisfies Kind: the arms advance in step.
func (k Kind) Interleaving(s *study.Spec, p study.Part) study.Interleaving {
	if how := k.Kind.Interleaving(s, p); how != study.Alternating {
		return how
	}
	return study.Lockstep
}

// Expected satisfies Kind.
func (Kind) Expected(s *study.Spec, p study.Part) float64 {
	return forward.ExpectedOfPackets(s, p, searchLasts(p))
}

// Inside satisfies Kind: a search is looked into at full load.
func (Kind) Inside(p study.Part) (study.Part, bool) {
	p.Seconds = max(p.Seconds, study.SearchSeconds)
	p.Own, p.Rate = nil, study.MaxRate
	return p, true
}

// Metrics satisfies Kind.
func (Kind) Metrics() []study.Metric { return metrics }

// Yields satisfies Kind.
func (Kind) Yields(p study.Part, m study.Metric) bool {
	return m.Answers == "" || m.Answers == Of(p).Method
}

// Measure satisfies Kind.
func (Kind) Measure(p study.Part, o study.Observation, _ []study.Trial) map[string]float64 {
	m := map[string]float64{}
	measureSearch(m, p, o)
	return m
}

// Gates satisfies Kind.
func (Kind) Gates() []study.Gate { return gates }

// Derive satisfies Kind: the kind forward does it for all packets.
func (Kind) Derive(*study.Results, study.Spec) {}

// Warn satisfies Kind: likewise.
func (Kind) Warn(*study.Results, study.Spec) {}

// Timeline satisfies Kind: its method's answer.
func (k Kind) Timeline(p study.Part) (study.Metric, bool) {
	i := slices.IndexFunc(metrics, func(m study.Metric) bool { return m.Answers == Of(p).Method })
	return metrics[max(0, i)], i >= 0
}
