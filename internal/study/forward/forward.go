// Package forward is the kind of a study's parts that offer packets to a DUT: which
// forwards them, at a cost or under overload, or is flooded with them and asked
// whether it is still usable.
//
// Where things are:
//
//   - the kind, what it refuses and what its trials take: forward.go, directions.go,
//     flood.go, capacity.go, expected.go
//   - what is offered, and in which turns: traffic.go, slicing.go
//   - what was seen: seen.go, instance.go, rawslices.go, rawverify.go, management.go
//   - what is measured, and what makes a trial invalid: metrics.go, gate.go
//   - what results say beside verdicts: curve.go, perone.go, wirerate.go, drops.go,
//     states.go, spread.go, carryover.go; what they warn of: headroom.go, redone.go
//   - what reports show of it: page.go and page_*.go
package forward

import (
	"cmp"
	"slices"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Kind is that of parts that offer packets to a DUT that forwards them, or
// floods of packets to the DUT itself.
type Kind struct{ study.Base }

// Name satisfies Kind.
func (Kind) Name() string { return "forward" }

// Modes satisfies Kind.
func (Kind) Modes() []testbed.Mode { return []testbed.Mode{testbed.Cost, testbed.Overload} }

// Owns satisfies Kind: modes cost and overload are its own, but for what asks for
// a kind of its own in them.
func (k Kind) Owns(p study.Part) bool { return slices.Contains(k.Modes(), p.Mode) }

// Keys satisfies Kind.
func (Kind) Keys() study.Keys { return study.Keys{Part: new(Part)} }

// Saw satisfies Kind.
func (Kind) Saw() any { return new(Seen) }

// DefaultMode satisfies Kind.
func (Kind) DefaultMode(s *study.Spec) testbed.Mode {
	if s.OnMachines() {
		return testbed.Overload
	}
	return testbed.Cost
}

// FillStudy satisfies Kind: one way, in frames of the least size.
func (Kind) FillStudy(s *study.Spec, _ func(string) bool) {
	study.OrString(&s.Workload.Directions, study.OneWay)
	if len(s.Workload.Sizes) == 0 && s.Workload.IMIX == "" {
		s.Workload.Sizes = []int{study.Smallest(s.Workload.Family)}
	}
}

// FillPart satisfies Kind.
func (Kind) FillPart(s *study.Spec, place int, _ func(string) bool) {
	study.OrString(&s.Parts[place].Directions, s.Workload.Directions)
}

// CheckStudy satisfies Kind: nothing below 1 is a headroom.
func (Kind) CheckStudy(s *study.Spec) *study.Problem {
	return study.Within("gates.headroom", LimitsOf(s.Gates).Headroom, 1, 100)
}

// CheckPart satisfies Kind.
func (Kind) CheckPart(s *study.Spec, place int, path string) *study.Problem {
	p := s.Parts[place]
	if s.OnMachines() && p.Mode != testbed.Overload {
		return study.Wrong(path+".mode", "machines are measured in mode overload: mode %s needs one CPU that does everything", p.Mode).Advise("remove mode, or write overload")
	}
	if len(p.Sizes) > 0 && p.IMIX != "" {
		return study.Wrong(path+".imix", "sizes and imix exclude each other").Advise("keep one of them")
	}
	if bad := study.OneOf(path+".family", cmp.Or(p.Family, "ipv4"), "ipv4", "ipv6"); bad != nil {
		return bad
	}
	if _, err := s.Offers(p).FrameSizes(); err != nil {
		return study.Wrong(path+".imix", "%v", err).Advise("%s", hint.Of(err))
	}
	return cmp.Or(checkShare(s, place, path), checkManagement(p, path), checkFlood(p, path), checkRate(p, path),
		study.Within(path+".flows", cmp.Or(p.Flows, 1), 1, study.MaxFlows), checkDirections(s, path, p), study.CheckFrames(path, s.Offers(p)))
}

// Interleaving satisfies Kind: in turns in mode overload and slice by slice in
// mode cost, on a testbed that can have several DUTs up at once. A study may ask
// for sequential trials.
func (Kind) Interleaving(s *study.Spec, p study.Part) study.Interleaving {
	asked := s.Interleave == nil || *s.Interleave
	if s.OnMachines() || Of(p).Usable || !asked { // there is one DUT, or it is asked for longer than a turn takes
		return study.InSequence
	}
	if InOverload(p) {
		if s.HostScope() {
			return study.InSequence
		}
		return study.Alternating
	}
	lanes := len(s.Arms()) + 1
	switch {
	case tooManyLanes(s, p, lanes):
		return study.InSequence
	case !s.HostScope():
		return study.BySlices
	case !s.Switches():
		return study.InSequence
	}
	return study.Alternating
}

// Needs satisfies Kind: the mode, and wires that carry both directions.
func (Kind) Needs(p study.Part) []string {
	if BothWays(p) {
		return []string{string(p.Mode), string(p.Mode) + ", both directions at once,"}
	}
	return []string{string(p.Mode)}
}

// OutOfReach satisfies Kind.
func (Kind) OutOfReach(s *study.Spec, p study.Part, trials []study.Trial) string {
	return outOfReach(s, p, trials)
}

// Resolve satisfies Kind.
func (Kind) Resolve(s *study.Spec, p study.Part, trials []study.Trial) (study.Part, bool) {
	return resolve(s, p, trials)
}

// Expected satisfies Kind.
func (Kind) Expected(s *study.Spec, p study.Part) float64 {
	return ExpectedOfPackets(s, p, p.Warmup+p.Seconds)
}

// Inside satisfies Kind. What a flood offers, instruments do not send.
func (Kind) Inside(p study.Part) (study.Part, bool) {
	if p.Rate.IsShare() {
		p.Rate = study.MaxRate
	}
	return p, Of(p).Flood == ""
}

// Metrics satisfies Kind.
func (Kind) Metrics() []study.Metric { return metrics }

// Yields satisfies Kind.
func (Kind) Yields(p study.Part, m study.Metric) bool {
	if Of(p).Flood != "" {
		return p.Mode == m.Mode && (m.Answers == management || m.Name == OfferedRate)
	}
	return p.Mode == m.Mode && (m.Answers == "" || Of(p).Usable)
}

// Measure satisfies Kind.
func (Kind) Measure(p study.Part, o study.Observation, block []study.Trial) map[string]float64 {
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
func (Kind) Gates() []study.Gate { return gates }

// Limits satisfies Kind.
func (Kind) Limits() any {
	return &Limits{ContentionPercent: 35, StarvedPercent: 20, UnsentPercent: 0.5, PacingPercent: 2, Headroom: 1.2, CostLossPercent: 1, GoodRoundsPercent: 10}
}

// Derive satisfies Kind.
func (Kind) Derive(r *study.Results, s study.Spec) {
	r.Curves, r.Wire = curves(s, r.Trials), wireRates(s, r.Trials)
	r.CarryOver = carryOvers(s, r.Trials)
	r.Drops, r.States, r.Spread = dropsOf(s, r.Trials), statesOf(s, r.Trials), spreads(s)
}

// Warn satisfies Kind.
func (Kind) Warn(r *study.Results, s study.Spec) {
	warnRedone(r, s)
	warnOutOfReach(r, s)
	warnHeadroom(r, s)
	warnUnderOffered(r, s)
	warnCarryOver(r)
	warnDrops(r)
}

// Timeline satisfies Kind.
func (Kind) Timeline(p study.Part) (study.Metric, bool) {
	switch {
	case Of(p).Flood != "":
		return study.MetricNamed(ManagementLoss)
	case inCost(p):
		return study.MetricNamed(CostNS)
	}
	return study.MetricNamed(OverloadRate)
}

// offersFrames reports whether a part is of this kind and offers a steady load to
// be forwarded.
func offersFrames(p study.Part) bool {
	_, is := study.KindOf(p).(Kind)
	return is && Of(p).Flood == ""
}

// tooManyLanes reports whether the arms of a part, both ways, are more than one
// stream has, or its flows more than their accounts have room for.
func tooManyLanes(s *study.Spec, p study.Part, lanes int) bool {
	n := lanes * Ways(p)
	return n > load.MaxLanes || n*s.Offers(p).Flows > maxLaneFlows
}

// NeedsRate refuses a rate that is none, nor a share of the control's capacity.
func NeedsRate(p study.Part, path string) *study.Problem {
	if _, err := p.Rate.Parse(); err != nil && !p.Rate.IsShare() {
		return study.Wrong(path+".rate", "%v", err).Advise("%s; or a share of the control's capacity (80%%)", hint.Of(err))
	}
	return nil
}

// checkRate wants an offered load that the mode can have.
func checkRate(p study.Part, path string) *study.Problem {
	if bad := NeedsRate(p, path); bad != nil || p.Rate.IsMax() || InOverload(p) {
		return bad
	}
	return study.Wrong(path+".rate", "mode cost has no offered load: the chain runs as fast as one CPU can").
		Advise("remove rate, or use mode: overload")
}

// checkManagement wants a steady load to ask under.
func checkManagement(p study.Part, path string) *study.Problem {
	switch {
	case Of(p).Usable && !InOverload(p):
		return study.Wrong(path+".management", "management is measured under a steady load only: mode overload, without a search")
	case Of(p).Usable && p.Seconds < 0.3:
		return study.Wrong(path+".seconds", "%g s are too short to ask for management: 0.3 at least", p.Seconds)
	}
	return nil
}
