package study

import (
	"fmt"

	"linerate/internal/testbed"
)

// Defaults of a study that does not say.
const (
	defaultBlocks  = 6
	defaultSeconds = 1.0
	defaultWarmup  = 0.15
	defaultRetries = 2
	defaultMargin  = 3.0
	// defaultMarginPoints is the margin of shares.
	defaultMarginPoints = 1.0
)

// DefaultGates are the limits of a study that states none.
var DefaultGates = Gates{
	DriftPercent:      15,
	StealPercent:      2,
	ContentionPercent: 35,
	StarvedPercent:    20,
	UnsentPercent:     0.5,
	PacingPercent:     2,
	Headroom:          1.2,
	CostLossPercent:   1,
	GoodRoundsPercent: 10,
	FailedPercent:     0.5,
}

// fill puts defaults where the study says nothing; said tells which paths it
// has, so that a zero that was written is not mistaken for silence.
func (s *Spec) fill(said func(path string) bool) {
	s.Version = SpecVersion
	s.fillTestbed()
	orString(&s.Workload.Family, "ipv4")
	orString(&s.Workload.Order, "round-robin")
	if !s.serves() {
		orString(&s.Workload.Directions, OneWay)
	}
	if len(s.Workload.Sizes) == 0 && s.Workload.IMIX == "" && !s.serves() {
		s.Workload.Sizes = []int{smallest(s.Workload.Family)}
	}
	unless(said, "workload.flows", &s.Workload.Flows, 1000)
	if s.Control == "" && len(s.Variants) > 0 {
		s.Control = s.Variants[0].Name
	}
	unless(said, "blocks", &s.Blocks, defaultBlocks)
	unless(said, "retries", &s.Retries, defaultRetries)
	s.fillParts(said)
	s.fillServe(said)
	s.fillMetrics(said)
	s.fillGates(said)
}

// smallest is the least frame that holds a stamp: 64 bytes for IPv4 (RFC
// 2544's smallest), 84 for IPv6, whose headers alone are 62.
func smallest(family string) int {
	if family == "ipv6" {
		return 84
	}
	return minFrameSize
}

func (s *Spec) fillParts(said func(string) bool) {
	mode := testbed.Cost
	if s.serves() {
		mode = testbed.Serve
	}
	if len(s.Parts) == 0 {
		s.Parts = []Part{{Mode: mode}}
	}
	for i := range s.Parts {
		p, path := &s.Parts[i], fmt.Sprintf("parts[%d].", i)
		orString((*string)(&p.Mode), string(mode))
		orString(&p.Name, string(p.Mode))
		orString((*string)(&p.Rate), string(MaxRate))
		orString(&p.Directions, s.Workload.Directions)
		unless(said, path+"blocks", &p.Blocks, s.Blocks)
		unless(said, path+"seconds", &p.Seconds, defaultSeconds)
		unless(said, path+"warmup", &p.Warmup, defaultWarmup)
		if p.Search != nil {
			p.Search.fill(func(key string) bool { return said(path + "search." + key) })
		}
	}
}

func (s *Spec) fillMetrics(said func(string) bool) {
	if len(s.Metrics) == 0 {
		s.Metrics = defaultGoals(s.Parts)
	}
	for i := range s.Metrics {
		g := &s.Metrics[i]
		if g.Part == "" {
			g.Part = s.partFor(g.Metric)
		}
		path := fmt.Sprintf("metrics[%d].margin_", i)
		m, _ := MetricNamed(g.Metric)
		switch {
		case said(path+"percent") || said(path+"points"):
		case m.Share:
			g.MarginPoints = defaultMarginPoints
		default:
			g.MarginPercent = defaultMargin
		}
	}
}

// partFor is the first part whose mode yields a metric.
func (s *Spec) partFor(metric string) string {
	for _, p := range s.Parts {
		if m, ok := MetricNamed(metric); ok && p.yields(m) {
			return p.Name
		}
	}
	return ""
}

// defaultGoals wants a verdict on every metric of every part; the first of
// the first part is primary.
func defaultGoals(parts []Part) []Goal {
	var goals []Goal
	for _, p := range parts {
		for _, m := range Metrics {
			if p.yields(m) && m.Verdict {
				goals = append(goals, Goal{Metric: m.Name, Part: p.Name})
			}
		}
	}
	if len(goals) > 0 {
		goals[0].Primary = true
	}
	return goals
}

func (s *Spec) fillGates(said func(string) bool) {
	for key, g := range s.Gates.byKey() {
		unless(said, "gates."+key, g, *DefaultGates.byKey()[key])
	}
}

// byKey gives access to the limits by their YAML keys.
func (g *Gates) byKey() map[string]*float64 {
	return map[string]*float64{
		"drift_percent": &g.DriftPercent, "steal_percent": &g.StealPercent, "foreign_percent": &g.ContentionPercent,
		"starved_percent": &g.StarvedPercent,
		"unsent_percent":  &g.UnsentPercent, "pacing_percent": &g.PacingPercent, "headroom": &g.Headroom,
		"cost_loss_percent": &g.CostLossPercent, "good_rounds_percent": &g.GoodRoundsPercent,
		"failed_percent": &g.FailedPercent,
	}
}

// unless sets a key that was not said.
func unless[T any](said func(string) bool, key string, value *T, to T) {
	if !said(key) {
		*value = to
	}
}

func orString(s *string, fallback string) {
	if *s == "" {
		*s = fallback
	}
}
