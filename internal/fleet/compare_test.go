package fleet

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/audit"
)

var monday = time.Date(2026, 3, 2, 4, 0, 0, 0, time.UTC)

func found(id string, s audit.Severity, text string) Finding {
	return Finding{ID: "LR-" + id + ":net." + id, Rule: "LR-" + id, Tunable: "net." + id, Severity: s, Text: text}
}

// seen returns what a sweep saw on a day on a host with the given facts.
func seen(day int, facts string, findings ...Finding) *Observation {
	return &Observation{Name: "fw1", Time: monday.AddDate(0, 0, day), ID: "4f2a", Hostname: "fw1.example.org", OS: "freebsd", Release: "14.2", Role: "firewall",
		Facts: facts, Knowledge: "k1", Record: NoRecord, Findings: findings}
}

func failed(day int, why string) *Observation {
	return &Observation{Name: "fw1", Time: monday.AddDate(0, 0, day), Failure: why}
}

// told returns changes in short form.
func told(changes []Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Kind, c.Cause, c.Rule)))
	}
	return strings.Join(all, ", ")
}

// TestCompare goes through a host's life; each step lists the reported changes.
func TestCompare(t *testing.T) {
	a, b := found("A", audit.Warning, "low"), found("B", audit.Error, "gone")
	drift := DriftFinding("sysctl net.x", "net.x", "1", "2", "000001-x")
	further := DriftFinding("sysctl net.x", "net.x", "1", "3", "000001-x")
	worse := a
	worse.Severity = audit.Error
	unread := seen(8, "f2", a)
	unread.Record, unread.Unread = "", "root's alone"
	knows := func(o *Observation) *Observation { o.Knowledge = "k2"; return o }
	var h *Host
	for i, step := range []struct {
		what string
		o    *Observation
		told string
		left string // the rules of its findings
	}{
		{"unreachable at first", failed(0, "no route"), "unreachable baseline", ""},
		{"nor later", failed(1, "timeout"), "", ""},
		{"the first audit", seen(2, "f1", a), "first-seen baseline", "LR-A"},
		{"unchanged", seen(3, "f1", a), "", "LR-A"},
		{"another text", seen(4, "f1", found("A", audit.Warning, "lower still")), "", "LR-A"},
		{"a new finding", seen(5, "f2", a, b), "facts host, came host LR-B", "LR-A LR-B"},
		{"it went", seen(6, "f2", a), "went host LR-B", "LR-A"},
		{"drift", seen(7, "f2", a, drift), "drift host LR-APPLIED", "LR-A LR-APPLIED"},
		{"drift that could not be read again", unread, "", "LR-A LR-APPLIED"},
		{"drifted further", seen(9, "f2", a, further), "drift host LR-APPLIED", "LR-A LR-APPLIED"},
		{"put right", seen(10, "f2", a), "drift-ended host LR-APPLIED", "LR-A"},
		{"a newer catalogue", knows(seen(11, "f2", a, b)), "came catalogue LR-B", "LR-A LR-B"},
		{"a worse finding", knows(seen(12, "f2", worse, b)), "came host LR-A, went host LR-A", "LR-A LR-B"},
		{"lost", failed(13, "no route"), "unreachable host", "LR-A LR-B"},
		{"lost still", failed(14, "timeout"), "", "LR-A LR-B"},
		{"found again", knows(seen(15, "f2", worse, b)), "reachable host", "LR-A LR-B"},
	} {
		after, changes := Compare(h, step.o)
		if got := told(changes); got != step.told {
			t.Errorf("%d, %s: told %q, want %q", i, step.what, got, step.told)
		}
		for _, c := range changes {
			if c.Host != after.ID || c.Name != "fw1" || !c.Time.Equal(step.o.Time) {
				t.Errorf("%d, %s: change %+v of host %s", i, step.what, c, after.ID)
			}
		}
		if h != nil && after.Findings == nil { // they are as they were
			after.Findings = h.Findings
		}
		var rules []string
		for _, f := range after.Findings {
			rules = append(rules, f.Rule)
		}
		slices.Sort(rules)
		if got := strings.Join(rules, " "); got != step.left {
			t.Errorf("%d, %s: findings %s, want %s", i, step.what, got, step.left)
		}
		if !after.FirstSeen.Equal(monday) || after.UnreachableSince.IsZero() != (step.o.Failure == "") || (after.Reason != "") != (step.o.Failure != "") {
			t.Errorf("%d, %s: %+v", i, step.what, after)
		}
		h = &after
	}
	if h.ID != "4f2a" || !h.LastSuccess.Equal(monday.AddDate(0, 0, 15)) || h.Errors != 2 || h.Warnings != 0 || h.Record != NoRecord {
		t.Errorf("in the end %+v", h)
	}
	i := slices.IndexFunc(h.Findings, func(f Finding) bool { return f.Rule == "LR-B" })
	if !h.Findings[i].Since.Equal(monday.AddDate(0, 0, 11)) {
		t.Errorf("finding %+v came on the twelfth day", h.Findings[i])
	}
}

// TestChangesAddUp: the initial state plus appeared minus disappeared findings is always the current state,
// and different wording of a finding is no change.
func TestChangesAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pool := []Finding{found("A", audit.Error, "a"), found("A", audit.Warning, "a"), found("B", audit.Info, "b"), found("C", audit.Warning, "c"),
		DriftFinding("sysctl x", "x", "1", "2", "t"), DriftFinding("sysctl x", "x", "1", "3", "t"), DriftFinding("/etc/a", "/etc/a", "", "another text", "t")}
	for round := range 50 {
		var h *Host
		standing := map[string]bool{}
		for day := range 12 {
			o := seen(day, fmt.Sprint("f", r.IntN(3)))
			for _, i := range r.Perm(len(pool))[:r.IntN(len(pool))] {
				f := pool[i]
				f.Text += fmt.Sprint(r.IntN(9))
				if !slices.ContainsFunc(o.Findings, func(g Finding) bool { return g.ID == f.ID }) {
					o.Findings = append(o.Findings, f)
				}
			}
			if day > 0 && r.IntN(4) == 0 {
				o = failed(day, "no route")
			}
			after, changes := Compare(h, o)
			for _, c := range changes {
				key := c.Finding + " " + c.Expected + c.Found + string(c.Severity)
				switch c.Kind {
				case Came, Drift:
					if standing[key] {
						t.Fatalf("round %d, day %d: %s appeared twice", round, day, key)
					}
					standing[key] = true
				case Went, DriftEnded:
					if !standing[key] {
						t.Fatalf("round %d, day %d: %s disappeared, but was not present", round, day, key)
					}
					delete(standing, key)
				case FirstSeen:
					for _, f := range o.Findings {
						standing[f.ID+" "+f.Expected+f.Found+string(f.Severity)] = true
					}
				case Facts, Unreachable, Reachable, Gone:
				}
			}
			if after.Findings == nil && h != nil && (o.Failure != "" || h.Set == after.Set) {
				after.Findings = h.Findings
			}
			h = &after
			now := map[string]bool{}
			for _, f := range h.Findings {
				now[f.ID+" "+f.Expected+f.Found+string(f.Severity)] = true
			}
			for key := range now {
				if !standing[key] {
					t.Fatalf("round %d, day %d: %s is present, but never appeared", round, day, key)
				}
			}
			for key := range standing { // further drift is reported only as the new drift
				if !now[key] && !strings.Contains(key, DriftRule) {
					t.Fatalf("round %d, day %d: %s is absent, but never disappeared", round, day, key)
				}
				if !now[key] {
					delete(standing, key)
				}
			}
		}
	}
}

// TestSetDigest: the digest depends on the findings, not on their order, number or wording.
func TestSetDigest(t *testing.T) {
	a, b := found("A", audit.Error, "1"), found("B", audit.Info, "2")
	other := a
	other.Text = "9"
	worse := b
	worse.Severity = audit.Warning
	base := SetDigest([]Finding{a, b})
	for what, c := range map[string]struct {
		set  []Finding
		same bool
	}{"order": {[]Finding{b, a}, true}, "twice": {[]Finding{a, b, a}, true}, "text": {[]Finding{other, b}, true}, "severity": {[]Finding{a, worse}, false}, "one less": {[]Finding{a}, false}, "none": {nil, false}} {
		if got := SetDigest(c.set); (got == base) != c.same {
			t.Errorf("%s: %s, %s", what, got, base)
		}
	}
	if Digest("ab", "c") == Digest("a", "bc") || Digest("a") == Digest("a", "") {
		t.Error("different fields with the same concatenation have the same digest")
	}
	if SetDigest([]Finding{DriftFinding("x", "x", "1", "2", "t")}) == SetDigest([]Finding{DriftFinding("x", "x", "1", "3", "t")}) {
		t.Error("drift to another value has the same digest")
	}
}

// TestAlerts: only a change of the host itself, for the worse, raises an alert.
func TestAlerts(t *testing.T) {
	worse := []Kind{Came, Drift, Unreachable}
	for _, k := range Kinds() {
		for _, cause := range []Cause{ByHost, ByBaseline, ByCatalogue} {
			c := Change{Kind: k, Cause: cause}
			if want := cause == ByHost && slices.Contains(worse, k); c.Alerts() != want {
				t.Errorf("%s by %s alerts: %v", k, cause, c.Alerts())
			}
		}
	}
}

// TestFirstRecord: drift seen when a host's record can be read for the first time is not reported, other
// new findings are.
func TestFirstRecord(t *testing.T) {
	first := seen(0, "f1")
	first.Record, first.Unread = "", "root's alone"
	h, _ := Compare(nil, first)
	_, changes := Compare(&h, seen(1, "f1", DriftFinding("sysctl x", "x", "1", "2", "t"), found("A", audit.Error, "a")))
	if got := told(changes); got != "drift baseline LR-APPLIED, came host LR-A" {
		t.Errorf("told %s", got)
	}
}

// TestHostIsAnother: changes of release, role and name are reported; a host that gets an identifier keeps it,
// and that of a clone is not overwritten by the shared one.
func TestHostIsAnother(t *testing.T) {
	h, _ := Compare(nil, failed(0, "down"))
	if h.ID != ByName+"fw1" {
		t.Errorf("ID %q", h.ID)
	}
	h, _ = Compare(&h, seen(1, "f1"))
	o := seen(2, "f2")
	o.Release, o.Role, o.Hostname = "15.0", "", "fw1"
	after, changes := Compare(&h, o)
	if len(changes) != 1 || changes[0].Text != "release freebsd 14.2 → freebsd 15.0, role firewall → , host name fw1.example.org → fw1" || after.Release != "15.0" {
		t.Errorf("%+v", changes)
	}
	_, changes = Compare(&h, seen(2, "f2"))
	if len(changes) != 1 || changes[0].Text != "settings or hardware changed" {
		t.Errorf("%+v", changes)
	}
	clone := h
	clone.ID = "4f2a/fw1"
	if after, _ := Compare(&clone, seen(2, "f1")); after.ID != "4f2a/fw1" {
		t.Errorf("a clone becomes %q", after.ID)
	}
	renamed := seen(3, "f1")
	renamed.Name = "fw-new"
	if after, _ := Compare(&h, renamed); after.Name != "fw-new" {
		t.Errorf("reached as fw-new, but named %q", after.Name)
	}
	lost := failed(3, "down")
	lost.Name = "fw-new"
	if after, _ := Compare(&h, lost); after.Name != "fw1" {
		t.Errorf("not reached as fw-new, but named %q", after.Name)
	}
}

func TestApplied(t *testing.T) {
	for want, h := range map[string]Host{
		"":                          {},
		"nothing by linerate":       {Record: NoRecord},
		"000001-x, nothing drifted": {Record: "000001-x"},
		"000001-x, 2 drifts":        {Record: "000001-x", Drifts: 2},
		"the last sweep could not compare it: root's alone":                      {Unread: "root's alone"},
		"000001-x, 1 drift; the last sweep could not compare it: a study has it": {Record: "000001-x", Drifts: 1, Unread: "a study has it"},
	} {
		if got := h.Applied(); got != want {
			t.Errorf("%+v: %q, want %q", h, got, want)
		}
	}
}

// TestTotalAndWorst: rules are summed over roles, with the worst severity.
func TestTotalAndWorst(t *testing.T) {
	got := Total([]RuleCount{{Rule: "A", Severity: audit.Info, Role: "web", Hosts: 1}, {Rule: "B", Severity: audit.Warning, Hosts: 4}, {Rule: "A", Severity: audit.Error, Hosts: 2}, {Rule: "A", Severity: audit.Warning, Hosts: 3}})
	want := []RuleTotal{{"A", audit.Error, 6, map[string]int{"web": 1, "": 5}}, {"B", audit.Warning, 4, map[string]int{"": 4}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	w := Worst([]Finding{found("A", audit.Info, ""), found("B", audit.Error, ""), found("A", audit.Warning, ""), found("B", audit.Info, "")})
	if len(w) != 2 || w["LR-A"] != audit.Warning || w["LR-B"] != audit.Error {
		t.Errorf("%v", w)
	}
	groups := []Group{{Role: "web", Hosts: 1}, {Role: "", Hosts: 1}, {Role: "web", OS: "linux", Release: "6.12", Hosts: 9}, {Role: "web", OS: "linux", Release: "6.1", Hosts: 9}}
	SortGroups(groups)
	if groups[0].Release != "6.1" || groups[1].Release != "6.12" || groups[2].Role != "" {
		t.Errorf("%+v", groups)
	}
}

// TestSummarise: hosts with the same changes share a line; a different old value makes another line.
func TestSummarise(t *testing.T) {
	v := func(s string) *string { return &s }
	c := func(setting string, was *string, value string) PlannedChange {
		return PlannedChange{setting, was, value}
	}
	s := Summarise([]Planned{
		{Name: "a", Changes: []PlannedChange{c("net.x", v("1"), "2"), c("net.y", nil, "3")}},
		{Name: "b", Changes: []PlannedChange{c("net.y", nil, "3"), c("net.x", v("1"), "2")}},
		{Name: "c", Changes: []PlannedChange{c("net.x", v(""), "2")}},
		{Name: "d", Changes: []PlannedChange{c("net.x", nil, "2")}},
		{Name: "e"}, {Name: "f", Failure: "no route"},
	})
	if s.Hosts != 6 || s.Planned != 4 || s.Right != 1 || s.Failed != 1 || len(s.Failures) != 1 || s.Failures[0].Name != "f" {
		t.Errorf("%+v", s)
	}
	var got []string
	for _, g := range s.Changes {
		got = append(got, fmt.Sprintf("%s=%s×%d", g.Setting, g.Value, g.Hosts))
	}
	if want := "net.x=2×2 net.y=3×2 net.x=2×1 net.x=2×1"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", got, want)
	}
}
