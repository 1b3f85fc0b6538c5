package study

import (
	"cmp"
	"slices"

	"linerate/internal/load"
	"linerate/internal/setting"
	"linerate/internal/yamlfile"
)

// checkDirections refuses traffic in both directions where it would not be what
// it says.
func checkDirections(s *Spec, path string, p Part) *yamlfile.Problem {
	path += ".directions"
	if bad := yamlfile.OneOf(path, cmp.Or(p.Directions, OneWay), OneWay, BothWays); bad != nil || !GoesBothWays(p) {
		return bad
	}
	oneWay := slices.IndexFunc(s.Variants, forwardsOneWay)
	switch {
	case p.Usable, p.Flood != "":
		return yamlfile.Wrong(path, "management and floods come from one side").Advise("write directions: one")
	case oneWay >= 0:
		return yamlfile.Wrong(path, "variant %s forwards by a program at the ingress alone", s.Variants[oneWay].Name).Advise("write directions: one, or take the variant out")
	case inCost(p) && s.Interleaving(p) == InSequence:
		lanes := load.MaxLanes/2 - 2 // without A/A arm and bypass
		return yamlfile.Wrong(path, "in mode cost both directions need arms that take turns: up to %d variants, and %d variants × flows", lanes, maxLaneFlows/2).
			Advise("use fewer, and not interleave: false")
	}
	return nil
}

// forwardsOneWay reports whether what enters at the egress takes another way
// than what enters at the ingress.
func forwardsOneWay(v Variant) bool {
	return slices.ContainsFunc(v.Settings, func(s Setting) bool {
		return s.Is(setting.Forward) && s.Setting().Name == setting.ForwardXDP || s.Is(setting.CPUs)
	})
}
