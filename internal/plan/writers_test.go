package plan_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/assemble/hosts"
	"linerate/internal/fact"
	"linerate/internal/plan"
)

// TestPlanKnowsWriters: a setting that a running program would overwrite is not in the plan but a decision
// that names the program and what to do; on the same host without the program it is set.
func TestPlanKnowsWriters(t *testing.T) {
	planner, err := hosts.NewPlanner(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := hosts.Rules()
	if err != nil {
		t.Fatal(err)
	}
	const name = "net.netfilter.nf_conntrack_max"
	for _, kubernetes := range []bool{true, false} {
		f := linuxFirewall()
		if kubernetes {
			f.Services = append(f.Services, fact.Service{Name: "kubelet", Enabled: on()})
		}
		f.Normalise()
		if f, err = rules.WithWriters(f); err != nil {
			t.Fatal(err)
		}
		in, err := planner.Input(f, "firewall", "given", plan.Needs{States: 1e6})
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Make(in)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(p.Decide, func(d plan.Decision) bool { return d.Name == name })
		if (i >= 0) != kubernetes || (find(p, name) == nil) != kubernetes {
			t.Fatalf("kubernetes %v: set %+v, decide %+v", kubernetes, find(p, name), p.Decide)
		}
		if kubernetes && (!strings.Contains(p.Decide[i].Reason, "does not stick: kube-proxy writes 262144") || !strings.Contains(p.Decide[i].Reason, "conntrack.maxPerCore: 0")) {
			t.Error(p.Decide[i].Reason)
		}
	}
}
