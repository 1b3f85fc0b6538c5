// Package ledgertest holds the conformance suite that every ledger store
// passes.
package ledgertest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"linerate/internal/ledger"
	"linerate/internal/stats"
)

// Open opens a store on the same, at first empty, ledger each time it is
// called within one test.
type Open func(t *testing.T) ledger.Store

// Run runs the suite; fresh prepares an empty ledger and returns how to open
// it.
func Run(t *testing.T, fresh func(t *testing.T) Open) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Open)
	}{
		{"Empty", testEmpty}, {"RoundTrip", testRoundTrip}, {"AppendIsIdempotent", testIdempotent},
		{"AppendIsAtomic", testAtomic}, {"SharedEnvironment", testSharedEnvironment}, {"Query", testQuery},
		{"Superseded", testSuperseded}, {"Exclude", testExclude}, {"Get", testGet}, {"Blob", testBlob},
		{"Imports", testImports}, {"ConcurrentWriters", testConcurrent}, {"Reopen", testReopen},
		{"HeadShowsTruncation", testHead}, {"AwkwardText", testAwkward}, {"ShortIDs", testShortIDs}, {"Cancelled", testCancelled},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, fresh(t)) })
	}
	runFleet(t, fresh)
}

var day = time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC)

// Sample is a study with two variants of three trials each, told apart from
// others by name.
func Sample(name string) *ledger.Batch {
	id := ledger.IDOf("study", name)
	env := ledger.Environment{
		ID: ledger.IDOf("environment", "apu2"), OS: "FreeBSD", Release: "11.1-RELEASE-p1", Hardware: "AMD_GX-412TC_4Cores",
		CPU: "AMD GX-412TC", Cores: 4, NIC: "Intel i210AT", Driver: "igb",
	}
	b := &ledger.Batch{Kind: "study", Ref: string(id), Time: day, Environments: []ledger.Environment{env}}
	b.Studies = []ledger.Study{{ID: id, Kind: "netbenches", Name: name, Place: "apu2/" + name, Design: "independent", Metric: "overload_forwarding_rate_pps"}}
	raw := []byte("raw bytes of " + name)
	sum := sha256.Sum256(raw)
	sha := hex.EncodeToString(sum[:])
	b.Blobs = []ledger.Blob{{SHA256: sha, Size: int64(len(raw)), Encoding: "raw", Data: raw}}
	b.Sources = []ledger.Source{{ID: id.Part("log"), Study: id, Path: "log", SHA256: sha, Size: int64(len(raw)), Role: "receiver"}}
	arms := map[string][]ledger.ID{}
	for v, variant := range []string{"default", "tuned"} {
		for i := range 3 {
			t := ledger.Trial{
				ID: id.Part(variant, fmt.Sprint(i)), Study: id, Environment: env.ID, Variant: variant, Workload: "IPv4 UDP 64 B",
				Block: i + 1, Valid: true, Metrics: map[string]float64{"overload_forwarding_rate_pps": 700_000 + float64(50_000*v+1000*i)},
				Sources: []ledger.Ref{{SHA256: sha, Path: "log", Role: "receiver", First: 1, Last: 1}},
			}
			arms[variant] = append(arms[variant], t.ID)
			b.Trials = append(b.Trials, t)
			b.Samples = append(b.Samples, ledger.Samples{ID: t.ID.Part("rx"), Trial: t.ID, Series: "receiver", Unit: "pps", Values: []float64{1, 2, 3}})
		}
	}
	var samples []stats.Arm
	for n, variant := range []string{"default", "tuned"} {
		a := stats.Arm{Name: variant}
		for _, t := range b.Trials[3*n : 3*n+3] {
			a.Values = append(a.Values, t.Metrics["overload_forwarding_rate_pps"])
		}
		samples = append(samples, a)
	}
	c := stats.CompareSamples(samples[0], samples[1:], stats.Options{Better: stats.HigherIsBetter, NoPlan: true})[0]
	v := ledger.FromComparison(&c)
	v.ID, v.Study, v.Environment, v.Metric, v.Primary = id.Part("verdict"), id, env.ID, "overload_forwarding_rate_pps", true
	v.Unit, v.Better, v.Workload = "pps", stats.HigherIsBetter, "IPv4 UDP 64 B"
	v.Changes = []ledger.Change{{Tunable: "dev.igb.N.fc", Related: []string{"flow_control"}, Before: "", After: "0"}}
	v.ControlTrials, v.VariantTrials = arms["default"], arms["tuned"]
	b.Verdicts = []ledger.Verdict{v}
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func verify(t *testing.T, s ledger.Store, head string) *ledger.Report {
	t.Helper()
	r, err := ledger.Verify(t.Context(), s, head)
	must(t, err)
	return r
}

func verified(t *testing.T, s ledger.Store) *ledger.Report {
	t.Helper()
	r := verify(t, s, "")
	if !r.OK {
		t.Fatalf("the ledger does not verify: %q", r.Problems)
	}
	return r
}

func appendOne(t *testing.T, s ledger.Store, b *ledger.Batch) {
	t.Helper()
	n, err := s.Append(t.Context(), b)
	must(t, err)
	if n != 1 {
		t.Fatalf("added %d entries, want 1", n)
	}
}

func testEmpty(t *testing.T, open Open) {
	s := open(t)
	if _, ok, err := s.Head(t.Context()); ok || err != nil {
		t.Fatalf("head of an empty ledger: %v, %v", ok, err)
	}
	if r := verified(t, s); r.Entries != 0 || r.Rows != 0 {
		t.Fatalf("an empty ledger has %d entries, %d rows", r.Entries, r.Rows)
	}
}

func testRoundTrip(t *testing.T, open Open) {
	s := open(t)
	b := Sample("round")
	appendOne(t, s, b)
	r := verified(t, s)
	if r.Entries != 1 || r.Rows != 1+1+6+6+1+1 || r.Blobs != 1 || r.Missing != 0 {
		t.Errorf("report %+v", r)
	}
	trials, err := s.Trials(t.Context(), b.Studies[0].ID)
	must(t, err)
	if len(trials) != 6 {
		t.Fatalf("%d trials, want 6", len(trials))
	}
	for _, got := range trials {
		i := slices.IndexFunc(b.Trials, func(w ledger.Trial) bool { return w.ID == got.ID })
		if i < 0 || got.Metrics["overload_forwarding_rate_pps"] != b.Trials[i].Metrics["overload_forwarding_rate_pps"] || got.Sources[0] != b.Trials[i].Sources[0] {
			t.Errorf("trial %+v differs from what was stored", got)
		}
	}
	ev, err := s.Evidence(t.Context(), ledger.Filter{})
	must(t, err)
	if len(ev) != 1 || ev[0].Verdict.EffectPercent != b.Verdicts[0].EffectPercent || ev[0].Environment.Driver != "igb" || ev[0].Study.Name != "round" {
		t.Errorf("evidence %+v", ev)
	}
}

func testIdempotent(t *testing.T, open Open) {
	s := open(t)
	appendOne(t, s, Sample("again"))
	head, _, err := s.Head(t.Context())
	must(t, err)
	n, err := s.Append(t.Context(), Sample("again"), Sample("other"), Sample("again"))
	must(t, err)
	if n != 1 {
		t.Errorf("added %d, want only the new one", n)
	}
	now, _, err := s.Head(t.Context())
	must(t, err)
	if now.Prev != head.Hash || now.Seq != head.Seq+1 {
		t.Errorf("entry %+v does not follow %+v", now, head)
	}
	verified(t, s)
}

// testAtomic: a batch whose last row cannot be stored leaves nothing.
func testAtomic(t *testing.T, open Open) {
	s := open(t)
	appendOne(t, s, Sample("first"))
	good, bad := Sample("second"), Sample("third")
	bad.Sources = append(bad.Sources, ledger.Source{ID: Sample("first").Sources[0].ID, Study: "x"}) // the identifier is taken
	if _, err := s.Append(t.Context(), good, bad); err == nil {
		t.Fatal("a row with a used identifier was accepted")
	}
	if r := verified(t, s); r.Entries != 1 {
		t.Errorf("%d entries after a failed append, want 1", r.Entries)
	}
	if ok, err := s.Has(t.Context(), "study", good.Ref); ok || err != nil {
		t.Errorf("half of a failed append stayed: %v, %v", ok, err)
	}
	appendOne(t, s, good)
}

func testSharedEnvironment(t *testing.T, open Open) {
	s := open(t)
	n, err := s.Append(t.Context(), Sample("one"), Sample("two"))
	must(t, err)
	appendOne(t, s, Sample("three"))
	if r := verified(t, s); n != 2 || r.Rows != 3*15+1 {
		t.Errorf("%d added, %d rows: the shared environment must be stored once", n, r.Rows)
	}
}

func testQuery(t *testing.T, open Open) {
	s := open(t)
	appendOne(t, s, Sample("query"))
	for _, c := range []struct {
		f    ledger.Filter
		want int
	}{
		{ledger.Filter{Tunable: "dev.igb.0.fc"}, 1}, {ledger.Filter{Tunable: "DEV.IGB.N.FC"}, 1}, {ledger.Filter{Tunable: "flow_control"}, 1},
		{ledger.Filter{Tunable: "dev.igb.N.f"}, 0}, {ledger.Filter{Tunable: "flow%control"}, 0}, {ledger.Filter{Names: []string{"x", "dev.igb.*.fc"}}, 1},
		{ledger.Filter{Hardware: "gx-412"}, 1}, {ledger.Filter{Hardware: "xeon"}, 0}, {ledger.Filter{NIC: "I210"}, 1}, {ledger.Filter{Driver: "igb"}, 1},
		{ledger.Filter{Release: "11.1"}, 1}, {ledger.Filter{Release: "1.1"}, 0}, {ledger.Filter{Workload: "ipv4"}, 1}, {ledger.Filter{Workload: "100%"}, 0},
		{ledger.Filter{Study: "query"}, 1}, {ledger.Filter{Study: Sample("query").Studies[0].ID.Short()}, 1}, {ledger.Filter{Study: "nope"}, 0},
		{ledger.Filter{Verdict: stats.Worse}, 0}, {ledger.Filter{Primary: true, Metric: "overload_forwarding_rate_pps", Kind: "netbenches"}, 1},
	} {
		ev, err := s.Evidence(t.Context(), c.f)
		must(t, err)
		if len(ev) != c.want {
			t.Errorf("%+v: %d verdicts, want %d", c.f, len(ev), c.want)
		}
	}
	names, err := s.Tunables(t.Context())
	must(t, err)
	if names["dev.igb.n.fc"] != 1 || names["flow_control"] != 1 {
		t.Errorf("tunables %v", names)
	}
}

func testSuperseded(t *testing.T, open Open) {
	s := open(t)
	old := Sample("old")
	appendOne(t, s, old)
	next := Sample("next")
	next.Studies[0].Place = old.Studies[0].Place
	appendOne(t, s, next)
	now, err := s.Studies(t.Context(), ledger.Filter{})
	must(t, err)
	all, err := s.Studies(t.Context(), ledger.Filter{Superseded: true})
	must(t, err)
	if len(now) != 1 || now[0].Name != "next" || len(all) != 2 {
		t.Errorf("current %v, all %d", now, len(all))
	}
}

func testExclude(t *testing.T, open Open) {
	s := open(t)
	b := Sample("exclude")
	appendOne(t, s, b)
	must(t, ledger.Exclude(t.Context(), s, string(b.Trials[0].ID), "the fan had failed", "olga", day))
	if err := ledger.Exclude(t.Context(), s, string(b.Trials[1].ID), " ", "olga", day); err == nil {
		t.Error("an exclusion without a reason was accepted")
	}
	if err := ledger.Exclude(t.Context(), s, "0123456789abcdef", "no such", "olga", day); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("excluding what is not there: %v", err)
	}
	ev, err := ledger.Evaluate(t.Context(), s, ledger.Filter{})
	must(t, err)
	if len(ev) != 1 || ev[0].Dropped != 1 || ev[0].Without == nil || ev[0].Without.NControl != 2 || ev[0].Verdict.NControl != 3 {
		t.Fatalf("with an excluded trial: %+v", ev)
	}
	verified(t, s)
}

func testGet(t *testing.T, open Open) {
	s := open(t)
	b := Sample("get")
	appendOne(t, s, b)
	appendOne(t, s, Sample("another"))
	sources, err := s.Sources(t.Context(), b.Studies[0].ID)
	must(t, err)
	if len(sources) != len(b.Sources) || len(sources) == 0 || sources[0] != b.Sources[0] {
		t.Errorf("sources %+v, of %+v", sources, b.Sources)
	}
	rows, err := s.Get(t.Context(), b.Verdicts[0].ID.Short())
	must(t, err)
	if len(rows) != 1 || rows[0].Table != "verdicts" {
		t.Errorf("got %+v", rows)
	}
	for _, bad := range []string{"", "abc", "zzzz", "' OR 1=1"} {
		if _, err := s.Get(t.Context(), bad); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("Get(%q): %v", bad, err)
		}
	}
}

func testBlob(t *testing.T, open Open) {
	s := open(t)
	b := Sample("blob")
	appendOne(t, s, b)
	got, err := s.Blob(t.Context(), b.Blobs[0].SHA256)
	must(t, err)
	data, err := got.Bytes()
	must(t, err)
	if string(data) != "raw bytes of blob" {
		t.Errorf("raw bytes %q", data)
	}
	if _, err := s.Blob(t.Context(), "00"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("an unknown blob: %v", err)
	}
}

func testImports(t *testing.T, open Open) {
	s := open(t)
	must(t, s.NoteImport(t.Context(), "f", "tool 1", "/a", day))
	must(t, s.NoteImport(t.Context(), "f", "tool 1", "/a", day))
	for _, c := range []struct {
		f, tool string
		want    bool
	}{{"f", "tool 1", true}, {"f", "tool 2", false}, {"g", "tool 1", false}} {
		if got, err := s.Imported(t.Context(), c.f, c.tool); got != c.want || err != nil {
			t.Errorf("Imported(%s, %s) = %v, %v", c.f, c.tool, got, err)
		}
	}
}

// testConcurrent: several handles write at once; every acknowledged entry is
// there and the chain is one.
func testConcurrent(t *testing.T, open Open) {
	const writers, each = 4, 5
	var wg sync.WaitGroup
	for w := range writers {
		s := open(t)
		wg.Go(func() {
			for i := range each {
				if n, err := s.Append(context.Background(), Sample(fmt.Sprintf("writer %d study %d", w, i))); err != nil || n != 1 {
					t.Errorf("writer %d, study %d: %d, %v", w, i, n, err)
				}
			}
		})
	}
	wg.Wait()
	if r := verified(t, open(t)); r.Entries != writers*each {
		t.Errorf("%d entries, want %d", r.Entries, writers*each)
	}
}

func testReopen(t *testing.T, open Open) {
	s := open(t)
	appendOne(t, s, Sample("kept"))
	again := open(t)
	if ok, err := again.Has(t.Context(), "study", Sample("kept").Ref); !ok || err != nil {
		t.Errorf("another handle does not see the entry: %v, %v", ok, err)
	}
}

func testHead(t *testing.T, open Open) {
	s := open(t)
	appendOne(t, s, Sample("noted"))
	head := verified(t, s).Head
	appendOne(t, s, Sample("later"))
	if r := verify(t, s, head); !r.OK {
		t.Errorf("a head noted earlier is denied: %q", r.Problems)
	}
	if r := verify(t, s, string(ledger.IDOf("another"))); r.OK {
		t.Error("a head that never was is confirmed")
	}
}

func testAwkward(t *testing.T, open Open) {
	s := open(t)
	b := Sample("awk\x00ward 'name' \"quoted\" % _ ! ; -- \xff €")
	appendOne(t, s, b)
	verified(t, s)
	got, err := s.Studies(t.Context(), ledger.Filter{Study: "'NAME' \"quoted\" % _ !"})
	must(t, err)
	if len(got) != 1 {
		t.Errorf("%d studies found by an awkward name", len(got))
	}
}

func testCancelled(t *testing.T, open Open) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Append(ctx, Sample("never")); err == nil {
		t.Error("an append with a cancelled context succeeded")
	}
	if r := verified(t, s); r.Entries != 0 {
		t.Errorf("%d entries after a cancelled append", r.Entries)
	}
}

// testShortIDs: what is no identifier is refused whole, and what the ledger
// has is found by the beginning of one.
func testShortIDs(t *testing.T, open Open) {
	s := open(t)
	b := Sample("short")
	b.Studies[0].ID = "ab"
	if n, err := s.Append(t.Context(), Sample("whole"), b); err == nil || n != 0 {
		t.Errorf("a study called ab is added: %d, %v", n, err)
	}
	if _, ok, err := s.Head(t.Context()); ok || err != nil {
		t.Errorf("half of it is there: %v", err)
	}
	b = Sample("whole")
	appendOne(t, s, b)
	rows, err := s.Get(t.Context(), b.Studies[0].ID.Short())
	must(t, err)
	if len(rows) != 1 || rows[0].ID != b.Studies[0].ID {
		t.Errorf("%+v", rows)
	}
}
