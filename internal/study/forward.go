package study

import (
	"cmp"
	"slices"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/testbed"
)

// Kind is that of parts that offer packets to a DUT that forwards them, or
// floods of packets to the DUT itself.
type forwardKind struct{ Base }

// Name satisfies Kind.
func (forwardKind) Name() string { return KindForward }

// Modes satisfies Kind.
func (forwardKind) Modes() []testbed.Mode { return []testbed.Mode{testbed.Cost, testbed.Overload} }

// Owns satisfies Kind: parts of modes cost and overload, unless a more specific kind claims
// them.
func (k forwardKind) Owns(p Part) bool { return slices.Contains(k.Modes(), p.Mode) }

// DefaultMode satisfies Kind.
func (forwardKind) DefaultMode(s *Spec) testbed.Mode {
	if s.OnMachines() {
		return testbed.Overload
	}
	return testbed.Cost
}

// FillStudy satisfies Kind: one way, in frames of the least size.
func (forwardKind) FillStudy(s *Spec, _ func(string) bool) {
	OrString(&s.Workload.Directions, OneWay)
	if len(s.Workload.Sizes) == 0 && s.Workload.IMIX == "" {
		s.Workload.Sizes = []int{Smallest(s.Workload.Family)}
	}
}

// FillPart satisfies Kind.
func (forwardKind) FillPart(s *Spec, place int, _ func(string) bool) {
	OrString(&s.Parts[place].Directions, s.Workload.Directions)
}

// CheckStudy satisfies Kind: nothing below 1 is a headroom.
func (forwardKind) CheckStudy(s *Spec) *Problem {
	return Within("gates.headroom", s.Gates.Headroom, 1, 100)
}

// CheckPart satisfies Kind.
func (forwardKind) CheckPart(s *Spec, place int, path string) *Problem {
	p := s.Parts[place]
	if s.OnMachines() && p.Mode != testbed.Overload {
		return Wrong(path+".mode", "machines are measured in mode overload: mode %s needs one CPU that does everything", p.Mode).Advise("remove mode, or write overload")
	}
	if len(p.Sizes) > 0 && p.IMIX != "" {
		return Wrong(path+".imix", "sizes and imix exclude each other").Advise("keep one of them")
	}
	if bad := OneOf(path+".family", cmp.Or(p.Family, "ipv4"), "ipv4", "ipv6"); bad != nil {
		return bad
	}
	if _, err := s.Offers(p).FrameSizes(); err != nil {
		return Wrong(path+".imix", "%v", err).Advise("%s", hint.Of(err))
	}
	return cmp.Or(checkShare(s, place, path), checkManagement(p, path), checkFlood(p, path), checkRate(p, path),
		Within(path+".flows", cmp.Or(p.Flows, 1), 1, MaxFlows), checkDirections(s, path, p), CheckFrames(path, s.Offers(p)))
}

// Interleaving satisfies Kind: in turns in mode overload and slice by slice in
// mode cost, on a testbed that can have several DUTs up at once. A study may ask
// for sequential trials.
func (forwardKind) Interleaving(s *Spec, p Part) Interleaving {
	asked := s.Interleave == nil || *s.Interleave
	if s.OnMachines() || p.Usable || !asked { // there is one DUT, or it is asked for longer than a turn takes
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

// Needs satisfies Kind: the mode, and wires that carry both directions.
func (forwardKind) Needs(p Part) []string {
	if GoesBothWays(p) {
		return []string{string(p.Mode), string(p.Mode) + ", both directions at once,"}
	}
	return []string{string(p.Mode)}
}

// OutOfReach satisfies Kind.
func (forwardKind) OutOfReach(s *Spec, p Part, trials []Trial) string {
	return outOfReach(s, p, trials)
}

// Resolve satisfies Kind.
func (forwardKind) Resolve(s *Spec, p Part, trials []Trial) (Part, bool) {
	return resolve(s, p, trials)
}

// Expected satisfies Kind.
func (forwardKind) Expected(s *Spec, p Part) float64 {
	return ExpectedOfPackets(s, p, p.Warmup+p.Seconds)
}

// Inside satisfies Kind. What a flood offers, instruments do not send.
func (forwardKind) Inside(p Part) (Part, bool) {
	if p.Rate.IsShare() {
		p.Rate = MaxRate
	}
	return p, p.Flood == ""
}

// Metrics satisfies Kind.
func (forwardKind) Metrics() []Metric { return forwardMetrics }

// Yields satisfies Kind.
func (forwardKind) Yields(p Part, m Metric) bool {
	if p.Flood != "" {
		return p.Mode == m.Mode && (m.Answers == management || m.Name == OfferedRate)
	}
	return p.Mode == m.Mode && (m.Answers == "" || p.Usable)
}

// Measure satisfies Kind.
func (forwardKind) Measure(p Part, o Observation, block []Trial) map[string]float64 {
	m := map[string]float64{}
	switch {
	case InOverload(p):
		overloadMetrics(m, o)
	case o.Interleaved != nil:
		return ofLanes(o.Interleaved.Lanes)
	default:
		costMetrics(m, o, bypassOf(o, block))
	}
	return m
}

// Gates satisfies Kind.
func (forwardKind) Gates() []Gate { return forwardGates }

// Derive satisfies Kind.
func (forwardKind) Derive(r *Results, s Spec) {
	r.Curves, r.Wire = curves(s, r.Trials), wireRates(s, r.Trials)
	r.CarryOver = carryOvers(s, r.Trials)
	r.Drops, r.States, r.Spread = dropsOf(s, r.Trials), statesOf(s, r.Trials), spreads(s)
}

// Warn satisfies Kind.
func (forwardKind) Warn(r *Results, s Spec) {
	warnRedone(r, s)
	warnOutOfReach(r, s)
	warnHeadroom(r, s)
	warnUnderOffered(r, s)
	warnCarryOver(r)
	warnDrops(r)
}

// Timeline satisfies Kind.
func (forwardKind) Timeline(p Part) (Metric, bool) {
	switch {
	case p.Flood != "":
		return MetricNamed(ManagementLoss)
	case inCost(p):
		return MetricNamed(CostNS)
	}
	return MetricNamed(OverloadRate)
}

// offersFrames reports whether a part is of this kind and offers a steady load to
// be forwarded.
func offersFrames(p Part) bool {
	_, is := KindOf(p).(forwardKind)
	return is && p.Flood == ""
}

// tooManyLanes reports whether the arms of a part, both ways, are more than one
// stream has, or its flows more than their accounts have room for.
func tooManyLanes(s *Spec, p Part, lanes int) bool {
	n := lanes * DirectionCount(p)
	return n > load.MaxLanes || n*s.Offers(p).Flows > maxLaneFlows
}

// NeedsRate refuses a rate that is none, nor a share of the control's capacity.
func NeedsRate(p Part, path string) *Problem {
	if _, err := p.Rate.Parse(); err != nil && !p.Rate.IsShare() {
		return Wrong(path+".rate", "%v", err).Advise("%s; or a share of the control's capacity (80%%)", hint.Of(err))
	}
	return nil
}

// checkRate wants an offered load that the mode can have.
func checkRate(p Part, path string) *Problem {
	if bad := NeedsRate(p, path); bad != nil || p.Rate.IsMax() || InOverload(p) {
		return bad
	}
	return Wrong(path+".rate", "mode cost has no offered load: the chain runs as fast as one CPU can").
		Advise("remove rate, or use mode: overload")
}

// checkManagement wants a steady load to ask under.
func checkManagement(p Part, path string) *Problem {
	switch {
	case p.Usable && !InOverload(p):
		return Wrong(path+".management", "management is measured under a steady load only: mode overload, without a search")
	case p.Usable && p.Seconds < 0.3:
		return Wrong(path+".seconds", "%g s are too short to ask for management: 0.3 at least", p.Seconds)
	}
	return nil
}
