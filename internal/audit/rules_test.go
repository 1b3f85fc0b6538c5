package audit_test

import (
	"strings"
	"testing"

	"linerate/internal/audit"
	"linerate/internal/fact/redact"
)

// TestRulesExamples checks every rule on its examples: it must report on each host under fires, and
// not on those under silent. A rule without both kinds is refused as untested.
func TestRulesExamples(t *testing.T) {
	_, set := known(t)
	if err := set.CheckExpressions(); err != nil {
		t.Fatal(err)
	}
	for _, r := range set.Rules() {
		t.Run(r.ID, func(t *testing.T) {
			if len(r.Fires) == 0 || len(r.Silent) == 0 {
				t.Fatal("needs at least one host on which it fires and one on which it is silent")
			}
			for i, x := range r.Fires {
				found := find(run(t, host(t, x), x.Role), r.ID, "")
				if len(found) == 0 {
					t.Errorf("fires %d %s: no finding", i+1, x.Note)
				}
				for _, f := range found {
					checkTexts(t, f)
				}
			}
			for i, x := range r.Silent {
				for _, f := range find(run(t, host(t, x), x.Role), r.ID, "") {
					t.Errorf("silent %d %s: unwanted finding: %s", i+1, x.Note, f.Message)
				}
				for _, f := range find(run(t, host(t, masked(x)), x.Role), r.ID, "") {
					t.Errorf("silent %d %s: unwanted finding in its capture: %s", i+1, x.Note, f.Message)
				}
			}
		})
	}
}

// TestCountersAreJudgedByTheirShare runs every rule on a counter on a host that is up for a year: some events are
// noise however small the traffic was counted, one in a hundred is not.
func TestCountersAreJudgedByTheirShare(t *testing.T) {
	_, set := known(t)
	for _, r := range set.Rules() {
		if r.Each != audit.EachCounter {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			x := r.Fires[0]
			f := host(t, x)
			name := find(run(t, f, x.Role), r.ID, "")[0].Name
			f.UptimeSeconds = 365 * 86400
			set := func(n uint64) int {
				for i := range f.Counters {
					if f.Counters[i].Name == name {
						f.Counters[i].Value = n
					}
				}
				return len(find(run(t, f, x.Role), r.ID, ""))
			}
			if set(1) > 0 || set(11) > 0 {
				t.Errorf("11 of %s in a year are reported", name)
			}
			if set(2_000_000) == 0 {
				t.Errorf("2,000,000 of %s in a year, of few, are not reported", name)
			}
		})
	}
}

// masked returns a host with its files as a capture holds them: masked, and few of other programs.
func masked(x audit.Example) audit.Example {
	files := map[string]string{}
	for name, text := range x.Files {
		named := map[bool]string{} // by rc.conf, and so captured
		if strings.Contains(x.Files["/etc/rc.conf"], name) {
			named[true], named[false] = redact.IPFW, redact.PF
		}
		if kind := redact.KindOf(name, named[strings.Contains(name, "ipfw")]); kind != "" {
			files[name], _ = redact.Text(kind, text)
		}
	}
	x.Files = files
	return x
}

// checkTexts refuses unusable texts.
func checkTexts(t *testing.T, f audit.Finding) {
	t.Helper()
	for _, s := range []string{f.Message, f.Why, f.Fix, f.Name} {
		if s == "" || strings.Contains(s, "${") || strings.Contains(s, "<nil>") || strings.Contains(s, "%!") {
			t.Errorf("%s: text %q", f.ID, s)
		}
	}
	for _, s := range f.Sets {
		if !strings.Contains(f.Fix, s.Name) || !strings.Contains(f.Fix, s.Value) {
			t.Errorf("%s: sets %s=%s, and its fix says %q", f.ID, s.Name, s.Value, f.Fix)
		}
	}
	if len(f.Sources) == 0 {
		t.Errorf("%s: no sources", f.ID)
	}
}
