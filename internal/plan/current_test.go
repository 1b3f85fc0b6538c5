package plan

import (
	"slices"
	"strings"
	"testing"

	"linerate/catalogue"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/judge"
	"linerate/internal/tunable"
)

// TestContainerPlansItsOwn: settings of a container's host are not planned in the container but listed as
// needed there; settings of its own namespaces are planned.
func TestContainerPlansItsOwn(t *testing.T) {
	k, err := load()
	if err != nil {
		t.Fatal(err)
	}
	f := box(fact.Linux, "6.12", serves, loses)
	for _, container := range []string{"", "lxc"} {
		f.Container = container
		p, err := Make(Input{Facts: f, Catalogue: k.catalogue, Library: k.library, Role: "web", Needs: Needs{Link: 10e9, RTT: 0.05, Connections: 1e6}, Unmeasured: true})
		if err != nil {
			t.Fatal(err)
		}
		hosts, own := 0, 0
		for _, s := range p.Settings {
			r, ok := k.catalogue.Lookup(fact.Linux, s.Name)
			switch {
			case !ok || s.Device != "":
			case r.ScopeOn(s.Name, f.Release) == tunable.Host:
				hosts++
			default:
				own++
			}
		}
		said := slices.ContainsFunc(p.Unmet, func(s string) bool { return strings.Contains(s, "plan it there") })
		if (hosts == 0) != (container != "") || own == 0 || said != (container != "") {
			t.Errorf("container %q: %d settings of the host, %d of its own, said %v: %q", container, hosts, own, said, p.Unmet)
		}
	}
}

// TestPFLimitIsTheRunningOne: a line of pf.conf is the source of a limit only if the kernel's running limit
// equals it or is unknown.
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
		want          judge.Standing
	}{
		"loaded":       {limit(500_000), limit(500_000), judge.Standing{Value: "500000", Origin: "/etc/pf.conf", Known: true}},
		"not loaded":   {limit(500_000), limit(100_000), judge.Standing{Value: "100000", Origin: "the running kernel", Known: true}},
		"set by hand":  {nil, limit(700_000), judge.Standing{Value: "700000", Origin: "the running kernel", Known: true}},
		"file only":    {limit(500_000), nil, judge.Standing{Value: "500000", Origin: "/etc/pf.conf", Known: true}},
		"neither":      {nil, nil, judge.Standing{Value: "100000", Origin: "default", Known: true}},
		"another only": {limit(1)[:1], limit(2)[:1], judge.Standing{Value: "100000", Origin: "default", Known: true}},
	} {
		p := &planning{Input: &Input{Catalogue: known, Facts: &fact.Facts{OS: fact.FreeBSD, Release: r}}}
		p.Facts.Firewall.PF = &fact.PF{File: "/etc/pf.conf", FileLimits: c.file, Limits: c.running}
		if got := p.current("pf.conf:limit.states", nil); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
