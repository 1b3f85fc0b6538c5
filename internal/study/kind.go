package study

import (
	"maps"
	"slices"

	"linerate/internal/document"
	"linerate/internal/list"
	"linerate/internal/stats"
	"linerate/internal/testbed"
	"linerate/internal/yamlfile"
)

// Kind is a way of measuring: what a part of the kind may specify, how its arms take
// turns, what it measures, and what makes a trial invalid. The set of kinds is closed:
// where they differ, this file has a switch, and the implementations are in the files
// named after the kind. A lab.Runner runs a kind.
type Kind string

// The kinds.
const (
	KindForward     Kind = "forward"     // packets through a DUT, or floods of packets to the DUT itself
	KindSearch      Kind = "search"      // for throughput: packets at loads chosen by a method
	KindFlows       Kind = "flows"       // packets through a DUT, whose ruleset draws an arm for each flow
	KindServe       Kind = "serve"       // requests to web, mail or file servers
	KindSwitchback  Kind = "switchback"  // a live host, switched back and forth
	KindConnections Kind = "connections" // a live host, each connection in the arm that it drew
)

// kinds lists all kinds, in the order of reports; modes lists the modes of their parts.
var (
	kinds = []Kind{KindForward, KindSearch, KindFlows, KindServe, KindSwitchback, KindConnections}
	modes = []string{string(testbed.Cost), string(testbed.Overload), string(FlowsMode), string(testbed.Serve), string(SwitchbackMode), string(ConnectionsMode)}
)

// KindOf returns the kind of a part; "" if it has none.
func KindOf(p Part) Kind {
	switch {
	case p.Mode == SwitchbackMode:
		return KindSwitchback
	case p.Mode == ConnectionsMode:
		return KindConnections
	case p.Mode == FlowsMode:
		return KindFlows
	case isServed(p):
		return KindServe
	case p.Search != nil:
		return KindSearch
	case ofPackets(p):
		return KindForward
	}
	return ""
}

// offersPackets reports whether a part's trials send packets through a DUT, at the part's
// load or at those of a search.
func offersPackets(p Part) bool { return slices.Contains(kinds[:3], KindOf(p)) }

// defaultMode returns the mode of parts that state none. Parts with live terms get a live
// mode on every testbed, so that the check can say what is missing.
func (s *Spec) defaultMode() testbed.Mode {
	switch {
	case s.Design == Concurrent:
		return ConnectionsMode
	case s.OnLiveHost() || slices.ContainsFunc(s.Parts, func(p Part) bool { return p.Live != nil }):
		return SwitchbackMode
	case asks(s.Workload):
		return testbed.Serve
	case s.OnMachines():
		return testbed.Overload
	}
	return testbed.Cost
}

// fillKinds fills in defaults by the kinds of the parts; said reports whether the file
// states a path.
func (s *Spec) fillKinds(said func(path string) bool) {
	if slices.ContainsFunc(s.Parts, offersPackets) { // one way, smallest frames
		OrString(&s.Workload.Directions, OneWay)
		if len(s.Workload.Sizes) == 0 && s.Workload.IMIX == "" {
			s.Workload.Sizes = []int{Smallest(s.Workload.Family)}
		}
	}
	if slices.ContainsFunc(s.Parts, isServed) {
		fillRequests(s, said)
	}
}

func (s *Spec) fillOwn(place int, said func(path string) bool) {
	p, path := &s.Parts[place], PartPath(place)
	switch KindOf(*p) {
	case KindSearch:
		OrString(&p.Directions, s.Workload.Directions)
		p.Search.fill(func(key string) bool { return said(path + ".search." + key) })
	case KindForward, KindFlows:
		OrString(&p.Directions, s.Workload.Directions)
	case KindServe:
		fillAsked(s, place, said)
	case KindSwitchback:
		fillTerms(p, func(key string) bool { return said(path + ".live." + key) })
	case KindConnections:
		fillConnections(p, func(key string) bool { return said(path + ".live." + key) })
	}
}

// checkOwn refuses an invalid part, at its path, by its kind.
func (s *Spec) checkOwn(place int, path string) *yamlfile.Problem {
	switch KindOf(s.Parts[place]) {
	case KindForward:
		return checkForward(s, place, path)
	case KindSearch:
		return checkSearch(s, place, path)
	case KindFlows:
		return checkFlows(s, s.Parts[place], path)
	case KindServe:
		return checkServe(s, s.Parts[place], path)
	case KindSwitchback:
		return checkTerms(s, s.Parts[place].Live, path+".live")
	case KindConnections:
		return checkConnections(s, s.Parts[place].Live, path+".live")
	}
	return nil
}

// compare compares arms by one metric; each arm has one value per block, as has the
// control.
func (s Spec) compare(g Goal, control stats.Arm, arms []stats.Arm, trials []Trial, opt stats.Options) []stats.Comparison {
	switch p, _ := s.Part(g.Part); KindOf(p) {
	case KindSwitchback:
		return compareSwitchback(control, arms, opt)
	case KindConnections, KindFlows:
		return compareConnections(s, g, trials, arms, opt)
	}
	return stats.CompareBlocks(control, arms, opt)
}

// Interleaving returns how the arms of a part's blocks take turns, on a
// testbed that supports all that the kind requires.
func (s *Spec) Interleaving(p Part) Interleaving {
	switch KindOf(p) {
	case KindForward:
		return interleavingOfPackets(s, p)
	case KindSearch: // the arms advance in step
		if how := interleavingOfPackets(s, p); how != Alternating {
			return how
		}
		return Lockstep
	case KindServe:
		return interleavingOfServers(s, p)
	case KindConnections, KindFlows:
		return Together
	}
	return InSequence
}

// Needs lists what a testbed must have for a part, by the keys of Environment.Unavailable: the
// mode, and wires that carry both directions.
func Needs(p Part) []string {
	if offersPackets(p) && GoesBothWays(p) {
		return []string{string(p.Mode), string(p.Mode) + ", both directions at once,"}
	}
	return []string{string(p.Mode)}
}

// Expected estimates how long a trial of a part takes, in seconds, before any has
// ended.
func (s *Spec) Expected(p Part) float64 {
	switch KindOf(p) {
	case KindForward, KindFlows:
		return expectedOfPackets(s, p, p.Warmup+p.Seconds)
	case KindSearch:
		return expectedOfPackets(s, p, searchLasts(p))
	case KindServe:
		return expectedOfServers(s, p)
	}
	return p.Warmup + p.Seconds
}

// inside returns a part as instruments run it; ok is false if they cannot. They run a
// search at full load, and cannot send floods.
func inside(p Part) (_ Part, ok bool) {
	if p.Search != nil {
		p.Seconds = max(p.Seconds, SearchSeconds)
		p.Search, p.Rate = nil, MaxRate
	}
	if p.Rate.IsShare() {
		p.Rate = MaxRate
	}
	return p, ofPackets(p) && p.Flood == ""
}

// insideParts returns the parts that instruments run: one of each mode, the
// primary metric's part first.
func (s *Spec) insideParts() (parts []Part) {
	if !s.Profile {
		return nil
	}
	primary, _ := s.Part(s.Primary().Part)
	seen := map[testbed.Mode]bool{}
	for _, p := range append([]Part{primary}, s.Parts...) {
		if in, ok := inside(p); ok && !seen[p.Mode] {
			seen[p.Mode] = true
			parts = append(parts, in)
		}
	}
	return parts
}

// metrics returns all metrics that trials of the kind measure, in the order of reports.
func (k Kind) metrics() []Metric {
	return map[Kind][]Metric{KindForward: forwardMetrics, KindSearch: searchMetrics, KindServe: serveMetrics, KindSwitchback: switchbackMetrics, KindConnections: metricsOf(connectionMetrics), KindFlows: metricsOf(flowMetrics)}[k]
}

// gates returns the gates of the kind's trials, in the order of reports.
func (k Kind) gates() []Gate {
	switch k {
	case KindForward:
		return forwardGates
	case KindSearch:
		return searchGates
	case KindFlows:
		return flowGates
	case KindServe:
		return serveGates
	case KindSwitchback:
		return windowGates
	case KindConnections:
		return connectionGates
	}
	return nil
}

// yields reports whether trials of a part measure the metric.
func (p Part) yields(m Metric) bool {
	k := KindOf(p)
	if !slices.ContainsFunc(k.metrics(), func(o Metric) bool { return o.Name == m.Name }) {
		return false
	}
	switch k {
	case KindForward:
		if p.Flood != "" {
			return p.Mode == m.Mode && (m.Answers == management || m.Name == OfferedRate)
		}
		return p.Mode == m.Mode && (m.Answers == "" || p.Usable)
	case KindSearch:
		return m.Answers == "" || m.Answers == p.Search.Method
	case KindSwitchback: // only the metrics it watches
		t := p.terms()
		return slices.ContainsFunc(t.Watch, func(source string) bool { return MetricOf(source, t.Better) == m.Name })
	case KindConnections:
		return slices.ContainsFunc(p.terms().Watch, func(source string) bool { c, _ := connectionMetric(source); return c.Name == m.Name })
	}
	return true
}

// measure derives a trial's metrics; block holds the earlier trials of its block.
func measure(p Part, o Observation, block []Trial) map[string]float64 {
	m := map[string]float64{}
	switch KindOf(p) {
	case KindForward:
		measureForward(m, p, o, block)
	case KindSearch:
		measureSearch(m, p, o)
	case KindServe:
		measureServed(m, o)
	case KindFlows:
		measureFlows(m, o)
	case KindSwitchback, KindConnections:
		if o.Window != nil {
			maps.Copy(m, o.Window.Value)
		}
	}
	return m
}

// Replicates returns what reports call the replicates of a metric.
func Replicates(metric string) string {
	switch m, _ := MetricNamed(metric); m.Mode {
	case SwitchbackMode:
		return "pairs"
	case ConnectionsMode:
		return "connections"
	case FlowsMode:
		return "flows"
	}
	return "blocks"
}

// Method describes in a paragraph how a part was measured.
func Method(s Spec, r Results, p Part) string {
	switch KindOf(p) {
	case KindForward:
		return forwardMethod(r, p)
	case KindSearch:
		return searchMethod(p)
	case KindFlows:
		return flowsMethod(s, p)
	case KindServe:
		return serveMethod(s, r, p)
	case KindSwitchback:
		return switchbackMethod(s, p)
	case KindConnections:
		return connectionsMethod(p)
	}
	return ""
}

// Sections returns a report's sections in addition to the verdicts.
func Sections(s Spec, r Results) []document.Block {
	return slices.Concat(forwardSections(r), searchSections(s, r), serveSections(s, r), switchbackSections(s, r), connectionSections(s, r), flowSections(s, r))
}

// Timeline returns the metric that best shows the drift of a part's trials.
func Timeline(p Part) (Metric, bool) {
	name := ""
	switch k := KindOf(p); {
	case k == KindSearch: // the result of its method
		return list.Find(searchMetrics, func(m Metric) bool { return m.Answers == p.Search.Method })
	case k == KindServe:
		return timelineOfServers(p)
	case k == KindSwitchback && len(p.terms().Watch) > 0:
		name = MetricOf(p.Live.Watch[0], p.Live.Better)
	case k == KindConnections && len(p.terms().Watch) > 0:
		m, _ := connectionMetric(p.Live.Watch[0])
		name = m.Name
	case k == KindFlows:
		name = FlowLatency
	case k == KindForward && p.Flood != "":
		name = ManagementLoss
	case k == KindForward && inCost(p):
		name = CostNS
	case k == KindForward:
		name = OverloadRate
	}
	return MetricNamed(name)
}
