package audit

import "linerate/internal/fact"

// shaperView is a shaper in expressions of rules.
type shaperView struct {
	Kind    string `expr:"kind"`
	Device  string `expr:"device"`
	Enabled bool   `expr:"enabled"`
	// Unused means that, as far as is known, no traffic is sent to it.
	Unused    bool `expr:"unused"`
	Offloaded bool `expr:"offloaded"`
	// Bandwidth and Download are in bit/s, -1 if not given.
	Bandwidth float64 `expr:"bandwidth"`
	Download  float64 `expr:"download"`
	Scheduler string  `expr:"scheduler"`
	Script    string  `expr:"script"`
	// Target and Interval are in milliseconds, 0 for the scheduler's default.
	Target    float64 `expr:"target"`
	Interval  float64 `expr:"interval"`
	Quantum   float64 `expr:"quantum"`
	Limit     float64 `expr:"limit"`
	Flows     float64 `expr:"flows"`
	LinkLayer string  `expr:"link_layer"`
	// Overhead is in bytes per packet, 0 if not given.
	Overhead float64 `expr:"overhead"`
}

func viewShaper(s fact.Shaper) *shaperView {
	v := &shaperView{Kind: s.Kind, Device: s.Device, Enabled: s.Enabled, Unused: s.Used != nil && !*s.Used, Offloaded: s.Offloaded, Bandwidth: -1, Download: -1,
		Scheduler: s.Scheduler, Script: s.Script, Target: s.TargetMS, Interval: s.IntervalMS, Quantum: float64(s.Quantum), Limit: float64(s.Limit), Flows: float64(s.Flows), LinkLayer: s.LinkLayer}
	if s.Bandwidth != nil {
		v.Bandwidth = float64(*s.Bandwidth)
	}
	if s.Download != nil {
		v.Download = float64(*s.Download)
	}
	if s.Overhead != nil {
		v.Overhead = float64(*s.Overhead)
	}
	return v
}
