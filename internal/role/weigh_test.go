package role

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/hint"
)

const weights = `
roles:
  - {name: light, summary: s, evidence: [{when: cpus > 0, weight: 1, reason: has a CPU}]}
  - {name: heavy, summary: s, evidence: [{when: cpus > 1, weight: 2, reason: has some}, {when: cpus > 3, weight: 5, reason: has many}, {when: cpus > 99, weight: 9, reason: has too many}]}
  - {name: doubted, summary: s, evidence: [{when: cpus > 0, weight: 3, reason: has a CPU}, {when: cpus > 1, weight: -3, reason: has too many}]}
`

// TestWeighing: the heaviest role wins, its reasons the strongest first, the others are
// told; what speaks against a role can outweigh it.
func TestWeighing(t *testing.T) {
	known, err := Parse([]byte(weights))
	if err != nil {
		t.Fatal(err)
	}
	for cpus, want := range map[int]string{0: "endpoint:", 1: "doubted: has a CPU | light", 2: "heavy: has some | light", 4: "heavy: has many, has some | light"} {
		g, err := guess(known, &fact.Facts{CPU: fact.CPU{Count: cpus}})
		if err != nil {
			t.Fatal(err)
		}
		var others []string
		for _, o := range g.Others {
			others = append(others, o.Role)
		}
		got := strings.TrimSpace(g.Role + ": " + strings.Join(g.Reasons, ", "))
		if len(others) > 0 {
			got += " | " + strings.Join(others, ", ")
		}
		if got != want || g.Reasons == nil {
			t.Errorf("%d CPUs: %q, want %q", cpus, got, want)
		}
	}
	broken := []Role{{Name: "x", Evidence: []Evidence{{When: "nics[7].mtu > 0", Weight: 1}}}}
	if _, err := guess(broken, &fact.Facts{}); err == nil || !strings.Contains(err.Error(), "role x: ") {
		t.Errorf("evidence that cannot be weighed: %v", err)
	}
}

// TestNames: every role is there once, endpoint too, and an unknown one is told the nearest.
func TestNames(t *testing.T) {
	names := Names()
	if len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) || !slices.Contains(names, "endpoint") || !slices.Contains(names, "router") {
		t.Errorf("%q", names)
	}
	for _, name := range names {
		if err := Check(name); err != nil {
			t.Error(err)
		}
	}
	if err := Check("ruoter"); err == nil || !hint.IsUsage(err) || !strings.Contains(hint.Of(err), "router") {
		t.Errorf("%v; %s", err, hint.Of(err))
	}
}
