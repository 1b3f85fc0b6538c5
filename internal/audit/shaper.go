package audit

import "linerate/internal/fact"

// shaperView is a shaper in expressions of rules.
type shaperView struct {
	fact.Shaper
	// Unused means that, as far as is known, no traffic is sent to it.
	Unused bool `expr:"unused"`
	// Bandwidth and Download are in bit/s, -1 if not given.
	Bandwidth float64 `expr:"bandwidth"`
	Download  float64 `expr:"download"`
	// Overhead is in bytes per packet, 0 if not given.
	Overhead float64 `expr:"overhead"`
}

func viewShaper(s fact.Shaper) *shaperView {
	v := &shaperView{Shaper: s, Unused: s.Used != nil && !*s.Used, Bandwidth: -1, Download: -1}
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
