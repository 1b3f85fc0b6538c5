package study

import (
	"cmp"
	"slices"

	"linerate/internal/testbed"
)

// Kind is that of parts whose trials are searches for throughput: packets
// as of the kind forward, at loads that a method chooses.
type searchKind struct{ forwardKind }

// Name satisfies Kind.
func (searchKind) Name() string { return KindSearch }

// Modes satisfies Kind.
func (searchKind) Modes() []testbed.Mode { return []testbed.Mode{testbed.Overload} }

// Owns satisfies Kind.
func (searchKind) Owns(p Part) bool { return p.Search != nil }

// DefaultMode satisfies Kind.
func (searchKind) DefaultMode(*Spec) testbed.Mode { return "" }

// FillPart satisfies Kind.
func (k searchKind) FillPart(s *Spec, place int, said func(string) bool) {
	k.forwardKind.FillPart(s, place, said)
	s.Parts[place].Search.fill(func(key string) bool { return said(PartPath(place) + ".search." + key) })
}

// CheckPart satisfies Kind.
func (k searchKind) CheckPart(s *Spec, place int, path string) *Problem {
	switch p := s.Parts[place]; {
	case !InOverload(p) || !p.Rate.IsMax():
		return cmp.Or(NeedsRate(p, path), Wrong(path+".search", "a search chooses its loads in mode overload").Advise("use mode: overload and no rate"))
	default:
		return cmp.Or(k.forwardKind.CheckPart(s, place, path), p.Search.check(path+".search"))
	}
}

// Quick satisfies Kind.
func (searchKind) Quick(p Part) Part {
	p.Search = p.Search.quick()
	return p
}

// Interleaving satisfies Kind: the arms advance in step.
func (k searchKind) Interleaving(s *Spec, p Part) Interleaving {
	if how := k.forwardKind.Interleaving(s, p); how != Alternating {
		return how
	}
	return Lockstep
}

// Expected satisfies Kind.
func (searchKind) Expected(s *Spec, p Part) float64 {
	return ExpectedOfPackets(s, p, searchLasts(p))
}

// Inside satisfies Kind: a search is looked into at full load.
func (searchKind) Inside(p Part) (Part, bool) {
	p.Seconds = max(p.Seconds, SearchSeconds)
	p.Search, p.Rate = nil, MaxRate
	return p, true
}

// Metrics satisfies Kind.
func (searchKind) Metrics() []Metric { return metrics }

// Yields satisfies Kind.
func (searchKind) Yields(p Part, m Metric) bool {
	return m.Answers == "" || m.Answers == p.Search.Method
}

// Measure satisfies Kind.
func (searchKind) Measure(p Part, o Observation, _ []Trial) map[string]float64 {
	m := map[string]float64{}
	measureSearch(m, p, o)
	return m
}

// Gates satisfies Kind.
func (searchKind) Gates() []Gate { return gates }

// Derive satisfies Kind: the kind forward does it for all packets.
func (searchKind) Derive(*Results, Spec) {}

// Warn satisfies Kind: likewise.
func (searchKind) Warn(*Results, Spec) {}

// Timeline satisfies Kind: its method's answer.
func (k searchKind) Timeline(p Part) (Metric, bool) {
	i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Answers == p.Search.Method })
	return metrics[max(0, i)], i >= 0
}
