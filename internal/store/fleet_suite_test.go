package store_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/audit"
	"linerate/internal/fleet"
	"linerate/internal/ledger"
)

// TestFleet is what a ledger keeps of fleets in every database.
func TestFleet(t *testing.T) {
	for _, d := range databases {
		for _, c := range []struct {
			name string
			test func(*testing.T, ledger.FleetStore, openLedger)
		}{
			{"Baseline", testBaseline}, {"NothingNew", testNothingNew}, {"Changes", testChanges}, {"Drift", testDrift}, {"Pages", testPages}, {"Unreachable", testUnreachable},
			{"Catalogue", testCatalogue}, {"Rules", testRules}, {"Identity", testIdentity}, {"Clones", testClones}, {"Forget", testForget},
			{"Resume", testResume}, {"TwoSweeps", testTwoSweeps}, {"AwkwardText", testAwkwardFleet}, {"Waves", testWaves},
		} {
			t.Run(d.name+"/"+c.name, func(t *testing.T) {
				open := d.fresh(t).ledger
				c.test(t, open(t), open)
			})
		}
	}
}

// finding of a rule about a tunable.
func finding(rule, tunable string, s audit.Severity) fleet.Finding {
	return fleet.Finding{ID: rule + ":" + tunable, Rule: rule, Tunable: tunable, Severity: s, Text: tunable + " is wrong"}
}

// seen is a host as a sweep sees it; its identifier follows from its name.
func seen(name string, at time.Time, findings ...fleet.Finding) fleet.Observation {
	return fleet.Observation{Name: name, Time: at, ID: string(ledger.IDOf("host", name)), Hostname: name + ".example.org", OS: "freebsd", Release: "14.3", Role: "router",
		Facts: "f1", Knowledge: "k1", Findings: findings, Record: fleet.NoRecord}
}

// sweepOf runs a whole sweep, and returns what it stored.
func sweepOf(t *testing.T, s ledger.FleetStore, id string, at time.Time, all ...fleet.Observation) ([]fleet.Change, fleet.Sweep) {
	t.Helper()
	_, err := s.BeginSweep(t.Context(), fleet.Sweep{ID: id, Start: at, From: "hosts", Hosts: len(all)})
	must(t, err)
	for i := range all {
		all[i].Time = at
	}
	changes, err := s.Observe(t.Context(), id, all...)
	must(t, err)
	w, err := s.EndSweep(t.Context(), id, at.Add(time.Minute))
	must(t, err)
	return changes, w
}

// told is a short form of changes, sorted.
func told(changes []fleet.Change) string {
	var out []string
	for _, c := range changes {
		line := fmt.Sprintf("%s %s %s", c.Name, c.Kind, c.Cause)
		if c.Rule != "" {
			line += " " + string(c.Severity) + " " + c.Rule
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func expectTold(t *testing.T, changes []fleet.Change, want string) {
	t.Helper()
	if got := told(changes); got != want {
		t.Errorf("changes: %q\n want: %q", got, want)
	}
}

var (
	warning = finding("LR-LOW", "net.a", audit.Warning)
	broken  = finding("LR-GONE", "net.b", audit.Error)
	night   = 24 * time.Hour
)

// at is a finding that is there since a time.
func at(f fleet.Finding, t time.Time) fleet.Finding {
	f.Since = t.Truncate(time.Millisecond)
	return f
}

// testBaseline: the first look at a host is one line, and no alert.
func testBaseline(t *testing.T, s ledger.FleetStore, _ openLedger) {
	changes, w := sweepOf(t, s, "one", day, seen("a", day, warning, broken), seen("b", day))
	expectTold(t, changes, "a first-seen baseline; b first-seen baseline")
	if w.Reached != 2 || w.Changes != 2 || w.Alerts != 0 || w.Errors != 1 || w.Warnings != 1 || w.End.IsZero() {
		t.Errorf("the sweep: %+v", w)
	}
	h, err := s.Host(t.Context(), "a")
	must(t, err)
	if h.Hostname != "a.example.org" || len(h.Findings) != 2 || h.Findings[0] != at(broken, day) || h.Findings[1] != at(warning, day) || !h.LastSuccess.Equal(day.Truncate(time.Millisecond)) {
		t.Errorf("host a: %+v", h)
	}
	for _, name := range []string{"a.example.org", h.ID, h.ID[:8]} {
		if same, err := s.Host(t.Context(), name); err != nil || same.ID != h.ID {
			t.Errorf("Host(%q): %+v, %v", name, same, err)
		}
	}
	if _, err := s.Host(t.Context(), "nobody"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("an unknown host: %v", err)
	}
	st, err := s.Status(t.Context(), 3)
	must(t, err)
	if st.Hosts != 2 || st.Unreachable != 0 || st.Errors != 1 || len(st.Groups) != 1 || st.Groups[0].Hosts != 2 || len(st.Sweeps) != 1 || st.Sweeps[0] != w {
		t.Errorf("status: %+v", st)
	}
}

// testNothingNew: a sweep of hosts that did not change stores no change, whatever
// order and numbers their findings have.
func testNothingNew(t *testing.T, s ledger.FleetStore, _ openLedger) {
	sweepOf(t, s, "one", day, seen("a", day, warning, broken))
	again := warning
	again.Text = "net.a is wrong 17 times"
	changes, w := sweepOf(t, s, "two", day.Add(night), seen("a", day, broken, again))
	if len(changes) != 0 || w.Changes != 0 || w.Reached != 1 || w.Errors != 1 {
		t.Errorf("the second sweep stored %q: %+v", told(changes), w)
	}
	all, err := s.Changes(t.Context(), fleet.ChangeFilter{})
	must(t, err)
	expectTold(t, all, "a first-seen baseline")
	h, err := s.Host(t.Context(), "a")
	must(t, err)
	if !h.LastSuccess.Equal(day.Add(night).Truncate(time.Millisecond)) || h.Findings[1].Text != warning.Text {
		t.Errorf("host: %+v", h)
	}
}

// testDrift: what is not as it was applied drifts, drifts further and ends; the first look at
// a record alerts no more than the first at a host, and what cannot be looked at stays.
func testDrift(t *testing.T, s ledger.FleetStore, _ openLedger) {
	drift := func(found string) fleet.Finding {
		return fleet.DriftFinding("sysctl net.c", "net.c", "1", found, "000001-ab")
	}
	look := func(n int, want, unread, record string, findings ...fleet.Finding) fleet.Host {
		t.Helper()
		o := seen("a", day, findings...)
		o.Record, o.Unread = record, unread
		changes, _ := sweepOf(t, s, fmt.Sprint(n), day.Add(time.Duration(n)*24*time.Hour), o)
		expectTold(t, changes, want)
		h, err := s.Host(t.Context(), "a")
		must(t, err)
		return h
	}
	look(0, "a first-seen baseline", "root's", "")
	look(1, "a drift baseline warning LR-APPLIED", "", "000001-ab", drift("0"))
	look(2, "", "", "000001-ab", drift("0"))
	h := look(3, "a drift host warning LR-APPLIED", "", "000001-ab", drift("2"))
	if h.Drifts != 1 || len(h.Findings) != 1 || h.Findings[0].Found != "2" || h.Findings[0].Expected != "1" || !h.Findings[0].Since.Equal(day.Add(72*time.Hour).Truncate(time.Millisecond)) {
		t.Errorf("a host that drifted further: %+v", h)
	}
	if h = look(4, "a came host warning LR-LOW", "root's", "", warning); h.Drifts != 1 || h.Record != "000001-ab" || h.Unread == "" || h.Warnings != 2 {
		t.Errorf("a host whose record could not be read: %+v", h)
	}
	st, err := s.Status(t.Context(), 0)
	must(t, err)
	if st.Applied != 1 || st.Drifted != 1 || st.Unread != 1 || st.Groups[0].Drifted != 1 {
		t.Errorf("status: %+v", st)
	}
	if h = look(5, "a drift-ended host warning LR-APPLIED", "", "000001-ab", warning); h.Drifts != 0 || h.Unread != "" {
		t.Errorf("a host that is as applied again: %+v", h)
	}
	changes, err := s.Changes(t.Context(), fleet.ChangeFilter{Kind: fleet.Drift})
	must(t, err)
	if len(changes) != 2 || changes[0].Expected != "1" || changes[0].Found != "2" || changes[1].Alerts() {
		t.Errorf("%+v", changes)
	}
}

func testChanges(t *testing.T, s ledger.FleetStore, _ openLedger) {
	drift := finding(fleet.DriftRule, "net.c", audit.Warning)
	sweepOf(t, s, "one", day, seen("a", day, warning), seen("b", day))
	changed := seen("a", day, broken, drift)
	changed.Release = "15.0"
	changes, w := sweepOf(t, s, "two", day.Add(night), changed, seen("b", day))
	expectTold(t, changes, "a came host error LR-GONE; a drift host warning LR-APPLIED; a facts host; a went host warning LR-LOW")
	if w.Alerts != 2 || w.Changes != 4 {
		t.Errorf("the sweep: %+v", w)
	}
	worse := warning
	worse.Severity = audit.Error
	sweepOf(t, s, "three", day.Add(2*night), seen("b", day, warning))
	changes, _ = sweepOf(t, s, "four", day.Add(3*night), seen("b", day, worse))
	expectTold(t, changes, "b came host error LR-LOW; b went host warning LR-LOW")

	a, err := s.Host(t.Context(), "a")
	must(t, err)
	for _, c := range []struct {
		f    fleet.ChangeFilter
		want int
	}{
		{fleet.ChangeFilter{}, 9}, {fleet.ChangeFilter{Since: day.Add(night)}, 7}, {fleet.ChangeFilter{Rule: "LR-LOW"}, 4},
		{fleet.ChangeFilter{Kind: fleet.Came}, 3}, {fleet.ChangeFilter{Cause: fleet.ByBaseline}, 2}, {fleet.ChangeFilter{Hosts: []string{a.ID, "other"}}, 5},
		{fleet.ChangeFilter{Limit: 4}, 4}, {fleet.ChangeFilter{Since: day.Add(9 * night)}, 0},
	} {
		got, err := s.Changes(t.Context(), c.f)
		must(t, err)
		if len(got) != c.want {
			t.Errorf("%+v: %d changes, want %d: %s", c.f, len(got), c.want, told(got))
		}
		if !slices.IsSortedFunc(got, func(a, b fleet.Change) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.Seq, a.Seq)) }) {
			t.Errorf("%+v: not newest first", c.f)
		}
	}
	sweeps, err := s.Sweeps(t.Context(), 2)
	must(t, err)
	if len(sweeps) != 2 || sweeps[0].ID != "four" {
		t.Errorf("sweeps: %+v", sweeps)
	}
}

// testPages: pages together are the whole, though changes of one time share it.
func testPages(t *testing.T, s ledger.FleetStore, _ openLedger) {
	var hosts []fleet.Observation
	for i := range 7 {
		hosts = append(hosts, seen(fmt.Sprintf("h%d", i), day))
	}
	sweepOf(t, s, "one", day.Add(night), hosts...)
	sweepOf(t, s, "two", day, seen("early", day)) // a clock that went back
	var got []int64
	f := fleet.ChangeFilter{Limit: 3}
	for {
		page, err := s.Changes(t.Context(), f)
		must(t, err)
		if len(page) == 0 {
			break
		}
		for _, c := range page {
			got = append(got, c.Seq)
		}
		f.Before = page[len(page)-1].Seq
	}
	if want := []int64{7, 6, 5, 4, 3, 2, 1, 8}; !slices.Equal(got, want) {
		t.Errorf("pages: %v, want %v", got, want)
	}
	var names []string
	hf := fleet.HostFilter{Limit: 3}
	for {
		page, err := s.Hosts(t.Context(), hf)
		must(t, err)
		if len(page) == 0 {
			break
		}
		for _, h := range page {
			names = append(names, h.Name)
		}
		hf.After = names[len(names)-1]
	}
	if strings.Join(names, " ") != "early h0 h1 h2 h3 h4 h5 h6" {
		t.Errorf("hosts by page: %v", names)
	}
}

func failed(name string) fleet.Observation {
	return fleet.Observation{Name: name, Failure: "no route to host"}
}

// testUnreachable: a host that fails is reported once, keeps what was known, and comes back.
func testUnreachable(t *testing.T, s ledger.FleetStore, _ openLedger) {
	changes, w := sweepOf(t, s, "one", day, seen("a", day, warning), failed("never"))
	expectTold(t, changes, "a first-seen baseline; never unreachable baseline")
	if w.Alerts != 0 || w.Unreachable != 1 {
		t.Errorf("the first sweep: %+v", w)
	}
	changes, _ = sweepOf(t, s, "two", day.Add(night), failed("a"), failed("never"))
	expectTold(t, changes, "a unreachable host")
	changes, _ = sweepOf(t, s, "three", day.Add(2*night), failed("a"), failed("never"))
	expectTold(t, changes, "")
	h, err := s.Host(t.Context(), "a")
	must(t, err)
	if !h.UnreachableSince.Equal(day.Add(night).Truncate(time.Millisecond)) || h.Reason != "no route to host" || len(h.Findings) != 1 {
		t.Errorf("host: %+v", h)
	}
	lost, err := s.Hosts(t.Context(), fleet.HostFilter{Unreachable: true})
	must(t, err)
	st, err := s.Status(t.Context(), 0)
	must(t, err)
	if len(lost) != 2 || st.Unreachable != 2 || st.Never != 1 || st.Hosts != 2 {
		t.Errorf("unreachable: %+v, status %+v", lost, st)
	}
	changes, _ = sweepOf(t, s, "four", day.Add(3*night), seen("a", day, warning), seen("never", day, broken))
	expectTold(t, changes, "a reachable host; never first-seen baseline")
	if st, err = s.Status(t.Context(), 0); err != nil || st.Hosts != 2 || st.Unreachable != 0 {
		t.Errorf("status: %+v, %v", st, err)
	}
}

// testCatalogue: what a newer catalogue finds on hosts that are the same is no alert.
func testCatalogue(t *testing.T, s ledger.FleetStore, _ openLedger) {
	sweepOf(t, s, "one", day, seen("a", day))
	newer := seen("a", day, broken)
	newer.Knowledge = "k2"
	changes, w := sweepOf(t, s, "two", day.Add(night), newer)
	expectTold(t, changes, "a came catalogue error LR-GONE")
	if w.Alerts != 0 {
		t.Errorf("the sweep: %+v", w)
	}
}

func testRules(t *testing.T, s ledger.FleetStore, _ openLedger) {
	linux := seen("c", day, finding("LR-LOW", "net.x", audit.Warning))
	linux.OS, linux.Release, linux.Role = "linux", "6.12", "web"
	second := finding("LR-LOW", "net.z", audit.Error)
	sweepOf(t, s, "one", day, seen("a", day, warning, second, broken), seen("b", day, warning), linux)
	counts, err := s.RuleCounts(t.Context(), "LR-LOW")
	must(t, err)
	want := []fleet.RuleCount{
		{Rule: "LR-LOW", Severity: audit.Error, Role: "router", OS: "freebsd", Release: "14.3", Hosts: 1},
		{Rule: "LR-LOW", Severity: audit.Warning, Role: "router", OS: "freebsd", Release: "14.3", Hosts: 1},
		{Rule: "LR-LOW", Severity: audit.Warning, Role: "web", OS: "linux", Release: "6.12", Hosts: 1},
	}
	if !slices.Equal(counts, want) {
		t.Errorf("counts: %+v", counts)
	}
	with, err := s.Hosts(t.Context(), fleet.HostFilter{Rule: "LR-LOW", Role: "router", Release: "14.3", OS: "freebsd", Text: "A.EX"})
	must(t, err)
	if len(with) != 1 || with[0].Name != "a" {
		t.Errorf("hosts with the rule: %+v", with)
	}
	some, err := s.Hosts(t.Context(), fleet.HostFilter{Role: fleet.NoRole, OS: "freebsd"})
	must(t, err)
	if len(some) != 0 {
		t.Errorf("hosts without a role: %+v", some)
	}
	about, err := s.Hosts(t.Context(), fleet.HostFilter{Rule: "LR-LOW", Tunable: "net.z"})
	must(t, err)
	if len(about) != 1 || about[0].Name != "a" {
		t.Errorf("hosts with the rule about net.z: %+v", about)
	}
	of, err := s.TunableCounts(t.Context(), "freebsd", func(name string) bool { return name == warning.Tunable || name == "net.z" || name == "net.nowhere" })
	must(t, err)
	router := fleet.RuleCount{Rule: "LR-LOW", Role: "router", OS: "freebsd", Release: "14.3"}
	both, worst := router, router
	both.Severity, both.Hosts, worst.Severity, worst.Hosts = audit.Warning, 2, audit.Error, 1
	if wantOf := []fleet.TunableCount{{Tunable: warning.Tunable, RuleCount: both}, {Tunable: "net.z", RuleCount: worst}}; !slices.Equal(of, wantOf) {
		t.Errorf("counts by tunable: %+v", of)
	}
	if none, err := s.TunableCounts(t.Context(), "freebsd", func(string) bool { return false }); err != nil || len(none) != 0 {
		t.Errorf("counts of no tunable: %v, %v", none, err)
	}
	linux.Role = "mail" // the host's role moves, its findings with it
	upgraded := seen("b", day, warning)
	upgraded.Release = "15.0"
	sweepOf(t, s, "two", day.Add(night), seen("a", day, broken), upgraded, linux)
	counts, err = s.RuleCounts(t.Context(), "")
	must(t, err)
	want = []fleet.RuleCount{
		{Rule: "LR-GONE", Severity: audit.Error, Role: "router", OS: "freebsd", Release: "14.3", Hosts: 1},
		{Rule: "LR-LOW", Severity: audit.Warning, Role: "mail", OS: "linux", Release: "6.12", Hosts: 1},
		{Rule: "LR-LOW", Severity: audit.Warning, Role: "router", OS: "freebsd", Release: "15.0", Hosts: 1},
	}
	if !slices.Equal(counts, want) {
		t.Errorf("counts after: %+v", counts)
	}
}

// testIdentity: hosts are known by what they are, not by what they are called.
func testIdentity(t *testing.T, s ledger.FleetStore, _ openLedger) {
	a := seen("a", day, warning)
	sweepOf(t, s, "one", day, a, seen("b", day))
	renamed := a
	renamed.Name = "a2"
	changes, _ := sweepOf(t, s, "two", day.Add(night), renamed)
	expectTold(t, changes, "")
	both := a
	changes, w := sweepOf(t, s, "three", day.Add(2*night), both, renamed)
	expectTold(t, changes, "")
	st, err := s.Status(t.Context(), 0)
	must(t, err)
	if st.Hosts != 2 || w.Reached != 2 {
		t.Errorf("%d hosts, %d reached", st.Hosts, w.Reached)
	}
	h, err := s.Host(t.Context(), "a2")
	must(t, err)
	if h.Name != "a" || !slices.Equal(h.Aliases, []string{"a2"}) {
		t.Errorf("names of the host: %q, %q", h.Name, h.Aliases)
	}
	changes, _ = sweepOf(t, s, "four", day.Add(3*night), a, failed("a2")) // one of two names fails
	expectTold(t, changes, "")
	other := seen("b", day, broken)
	other.ID = string(ledger.IDOf("a new machine"))
	changes, _ = sweepOf(t, s, "five", day.Add(4*night), other)
	expectTold(t, changes, "b first-seen baseline; b gone host")
	if st, err = s.Status(t.Context(), 0); err != nil || st.Hosts != 2 {
		t.Errorf("status: %+v, %v", st, err)
	}
	shy := seen("shy", day)
	shy.ID = ""
	sweepOf(t, s, "six", day.Add(5*night), shy)
	changes, _ = sweepOf(t, s, "seven", day.Add(6*night), seen("shy", day))
	expectTold(t, changes, "")
	if h, err = s.Host(t.Context(), "shy"); err != nil || h.ID != seen("shy", day).ID {
		t.Errorf("host: %+v, %v", h, err)
	}
}

// testClones: hosts made from one image may share a machine-id and are two hosts.
func testClones(t *testing.T, s ledger.FleetStore, _ openLedger) {
	a, b := seen("a", day, warning), seen("b", day, broken)
	b.ID = a.ID
	changes, _ := sweepOf(t, s, "one", day, a, b)
	expectTold(t, changes, "a first-seen baseline; b first-seen baseline")
	for i, order := range [][]fleet.Observation{{a, b}, {b, a}, {b, a}} {
		changes, _ = sweepOf(t, s, fmt.Sprint("next", i), day.Add(night), order...)
		expectTold(t, changes, "")
	}
	if st, err := s.Status(t.Context(), 0); err != nil || st.Hosts != 2 {
		t.Errorf("status: %+v, %v", st, err)
	}
}

func testForget(t *testing.T, s ledger.FleetStore, _ openLedger) {
	sweepOf(t, s, "one", day, seen("a", day, warning), seen("b", day))
	must(t, s.Forget(t.Context(), "a", day.Add(night)))
	if err := s.Forget(t.Context(), "a", day); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("forgetting it again: %v", err)
	}
	counts, err := s.RuleCounts(t.Context(), "")
	must(t, err)
	all, err := s.Changes(t.Context(), fleet.ChangeFilter{})
	must(t, err)
	expectTold(t, all, "a first-seen baseline; a gone host; b first-seen baseline")
	if len(counts) != 0 {
		t.Errorf("counts: %+v", counts)
	}
}

// testResume: a sweep that was interrupted does only what is left, once.
func testResume(t *testing.T, s ledger.FleetStore, open openLedger) {
	_, err := s.BeginSweep(t.Context(), fleet.Sweep{ID: "w", Start: day, Hosts: 3})
	must(t, err)
	_, err = s.Observe(t.Context(), "w", seen("a", day), failed("c"))
	must(t, err)
	s = open(t)
	w, err := s.BeginSweep(t.Context(), fleet.Sweep{ID: "w", Start: day.Add(night), Hosts: 9})
	must(t, err)
	if w.Hosts != 3 || w.Reached != 1 || w.Unreachable != 1 || !w.Start.Equal(day.Truncate(time.Millisecond)) {
		t.Errorf("goes on as %+v", w)
	}
	done, err := s.Swept(t.Context(), "w")
	must(t, err)
	if len(done) != 2 || !done["a"] || !done["c"] {
		t.Errorf("done: %v", done)
	}
	changes, err := s.Observe(t.Context(), "w", seen("a", day, broken), seen("b", day))
	must(t, err)
	expectTold(t, changes, "b first-seen baseline")
	w, err = s.EndSweep(t.Context(), "w", day)
	must(t, err)
	if w.Reached != 2 || w.Changes != 3 {
		t.Errorf("ended as %+v", w)
	}
	if _, err := s.BeginSweep(t.Context(), fleet.Sweep{ID: "w"}); !errors.Is(err, ledger.ErrSweepEnded) {
		t.Errorf("beginning it again: %v", err)
	}
	if _, err := s.Observe(t.Context(), "w", seen("x", day)); !errors.Is(err, ledger.ErrSweepEnded) {
		t.Errorf("adding to it: %v", err)
	}
	if _, err := s.Observe(t.Context(), "nosuch", seen("x", day)); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("adding to none: %v", err)
	}
	if _, err := s.EndSweep(t.Context(), "nosuch", day); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("ending none: %v", err)
	}
}

// testTwoSweeps: two processes sweep at once; nothing is lost or counted twice.
func testTwoSweeps(t *testing.T, first ledger.FleetStore, open openLedger) {
	const hosts = 20
	var wg sync.WaitGroup
	for _, id := range []string{"one", "two"} {
		s := open(t)
		_, err := s.BeginSweep(t.Context(), fleet.Sweep{ID: id, Start: day, Hosts: hosts})
		must(t, err)
		wg.Go(func() {
			for i := range hosts {
				if _, err := s.Observe(t.Context(), id, seen(fmt.Sprintf("h%02d", i), day, warning)); err != nil {
					t.Errorf("sweep %s, host %d: %v", id, i, err)
				}
			}
		})
	}
	wg.Wait()
	all, err := first.Changes(t.Context(), fleet.ChangeFilter{})
	must(t, err)
	counts, err := first.RuleCounts(t.Context(), "LR-LOW")
	must(t, err)
	if len(all) != hosts || len(counts) != 1 || counts[0].Hosts != hosts {
		t.Errorf("%d changes, counts %+v", len(all), counts)
	}
}

func testAwkwardFleet(t *testing.T, s ledger.FleetStore, _ openLedger) {
	odd := seen("h'\x00\xff %_", day, finding("LR-\x00X", "a\xffb", audit.Warning))
	sweepOf(t, s, "one", day, odd)
	changes, _ := sweepOf(t, s, "two", day.Add(night), odd)
	if len(changes) != 0 {
		t.Errorf("changes of what is the same: %s", told(changes))
	}
	got, err := s.Hosts(t.Context(), fleet.HostFilter{Text: "%_"})
	must(t, err)
	if len(got) != 1 {
		t.Errorf("found %+v", got)
	}
}
