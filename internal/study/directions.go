package study

import (
	"cmp"
	"slices"

	"linerate/internal/load"
	"linerate/internal/testbed"
)

// checkDirections refuses traffic in both directions where it would not be what
// it says.
func (s *Spec) checkDirections(path string, p Part) *problem {
	path += ".directions"
	if bad := oneOf(path, cmp.Or(p.Directions, OneWay), OneWay, BothWays); bad != nil || !p.BothWays() {
		return bad
	}
	oneWay := slices.IndexFunc(s.Variants, Variant.forwardsOneWay)
	switch {
	case p.Mode == testbed.Serve:
		return wrong(path, "requests have answers: directions are of packets")
	case p.Management, p.Flood != "":
		return wrong(path, "management and floods come from one side").advise("write directions: one")
	case oneWay >= 0:
		return wrong(path, "variant %s forwards by a program at the ingress alone", s.Variants[oneWay].Name).advise("write directions: one, or take the variant out")
	case p.Mode == testbed.Cost && s.Interleaving(p) == InSequence:
		lanes := load.MaxLanes/2 - 2 // without A/A arm and bypass
		return wrong(path, "in mode cost both directions need arms that take turns: up to %d variants, and %d variants × flows", lanes, maxLaneFlows/2).
			advise("use fewer, and not interleave: false")
	}
	return nil
}

// forwardsOneWay reports whether what enters at the egress takes another way
// than what enters at the ingress.
func (v Variant) forwardsOneWay() bool {
	return slices.ContainsFunc(v.Settings, func(s Setting) bool { return s.Forward == "xdp" || s.CPUs > 0 })
}
