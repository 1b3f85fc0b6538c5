package evidence_test

import (
	"strings"
	"testing"

	"linerate/internal/evidence"
	"linerate/internal/setting"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/tunable"
)

func TestFoldName(t *testing.T) {
	for _, c := range [][2]string{
		{"dev.igb.0.fc", "dev.igb.N.fc"}, {"DEV.igb.7.iflib.tx_abdicate", "dev.igb.*.iflib.tx_abdicate"}, {"dev.ixl.x.fc", "dev.ixl.1.fc"},
		{"flow-control", "flow_control"}, {"ifconfig tso", "ifconfig:tso"},
	} {
		if evidence.FoldName(c[0]) != evidence.FoldName(c[1]) {
			t.Errorf("%s and %s are distinguished", c[0], c[1])
		}
	}
	for _, c := range [][2]string{{"net.inet.ip.1", "net.inet.ip.2"}, {"dev.igb.0.fc", "dev.ix.0.fc"}} {
		if evidence.FoldName(c[0]) == evidence.FoldName(c[1]) {
			t.Errorf("%s and %s are taken for one", c[0], c[1])
		}
	}
}

func TestSubjectForPeople(t *testing.T) {
	for _, c := range []struct {
		s               evidence.Subject
		machine, system string
	}{
		{evidence.Subject{}, "an unknown machine", ""},
		{evidence.Subject{CPU: "Atom C2758", Cores: 8, NIC: "Intel 82599", Driver: "ix", OS: "FreeBSD", Release: "12.0"}, "Atom C2758, 8 cores, Intel 82599 (ix)", "FreeBSD 12.0"},
		{evidence.Subject{CPU: "EPYC", Cores: 1, NIC: "veth", Driver: "veth", OS: "Linux", Release: "6.18.1 #1 SMP"}, "EPYC, 1 core, veth", "Linux 6.18.1"},
		{evidence.Subject{CPU: "EPYC", Driver: "ix"}, "EPYC, ix", ""},
		{evidence.Subject{CPU: "EPYC", NIC: "a card"}, "EPYC, a card", ""},
	} {
		if m, s := c.s.Machine(), c.s.System(); m != c.machine || s != c.system {
			t.Errorf("%+v: %q, %q", c.s, m, s)
		}
	}
	if got := (evidence.Subject{After: "0"}).Change(); got != "default → 0" {
		t.Errorf("change %q", got)
	}
}

// TestTells: a whole configuration says nothing of one setting in it, nor does
// a card of one that it has not.
func TestTells(t *testing.T) {
	record := func(name string, m setting.Mechanism) *tunable.Record {
		return &tunable.Record{Name: name, Mechanism: m}
	}
	for _, c := range []struct {
		r    *tunable.Record
		s    evidence.Subject
		want bool
	}{
		{record("net.x", setting.Sysctl), evidence.Subject{Alone: true, Changes: 1}, true},
		{record("net.x", setting.Sysctl), evidence.Subject{Changes: 2}, true},
		{record("net.x", setting.Sysctl), evidence.Subject{Changes: 3}, false},
		{record("net.x", setting.Sysctl), evidence.Subject{Alone: true, Changes: 3}, true},
		{record("pf_enable", setting.RC), evidence.Subject{Changes: 2}, false},
		{record("pf_enable", setting.RC), evidence.Subject{Alone: true}, true},
		{record("hw.ix.rxd", setting.Loader), evidence.Subject{Alone: true, Driver: "ix"}, true},
		{record("hw.ix.rxd", setting.Loader), evidence.Subject{Alone: true, Driver: "ixl"}, false},
		{record("dev.em.N.fc", setting.Sysctl), evidence.Subject{Alone: true, Driver: "igb"}, true},
		{record("dev.igb.N.fc", setting.Sysctl), evidence.Subject{Alone: true, Driver: "em"}, false},
	} {
		if got := c.s.Tells(c.r); got != c.want {
			t.Errorf("%s by %+v: %v", c.r.Name, c.s, got)
		}
	}
}

// row is a verdict about a change of one tunable.
func row(id, change string, n int, v stats.Verdict) evidence.Row {
	before, after, _ := strings.Cut(change, ">")
	return evidence.Row{ID: id, Subject: evidence.Subject{Tunable: "net.x", Before: before, After: after}, Result: stats.Result{N: n, Verdict: v}}
}

// TestWithoutExcluded: where trials were excluded, the verdict without them counts.
func TestWithoutExcluded(t *testing.T) {
	spoiled := row("spoiled", ">4096", 9, stats.Better)
	spoiled.Flags = []string{"drift"}
	rest := row("spoiled", ">4096", 8, stats.Inconclusive)
	rest.Effect = stats.Effect{EffectPercent: stats.Num(0.3)}
	spoiled.Without, spoiled.Dropped = &rest, 1
	s := spoiled.Standing()
	if s.Verdict != stats.Inconclusive || s.N != 8 || s.EffectPercent != rest.EffectPercent || s.Without != nil || len(s.Flags) != 0 || s.Subject != spoiled.Subject || s.ID != "spoiled" || s.Dropped != 1 {
		t.Errorf("%+v", s)
	}
	if spoiled.Verdict != stats.Better || spoiled.Without == nil {
		t.Errorf("the row itself has changed: %+v", spoiled)
	}
}

func TestMergeHasEachVerdictOnce(t *testing.T) {
	own, both, shipped := row("own", ">1", 3, stats.Better), row("both", ">1", 3, stats.Worse), row("shipped", ">1", 3, stats.Better)
	other := both
	other.Tunable = "net.y"
	var ids []string
	for _, r := range evidence.Merge([]evidence.Row{own, both}, []evidence.Row{both, shipped, other}) {
		ids = append(ids, r.ID+" "+r.Tunable)
	}
	if got := strings.Join(ids, ", "); got != "own net.x, both net.x, shipped net.x, both net.y" {
		t.Error(got)
	}
}

// TestPrint: one heading a machine, losses with gains, what limits a verdict
// and what becomes of it without what was excluded.
func TestPrint(t *testing.T) {
	gain, loss := row("gain", "1024>4096", 9, stats.Better), row("loss", "1024>4096", 5, stats.Worse)
	gain.CPU, gain.OS, gain.Release, gain.Study, gain.Workload, gain.Metric = "EPYC", "Linux", "6.18 #1", "rings", "64 B", "forwarding_rate_pps"
	gain.Effect = stats.Effect{EffectPercent: stats.Num(3.1), CILow: stats.Num(2.4), CIHigh: stats.Num(3.9)}
	gain.Flags, gain.Changes = []string{"drift", "warm"}, 2
	gain.Published = &evidence.Published{Verdict: "worse", Percent: -2, PercentError: 1}
	loss.CPU, loss.Excluded = "Atom", "the fan failed"
	without := row("", "1024>4096", 8, stats.Inconclusive)
	gain.Without, gain.Dropped = &without, 1
	page := show.NewPage(show.Style{Width: 200})
	evidence.Print(page, []evidence.Row{gain, loss})
	var b strings.Builder
	if err := page.Flush(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"Atom", "excluded: the fan failed", "EPYC Linux 6.18, rings, 64 B: ", "1024 → 4096 (and 1 more) +3.1 % [+2.4, +3.9] n 9 p – better; its README says worse (−2.0 % ± 1.0 %); drift",
		"without 1 excluded", "inconclusive", "after Holm"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	if strings.Index(text, "Atom") > strings.Index(text, "EPYC") || strings.Contains(text, "warm") || strings.Contains(text, "No gain") {
		t.Error(b.String())
	}
	loss.Excluded, gain.Without, gain.Alone = "", nil, true
	other := gain
	other.ID, other.Study = "other", "again"
	page = show.NewPage(show.Style{Width: 200})
	evidence.Print(page, []evidence.Row{gain, other})
	b.Reset()
	if err := page.Flush(&b); err != nil || !strings.Contains(b.String(), "net.x\n  1024 → 4096: ") || !strings.Contains(b.String(), "2 better; all machines +3.1 %") {
		t.Errorf("what both say together is missing: %v\n%s", err, b.String())
	}
}
