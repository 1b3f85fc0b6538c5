package study

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/setting"
	"linerate/internal/testbed"
	"linerate/internal/yamlfile"
)

// checkForward refuses invalid parts that offer packets.
func checkForward(s *Spec, place int, path string) *yamlfile.Problem {
	p := s.Parts[place]
	if s.OnMachines() && p.Mode != testbed.Overload {
		return yamlfile.Wrong(path+".mode", "machines are measured in mode overload: mode %s needs one CPU that does everything", p.Mode).Advise("remove mode, or write overload")
	}
	if len(p.Sizes) > 0 && p.IMIX != "" {
		return yamlfile.Wrong(path+".imix", "sizes and imix exclude each other").Advise("keep one of them")
	}
	return cmp.Or(yamlfile.OneOf(path+".family", cmp.Or(p.Family, "ipv4"), "ipv4", "ipv6"), yamlfile.OneOf(path+".imix", cmp.Or(p.IMIX, simpleIMIX), simpleIMIX),
		checkShare(s, place, path), checkManagement(p, path), checkFlood(p, path), checkRate(p, path),
		yamlfile.Within(path+".flows", cmp.Or(p.Flows, 1), 1, MaxFlows), checkDirections(s, path, p), CheckFrames(path, s.Offers(p)))
}

// interleavingOfPackets takes turns in mode overload and interleaves slices in
// mode cost, on a testbed that can run several DUTs at once. A study may ask for
// sequential trials.
func interleavingOfPackets(s *Spec, p Part) Interleaving {
	asked := s.Interleave == nil || *s.Interleave
	if s.OnMachines() || p.Usable || !asked { // there is only one DUT, or its management is probed for longer than a turn
		return InSequence
	}
	if InOverload(p) {
		if s.HostScope() {
			return InSequence
		}
		return Alternating
	}
	lanes := len(s.Arms()) + 1
	switch {
	case tooManyLanes(s, p, lanes):
		return InSequence
	case !s.HostScope():
		return BySlices
	case !s.Switches():
		return InSequence
	}
	return Alternating
}

// measureForward derives the metrics of a packet trial.
func measureForward(m map[string]float64, p Part, o Observation, block []Trial) {
	switch {
	case InOverload(p):
		overloadMetrics(m, o)
	case o.Interleaved != nil:
		maps.Copy(m, ofLanes(o.Interleaved.Lanes))
	default:
		costMetrics(m, o, bypassOf(o, block))
	}
}

// warnForward adds warnings about the results on packets.
func warnForward(r *Results, s Spec) {
	warnRedone(r, s)
	warnOutOfReach(r, s)
	warnHeadroom(r, s)
	warnUnderOffered(r, s)
	warnCarryOver(r)
	warnDrops(r)
}

// offersFrames reports whether a part is of this kind and offers a steady load to
// forward.
func offersFrames(p Part) bool { return KindOf(p) == KindForward && p.Flood == "" }

// tooManyLanes reports whether the arms of a part, in both directions, exceed
// the lanes of a stream, or their flows the room for accounting.
func tooManyLanes(s *Spec, p Part, lanes int) bool {
	n := lanes * DirectionCount(p)
	return n > load.MaxLanes || n*s.Offers(p).Flows > maxLaneFlows
}

// needsRate refuses a rate that is neither a number nor a share of the control's capacity.
func needsRate(p Part, path string) *yamlfile.Problem {
	if _, err := p.Rate.Parse(); err != nil && !p.Rate.IsShare() {
		return yamlfile.Wrong(path+".rate", "%v", err).Advise("%s; or a share of the control's capacity (80%%)", hint.Of(err))
	}
	return nil
}

// checkRate refuses an offered load that the mode cannot have.
func checkRate(p Part, path string) *yamlfile.Problem {
	if bad := needsRate(p, path); bad != nil || p.Rate.IsMax() || InOverload(p) {
		return bad
	}
	return yamlfile.Wrong(path+".rate", "mode cost has no offered load: the chain runs as fast as one CPU can").
		Advise("remove rate, or use mode: overload")
}

// checkManagement requires a steady load for probing management.
func checkManagement(p Part, path string) *yamlfile.Problem {
	switch {
	case p.Usable && !InOverload(p):
		return yamlfile.Wrong(path+".management", "management is measured under a steady load only: mode overload, without a search")
	case p.Usable && p.Seconds < 0.3:
		return yamlfile.Wrong(path+".seconds", "%g s are too short to ask for management: 0.3 at least", p.Seconds)
	}
	return nil
}

// checkDirections refuses bidirectional traffic where it would not really go
// both ways.
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
		lanes := load.MaxLanes/2 - 2 // minus the A/A arm and the bypass
		return yamlfile.Wrong(path, "in mode cost both directions need arms that take turns: up to %d variants, and %d variants × flows", lanes, maxLaneFlows/2).
			Advise("use fewer, and not interleave: false")
	}
	return nil
}

// forwardsOneWay reports whether a variant forwards packets from the egress
// in another way than those from the ingress.
func forwardsOneWay(v Variant) bool {
	return slices.ContainsFunc(v.Settings, func(s Setting) bool {
		return s.Is(setting.Forward) && s.Setting().Name == setting.ForwardXDP || s.Is(setting.CPUs)
	})
}

// FloodSYN opens TCP connections to the DUT's own service at the part's rate,
// from unused addresses, and never completes a handshake.
const FloodSYN = "syn"

func checkFlood(p Part, path string) *yamlfile.Problem {
	switch {
	case p.Flood == "":
		return nil
	case p.Flood != FloodSYN:
		return yamlfile.OneOf(path+".flood", p.Flood, FloodSYN)
	case !p.Usable:
		return yamlfile.Wrong(path+".flood", "a flood says nothing but whether the DUT still answers").Advise("add management: true")
	case p.Rate.IsShare() || strings.HasSuffix(string(p.Rate), "bps"):
		return yamlfile.Wrong(path+".rate", "a flood's rate is max, or segments per second").Advise("write 100kpps")
	}
	return nil
}
