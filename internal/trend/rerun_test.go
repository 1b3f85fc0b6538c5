package trend

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"linerate/internal/fact"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/study/record"
	"linerate/internal/tunable"
)

// TestSettle: a re-run in the direction of the change confirms it, one in the other or one
// that shows none refutes it, whatever unit its effect is told in.
func TestSettle(t *testing.T) {
	percent := func(v float64) stats.Effect { return stats.Effect{EffectPercent: stats.Num(v)} }
	points := func(v float64) stats.Effect { return stats.Effect{EffectPoints: stats.Num(v)} }
	for _, c := range []struct {
		worse   bool
		verdict stats.Verdict
		effect  stats.Effect
		want    Status
	}{
		{true, stats.Worse, percent(4), Confirmed},
		{true, stats.Worse, percent(-4), Confirmed}, // of a rate: less is worse
		{true, stats.Better, percent(-4), Refuted},
		{false, stats.Better, percent(4), Confirmed},
		{false, stats.Worse, percent(4), Refuted},
		{true, stats.Worse, points(2), Confirmed},
		{false, stats.Worse, points(2), Refuted},
		{true, stats.Worse, stats.Effect{}, Confirmed}, // beside a control of next to nothing there is no percentage
		{false, stats.Better, stats.Effect{}, Confirmed},
		{true, stats.Equivalent, percent(0.1), Refuted},
		{true, stats.Inconclusive, percent(4), Open},
		{true, stats.Invalid, stats.Effect{}, Open},
	} {
		change := Change{Worse: c.worse, State: suspected()}
		if change.Settle(Claim{Study: "x", Verdict: c.verdict, Effect: c.effect}); change.Status != c.want || change.Claim == nil || change.Claim.Study != "x" {
			t.Errorf("worse %t, the re-run is %s by %+v: %s, want %s", c.worse, c.verdict, c.effect, change.Status, c.want)
		}
	}
}

// TestManySeries: a change beyond doubt is found among a thousand series too, whose level is
// that of all together.
func TestManySeries(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	var runs []Run
	for i := range 1200 {
		box := nights(simulated(r, 24, func(night int) float64 {
			if i == 700 && night >= 12 {
				return 900
			}
			return 500
		}))
		for k := range box {
			box[k].Subject = fmt.Sprintf("box %04d", i)
		}
		runs = append(runs, box...)
	}
	found, _ := Find(runs, options)
	var changed []string
	for _, s := range found {
		if len(s.Changes) > 0 {
			changed = append(changed, s.Subject)
		}
	}
	if len(found) != 1200 || !slices.Equal(changed, []string{"box 0700"}) {
		t.Errorf("of %d series %v changed", len(found), changed)
	}
	for _, c := range []struct {
		alpha    float64
		n, least int
		most     int
	}{{0.05, 40, 999, 999}, {0.001, 40, 19_999, 19_999}, {5e-5, 40, 20_000, 20_000}, {1e-5, 40, 100_000, 100_000}, {1e-9, 40, 1_250_000, 1_250_000}, {1e-9, 1000, 20_000, 20_000}} {
		if got := permutations(c.alpha, c.n); got < c.least || got > c.most {
			t.Errorf("level %g of %d runs: %d permutations", c.alpha, c.n, got)
		}
	}
}

const spec = `name: router
question: q
seed: 5
sweep: [{parameter: rules, values: [1, 2]}]
variants:
  - {name: plain}
  - name: nft-$rules
    settings: [{nft: {linear: $rules}}, {sysctl: net.ipv4.ip_early_demux, value: 'DEMUX'}]
parts: [{mode: cost}, {mode: overload}]
metrics:
  - {metric: overload_forwarding_rate_pps, part: overload, primary: true}
  - {metric: cost_ns_per_packet, part: cost, margin_percent: 3}
`

// run is a record of the study with a value of its sysctl, on a machine.
func run(t *testing.T, demux string, change func(*record.Record)) *record.Record {
	t.Helper()
	s, err := study.Parse("router.yaml", []byte(strings.ReplaceAll(spec, "DEMUX", demux)))
	if err != nil {
		t.Fatal(err)
	}
	r := &record.Record{Spec: s, Environment: study.Environment{Hostname: "box", Kernel: "6.12", Mitigations: map[string]string{"spectre_v2": "Retpolines"}}}
	if change != nil {
		change(r)
	}
	return r
}

var of = Of{Part: "cost", Variant: "nft-2", Metric: cost}

// between is a change between two nights.
func between(from, to time.Time) Change {
	return Change{Before: Run{ID: "0123456789abcdef", Started: from}, After: Run{ID: "fedcba9876543210", Started: to}, State: suspected()}
}

var (
	monday  = time.Date(2026, 3, 2, 23, 30, 0, 0, time.UTC)
	tuesday = time.Date(2026, 3, 3, 23, 30, 0, 0, time.UTC)
)

// TestInterleave: of two records a study of both states is made, which its own reader takes;
// the same two states have the same name on whatever nights they are found.
func TestInterleave(t *testing.T) {
	c := between(monday, tuesday)
	s, ok := c.Interleave(of, run(t, "1", nil), run(t, "0", func(r *record.Record) {
		r.Environment.Mitigations = map[string]string{"spectre_v2": "IBRS", "mds": "Clear buffers"}
	}), nil)
	if !ok || c.Why != "" || c.Rerun != s.Name {
		t.Fatalf("no study: %q", c.Why)
	}
	if !slices.Equal(c.Turns, []string{"net.ipv4.ip_early_demux was 1, is 0"}) || !slices.Equal(c.Beside, []string{"mds was not set, is Clear buffers", "spectre_v2 was Retpolines, is IBRS"}) {
		t.Errorf("takes turns: %q, beside: %q", c.Turns, c.Beside)
	}
	if s.Control != BeforeArm || len(s.Variants) != 2 || s.Variants[0].Name != BeforeArm || s.Variants[1].Name != AfterArm || len(s.Sweep) != 0 {
		t.Fatalf("control %s of %+v", s.Control, s.Variants)
	}
	for i, want := range []string{"1", "0"} {
		sets := s.Variants[i].Settings
		if len(sets) != 2 || sets[0].Setting().Rules.Linear != 2 || sets[1].Setting().Value != want {
			t.Errorf("%s sets %+v", s.Variants[i].Name, s.Variants[i].Apply())
		}
	}
	if p := s.Primary(); p.Metric != cost || p.Part != "cost" || p.MarginPercent != 3 || len(s.Metrics) != 2 || s.Metrics[1].Primary {
		t.Errorf("goals %+v", s.Metrics)
	}
	for _, want := range []string{"nft-2", "router", "2026-03-02", "2026-03-03", cost} {
		if !strings.Contains(s.Question, want) {
			t.Errorf("%q lacks %q", s.Question, want)
		}
	}
	if !strings.Contains(s.Summary, "0123456789a…") || !strings.Contains(s.Summary, "differ in: net.ipv4.ip_early_demux was 1, is 0") || !strings.Contains(s.Variants[0].Summary, "as of 2026-03-02") {
		t.Errorf("%q, %q", s.Summary, s.Variants[0].Summary)
	}
	later := between(tuesday, tuesday.Add(3*time.Hour))
	again, _ := later.Interleave(of, run(t, "1", nil), run(t, "0", nil), nil)
	back := between(monday, tuesday)
	other, _ := back.Interleave(of, run(t, "0", nil), run(t, "1", nil), nil)
	if again.Name != s.Name || other.Name == s.Name || !strings.HasPrefix(s.Name, RerunPrefix+"router-") {
		t.Errorf("named %s, then %s, and the other way round %s", s.Name, again.Name, other.Name)
	}
	hours := between(monday, monday.Add(10*time.Minute)) // within a day the hour tells them apart
	if hours.from() != "2026-03-02 23:30" || hours.to() != "2026-03-02 23:40" {
		t.Errorf("between %s and %s", hours.from(), hours.to())
	}
}

// TestNotProvable: why both states cannot take turns is said.
func TestNotProvable(t *testing.T) {
	live := func(r *record.Record) {
		s, err := study.Parse("live.yaml", []byte("name: live\nquestion: q\ntestbed: {kind: live}\nvariants: [{name: as-is}, {name: nft-2, settings: [{sysctl: net.ipv4.tcp_sack, value: '0'}]}]\nparts: [{name: cost, blocks: 8, live: {window: 60, watch: [rtt]}}]\n"))
		if err != nil {
			t.Fatal(err)
		}
		r.Spec = s
	}
	for name, c := range map[string]struct {
		of            Of
		before, after *record.Record
		want          string
	}{
		"no such variant before": {Of{"cost", "nft-9", cost}, run(t, "1", nil), run(t, "0", nil), "the records have no variant nft-9"},
		"nothing differs":        {of, run(t, "1", nil), run(t, "1", nil), "nothing that the records know of differs between the runs"},
		"another kernel":         {of, run(t, "1", nil), run(t, "1", func(r *record.Record) { r.Environment.Kernel = "6.13" }), "what differs cannot take turns on one machine: kernel was 6.12, is 6.13"},
		"another workload":       {of, run(t, "1", nil), run(t, "1", func(r *record.Record) { r.Spec.Workload.Flows = 7 }), "what differs cannot take turns on one machine: what the study offers in part cost is another"},
		"another length":         {of, run(t, "1", nil), run(t, "1", func(r *record.Record) { r.Spec.Parts[0].Seconds++ }), "what differs cannot take turns on one machine: what the study offers in part cost is another"},
		"other parts":            {of, run(t, "1", nil), run(t, "1", func(r *record.Record) { r.Spec.Parts[1].Seconds++ }), "nothing that the records know of differs"},
		"more blocks":            {of, run(t, "1", nil), run(t, "1", func(r *record.Record) { r.Spec.Parts[0].Blocks++ }), "nothing that the records know of differs"},
		"a live host":            {Of{"cost", "nft-2", "round_trip_ns"}, run(t, "1", live), run(t, "1", live), "the study is of a live host"},
	} {
		change := between(monday, tuesday)
		if _, ok := change.Interleave(c.of, c.before, c.after, nil); ok || !strings.HasPrefix(change.Why, c.want) || change.Rerun != "" {
			t.Errorf("%s: %t, %q; want %q", name, ok, change.Why, c.want)
		}
	}
}

// TestWholeKernelsTakeTurns: a sysctl that no namespace has for itself, and that was other
// on the machine, is written in both arms; what a namespace has, what the catalogue does not
// know or what was not read is left alone.
func TestWholeKernelsTakeTurns(t *testing.T) {
	known, err := tunable.Load(fstest.MapFS{"linux/x.yaml": {Data: []byte(`subsystem: x
records:
  - {name: net.core.netdev_budget, mechanism: sysctl, type: int, settable: runtime, default: 300, scope: host, summary: s, sources: [a.c]}
  - {name: net.ipv4.tcp_sack, mechanism: sysctl, type: int, settable: runtime, default: 1, scope: netns, summary: s, sources: [a.c]}
  - {name: kernel.boots, mechanism: sysctl, type: int, settable: boot, default: 1, scope: host, summary: s, sources: [a.c]}
`)}})
	if err != nil {
		t.Fatal(err)
	}
	facts := func(values map[string]string) func(*record.Record) {
		f := &fact.Facts{OS: "linux"}
		for _, name := range []string{"kernel.boots", "net.core.netdev_budget", "net.ipv4.tcp_sack", "net.unknown"} {
			if v, ok := values[name]; ok {
				f.Settings = append(f.Settings, fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &v})
			}
		}
		return func(r *record.Record) { r.Facts = []*fact.Facts{f} }
	}
	was := facts(map[string]string{"kernel.boots": "1", "net.core.netdev_budget": "300", "net.ipv4.tcp_sack": "1", "net.unknown": "1"})
	is := facts(map[string]string{"kernel.boots": "2", "net.core.netdev_budget": "600", "net.ipv4.tcp_sack": "0", "net.unknown": "2"})
	c := between(monday, tuesday)
	s, ok := c.Interleave(of, run(t, "1", was), run(t, "1", is), known)
	if !ok || !slices.Equal(c.Turns, []string{"net.core.netdev_budget was 300, is 600 on the machine"}) {
		t.Fatalf("%t, %q: takes turns %q", ok, c.Why, c.Turns)
	}
	for i, want := range []string{"300", "600"} {
		host := s.Variants[i].HostScope()
		if len(host) != 1 || host[0].Setting().Name != "net.core.netdev_budget" || host[0].Value != want || len(s.Variants[i].Settings) != 3 {
			t.Errorf("%s sets %+v", s.Variants[i].Name, s.Variants[i].Apply())
		}
	}
	for name, after := range map[string]func(*record.Record){"the same values": was, "not read": facts(nil), "empty": facts(map[string]string{"net.core.netdev_budget": ""}), "no facts": nil} {
		c := between(monday, tuesday)
		if _, ok := c.Interleave(of, run(t, "1", was), run(t, "1", after), known); ok || len(c.Turns) != 0 {
			t.Errorf("%s: takes turns %q", name, c.Turns)
		}
	}
	c = between(monday, tuesday)
	if _, ok := c.Interleave(of, run(t, "1", was), run(t, "1", is), nil); ok {
		t.Error("without a catalogue nobody knows whose a sysctl is")
	}
}

// TestPrintOfChanges: what is printed says what is suspected, what differs, and what a re-run
// came to.
func TestPrintOfChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	found, _ := Find(nights(simulated(r, 30, func(i int) float64 { return 500 + 50*float64(i/15) })), options)
	c := &found[0].Changes[0]
	c.Turns, c.Beside = []string{"a was 1, is 2"}, []string{"kernel was 6.12, is 6.13"}
	page := func() string {
		p := show.NewPage(show.Style{Width: 120})
		Print(p, found, 2, options)
		var b strings.Builder
		if err := p.Flush(&b); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	has := func(text string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in %s", want, text)
			}
		}
	}
	text := page()
	has(text, "router nft cost_ns_per_packet 30 ", "2 series of fewer than 10 runs left out.", "suspected cost_ns_per_packet of nft, router: ", "between 1970-01-15 and 1970-01-16", "runs run014 and run015 on box, p 0.0", "changed a was 1, is 2", "beside kernel was 6.12, is 6.13")
	if strings.Contains(text, "re-run") || strings.Contains(text, "No change") {
		t.Error(text)
	}
	c.Rerun = "changed-router-1234"
	has(page(), "re-run not yet made: both can take turns in a study")
	c.Settle(Claim{Study: "abcdef0123456789", Verdict: stats.Worse, Effect: stats.Effect{EffectPercent: stats.Num(9.6), CILow: stats.Num(9), CIHigh: stats.Num(10.2)}})
	has(page(), "confirmed cost_ns_per_packet", "re-run worse, +9.6 % [+9.0, +10.2] (changed-router-1234, abcdef01234…): by what changed alone")
	c.Settle(Claim{Study: "abcdef0123456789", Verdict: stats.Invalid})
	has(page(), "open cost_ns_per_packet", "re-run invalid (changed-router-1234, abcdef01234…)")
	found[0].Follows = true
	has(page(), "warning neighbouring runs resemble each other")
	// Of changes that are older than asked for nothing is left, and nothing is suspected.
	at := c.At()
	Since(found, at.Add(-time.Second))
	if len(found[0].Changes) != 1 {
		t.Error("a change after the moment is left out")
	}
	Since(found, at)
	has(page(), "No change is suspected.")
	// Ten nights split in two 252 ways: among two series no step reaches the level of 0.5 %.
	step := nights([]float64{500, 501, 502, 503, 504, 900, 901, 902, 903, 904})
	two := slices.Concat(step, nights([]float64{500, 501, 502, 503, 504, 900, 901, 902, 903, 904}))
	for i := range two[10:] {
		two[10+i].Subject = "other"
	}
	strict := options
	strict.Alpha = 0.01
	found, _ = Find(two, strict)
	has(page(), "Whether anything changed cannot be told", "in 2 series no step could reach its level")
	var html strings.Builder
	if err := WriteHTML(&html, found, "x"); err != nil || !strings.Contains(html.String(), "cannot be told") || strings.Contains(html.String(), "No change is suspected") {
		t.Errorf("%v: %s", err, html.String())
	}
	if found, _ = Find(step, strict); len(found) != 1 || found[0].Unreached || len(found[0].Changes) != 1 {
		t.Errorf("alone: %+v", found)
	}
	found, _ = Find(nights(simulated(r, 30, func(i int) float64 { return 500 + 50*float64(i/15) })), options)
	c = &Change{Kind: Drift, Before: Run{Started: monday}, After: Run{Started: tuesday}, From: 0, To: 3}
	if got := found[0].headline(c); got != "cost_ns_per_packet of nft, router: 0.00 → 3.00 ns/packet, drifting from 2026-03-02 to 2026-03-03" {
		t.Errorf("%q", got)
	}
}
