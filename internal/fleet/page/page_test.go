package page

import (
	"strings"
	"testing"

	"linerate/internal/audit"
	"linerate/internal/fleet"
	"linerate/internal/show"
)

// shown returns what a page shows, with white space folded.
func shown(fill func(*show.Page)) string {
	p := show.NewPage(show.Style{Width: 200})
	fill(p)
	return strings.Join(strings.Fields(p.String()), " ")
}

func want(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%q lacks %q", got, part)
		}
	}
}

// TestMoreThanIsShown: a page lists the first of many entries and counts the rest.
func TestMoreThanIsShown(t *testing.T) {
	changes := make([]fleet.Change, MostChanges+2)
	for i := range changes {
		changes[i] = fleet.Change{Name: "fw1", Kind: fleet.Came, Rule: "LR-X", Text: "low"}
	}
	got := shown(func(p *show.Page) { Changes(p, changes) })
	if n := strings.Count(got, "LR-X: low"); n != MostChanges {
		t.Errorf("%d changes", n)
	}
	want(t, got, "… and 2 changes more, in the JSON")
	want(t, shown(func(p *show.Page) { Changes(p, changes[:1]) }), "LR-X: low")
	if got := shown(func(p *show.Page) { Changes(p, nil) }); got != "" {
		t.Errorf("without changes: %q", got)
	}
	hosts := make([]fleet.Host, MostChanges+3)
	want(t, shown(func(p *show.Page) { Rule(p, "LR-X", []fleet.RuleCount{{Hosts: 4}, {Hosts: 5}}, hosts, 1234) }), "LR-X on 9 of 1,234 hosts:", "and 3 more, in the JSON")
	if got := Some([]string{"a", "b", "c"}, 2); got != "a, b and 1 more" {
		t.Errorf("%q", got)
	}
}

// TestStatusAndWave: rules are summed over roles with the worst severity; a wave's hosts without a text share
// a line.
func TestStatusAndWave(t *testing.T) {
	counts := []fleet.RuleCount{{Rule: "LR-A", Severity: audit.Info, Hosts: 1}, {Rule: "LR-B", Severity: audit.Warning, Hosts: 2}, {Rule: "LR-A", Severity: audit.Error, Hosts: 2}}
	got := shown(func(p *show.Page) {
		Status(p, &fleet.Status{Hosts: 5, Applied: 2, Drifted: 1}, counts, nil, []fleet.Host{{Name: "db1", Record: "r", Drifts: 2}})
	})
	want(t, got, "LR-A on 3 of 5 hosts (error) LR-B on 2 of 5 hosts (warning)", "linerate applied something on 2 hosts, 1 drifted from it.", "db1 drifted from what linerate applied (r) in 2 places")
	got = shown(func(p *show.Page) {
		Wave(p, fleet.Wave{ID: "w", Hosts: 3}, []fleet.WaveEvent{{Name: "a", State: fleet.WaveConfirmed}, {Name: "b", State: fleet.WaveConfirmed}, {Name: "c", State: fleet.WaveSkipped, Text: "no route"}})
	})
	want(t, got, "wave w: 3 hosts, not ended", "2: a, b", "c: no route")
}
