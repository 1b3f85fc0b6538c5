package forward

import (
	"strings"
	"testing"

	"linerate/internal/lab"
	"linerate/internal/profile"
	"linerate/internal/study"
	"linerate/internal/testbed/bedtest"
)

const lookSpec = `name: sim
question: What do rules cost?
variants:
  - name: none
  - name: rules-100
    settings:
      - firewall: {linear: 100}
  - name: set
    settings:
      - firewall: {table: 1000}
parts:
  - {name: cost, mode: cost, blocks: 4, seconds: 0.5}
  - {name: max, mode: overload, blocks: 2, seconds: 0.5}
  - {name: given, mode: overload, rate: 500kpps, blocks: 2, seconds: 0.5}
`

// look runs a task with instruments, and returns what they saw and stored.
func look(t *testing.T, sim *bedtest.Simulated, p lab.Task) (seen []study.Telemetry, kept map[string][]byte) {
	t.Helper()
	l := &lab.Lab{Machine: sim, Profiler: sim.Profile, Runners: runners(sim), Looked: func(x study.Telemetry) error { seen = append(seen, x); return nil }}
	_, kept, _, err := bedtest.Run(t, l, p)
	if err != nil {
		t.Fatal(err)
	}
	return seen, kept
}

func TestInstrumentsLookIntoEveryVariant(t *testing.T) {
	s := bedtest.Parse(t, strings.Replace(lookSpec, "parts:", "profile: true\nparts:", 1))
	seen, kept := look(t, &bedtest.Simulated{Seed: 1}, lab.Task{Spec: s, Seed: 5})
	if len(seen) != 2*3 { // one part of each mode, three variants
		t.Fatalf("%d looks, want 6: %+v", len(seen), seen)
	}
	byName := map[string]study.Telemetry{}
	for _, x := range seen {
		byName[x.Part+"/"+x.Variant] = x
		if x.Profile == nil || kept[x.Profile.Pprof] == nil {
			t.Errorf("%s, %s: no profile kept: %+v", x.Part, x.Variant, x.Profile)
		}
	}
	none, rules := byName["cost/none"], byName["cost/rules-100"]
	if m := profile.Movers(none.Stacks, rules.Stacks)[0]; m.Name != "nft_do_chain" || m.After-m.Before < 20 {
		t.Errorf("the largest change is %+v", m)
	}
	found, err := profile.Read(kept[none.Profile.Pprof])
	if err != nil || profile.Total(found) != profile.Total(none.Stacks) {
		t.Errorf("the profile kept is not the one seen: %v", err)
	}
}

func TestInstrumentsGoOnWhereTheyStopped(t *testing.T) {
	s := bedtest.Parse(t, strings.Replace(lookSpec, "parts:", "profile: true\nparts:", 1))
	had := []study.Telemetry{{Part: "cost", Variant: "none"}, {Part: "max", Variant: "set"}}
	seen, _ := look(t, &bedtest.Simulated{Refuse: bedtest.Refuse("net.ipv4.no_such")}, lab.Task{Spec: s, Seed: 5, Telemetry: had})
	if len(seen) != 4 {
		t.Errorf("%d profiles, want the remaining 4", len(seen))
	}
	s.Profile = false
	if seen, _ := look(t, &bedtest.Simulated{}, lab.Task{Spec: s, Seed: 5}); len(seen) != 0 {
		t.Errorf("%d profiles although none was requested", len(seen))
	}
}
