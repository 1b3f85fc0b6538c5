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

func TestConflict(t *testing.T) {
	gain, loss := row("gain", ">4096", 9, stats.Better), row("loss", ">4096", 5, stats.Worse)
	with := func(r evidence.Row, change func(*evidence.Row)) evidence.Row { change(&r); return r }
	for name, c := range map[string]struct {
		rows []evidence.Row
		want bool
	}{
		"nothing":           {nil, false},
		"two gains":         {[]evidence.Row{gain, gain}, false},
		"gain and loss":     {[]evidence.Row{gain, loss}, true},
		"loss and gain":     {[]evidence.Row{loss, gain}, true},
		"gain and no more":  {[]evidence.Row{gain, row("", ">4096", 3, stats.Inconclusive), row("", ">4096", 3, stats.Invalid)}, false},
		"the loss excluded": {[]evidence.Row{gain, with(loss, func(r *evidence.Row) { r.Excluded = "the fan failed" })}, false},
		"another value":     {[]evidence.Row{gain, row("", ">1048576", 5, stats.Worse)}, false},
		"other way round":   {[]evidence.Row{row("", "1024>4096", 9, stats.Better), row("", "4096>1024", 5, stats.Worse)}, false},
		"both ways better":  {[]evidence.Row{row("", "1024>4096", 9, stats.Better), row("", "4096>1024", 5, stats.Better)}, true},
		"default by number": {[]evidence.Row{row("", ">4096", 9, stats.Better), row("", "1024>4096", 5, stats.Worse)}, true},
		"another tunable":   {[]evidence.Row{gain, with(loss, func(r *evidence.Row) { r.Tunable = "net.y" })}, false},
		"of no one tunable": {[]evidence.Row{with(gain, func(r *evidence.Row) { r.Tunable = "" }), with(loss, func(r *evidence.Row) { r.Tunable = "" })}, false},
		"another unit": {[]evidence.Row{with(gain, func(r *evidence.Row) { r.Tunable = "dev.igb.0.fc" }),
			with(loss, func(r *evidence.Row) { r.Tunable = "dev.igb.N.fc" })}, true},
		"another driver": {[]evidence.Row{with(gain, func(r *evidence.Row) { r.Tunable = "dev.igb.0.fc" }),
			with(loss, func(r *evidence.Row) { r.Tunable = "dev.ix.0.fc" })}, true},
		"a price":      {[]evidence.Row{with(gain, func(r *evidence.Row) { r.Primary = true }), loss}, false},
		"by primaries": {[]evidence.Row{with(gain, func(r *evidence.Row) { r.Primary = true }), with(loss, func(r *evidence.Row) { r.Primary = true })}, true},
	} {
		if got := evidence.Conflict(c.rows); got != c.want {
			t.Errorf("%s: conflict %v", name, got)
		}
	}
}

// TestWithoutExcluded: where trials were excluded, the verdict without them counts, and
// what is excluded whole counts for nothing.
func TestWithoutExcluded(t *testing.T) {
	spoiled, loss := row("spoiled", ">4096", 9, stats.Better), row("loss", ">4096", 5, stats.Worse)
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
	if evidence.Conflict([]evidence.Row{spoiled, loss}) {
		t.Error("a gain that an excluded trial made contradicts a loss")
	}
	if g := evidence.ClearestGain([]evidence.Row{spoiled}); g != nil {
		t.Errorf("a gain by an excluded trial: %+v", g)
	}
	loss.Without = &rest
	if evidence.Conflict([]evidence.Row{row("gain", ">4096", 9, stats.Better), loss}) {
		t.Error("a loss that an excluded trial made contradicts a gain")
	}
	whole, other := row("whole", ">1", 30, stats.Better), row("other", ">1", 3, stats.Better)
	whole.Excluded = "the fan failed"
	if g := evidence.ClearestGain([]evidence.Row{whole, other}); g == nil || g.ID != "other" {
		t.Errorf("%+v, want the one that is not excluded", g)
	}
	// The other way: without the excluded trial it is a gain, of the blocks that are left.
	back := row("back", ">1", 6, stats.Inconclusive)
	left := row("back", ">1", 5, stats.Better)
	back.Without = &left
	if g := evidence.ClearestGain([]evidence.Row{other, back}); g == nil || g.ID != "back" || g.N != 5 || g.Verdict != stats.Better {
		t.Errorf("%+v, want the gain of five blocks", g)
	}
}

// TestClearestGain: of several gains the one that was measured most often,
// wherever it stands.
func TestClearestGain(t *testing.T) {
	few, many, none := row("few", ">1", 3, stats.Better), row("many", ">1", 9, stats.Better), row("none", ">1", 30, stats.Inconclusive)
	for _, c := range []struct {
		of   []evidence.Row
		want string
	}{{[]evidence.Row{few, many, none}, "many"}, {[]evidence.Row{many, none, few}, "many"}, {[]evidence.Row{none, few}, "few"}, {[]evidence.Row{none}, ""}} {
		got := ""
		if g := evidence.ClearestGain(c.of); g != nil {
			got = g.ID
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.of, got, c.want)
		}
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
	if strings.Index(text, "Atom") > strings.Index(text, "EPYC") || strings.Contains(text, "warm") || strings.Contains(text, evidence.ConflictText) {
		t.Error(b.String())
	}
	loss.Excluded, gain.Without = "", nil
	page = show.NewPage(show.Style{Width: 200})
	evidence.Print(page, []evidence.Row{gain, loss})
	b.Reset()
	if err := page.Flush(&b); err != nil || !strings.Contains(b.String(), evidence.ConflictText) {
		t.Errorf("the conflict is not named: %v\n%s", err, b.String())
	}
}
