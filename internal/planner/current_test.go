package planner

import (
	"testing"

	"linerate/catalogue"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
)

// TestPFLimitIsTheRunningOne: a line of pf.conf is where a limit comes from only
// as long as the kernel has it so, or nobody asked the kernel.
func TestPFLimitIsTheRunningOne(t *testing.T) {
	known, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	r, err := release.Parse("14.3")
	if err != nil {
		t.Fatal(err)
	}
	limit := func(v uint64) []fact.Limit {
		return []fact.Limit{{Name: "frags", Value: v}, {Name: "states", Value: v}}
	}
	for name, c := range map[string]struct {
		file, running []fact.Limit
		want          current
	}{
		"loaded":       {limit(500_000), limit(500_000), current{Value: "500000", Origin: "/etc/pf.conf", Known: true}},
		"not loaded":   {limit(500_000), limit(100_000), current{Value: "100000", Origin: "the running kernel", Known: true}},
		"set by hand":  {nil, limit(700_000), current{Value: "700000", Origin: "the running kernel", Known: true}},
		"file only":    {limit(500_000), nil, current{Value: "500000", Origin: "/etc/pf.conf", Known: true}},
		"neither":      {nil, nil, current{Value: "100000", Origin: "default", Known: true}},
		"another only": {limit(1)[:1], limit(2)[:1], current{Value: "100000", Origin: "default", Known: true}},
	} {
		p := &planning{Input: &Input{Catalogue: known, Facts: &fact.Facts{OS: fact.FreeBSD, Release: r}}}
		p.Facts.Firewall.PF = &fact.PF{File: "/etc/pf.conf", FileLimits: c.file, Limits: c.running}
		if got := p.current("pf.conf:limit.states", nil); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
