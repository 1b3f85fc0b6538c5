package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"linerate/internal/ledger"
	"linerate/internal/stats"
	"linerate/internal/store/storetest"
)

// openLedger opens a store; within one test each call opens the same, initially empty ledger.
type openLedger func(t *testing.T) ledger.Store

// TestLedger tests what a ledger does in every database.
func TestLedger(t *testing.T) {
	for _, d := range databases {
		for _, c := range []struct {
			name string
			test func(*testing.T, openLedger)
		}{
			{"Empty", testEmpty}, {"RoundTrip", testRoundTrip}, {"AppendIsIdempotent", testIdempotent},
			{"AppendIsAtomic", testAtomic}, {"SharedEnvironment", testSharedEnvironment}, {"Query", testQuery},
			{"Superseded", testSuperseded}, {"Exclude", testExclude}, {"Get", testGet}, {"Blob", testBlob},
			{"ConcurrentWriters", testConcurrent}, {"Reopen", testReopen},
			{"HeadShowsTruncation", testHead}, {"AwkwardText", testAwkward}, {"ShortIDs", testShortIDs}, {"Cancelled", testCancelled},
		} {
			t.Run(d.name+"/"+c.name, func(t *testing.T) { c.test(t, d.fresh(t).ledger) })
		}
	}
}

var day = time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC)

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

func testEmpty(t *testing.T, open openLedger) {
	s := open(t)
	if _, ok, err := s.Head(t.Context()); ok || err != nil {
		t.Fatalf("head of an empty ledger: %v, %v", ok, err)
	}
	if r := verified(t, s); r.Entries != 0 || r.Rows != 0 {
		t.Fatalf("an empty ledger has %d entries, %d rows", r.Entries, r.Rows)
	}
}

func testRoundTrip(t *testing.T, open openLedger) {
	s := open(t)
	b := storetest.Sample("round")
	appendOne(t, s, b)
	r := verified(t, s)
	if r.Entries != 1 || r.Rows != 1+1+6+1+1 || r.Blobs != 1 || r.Missing != 0 {
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

func testIdempotent(t *testing.T, open openLedger) {
	s := open(t)
	appendOne(t, s, storetest.Sample("again"))
	head, _, err := s.Head(t.Context())
	must(t, err)
	n, err := s.Append(t.Context(), storetest.Sample("again"), storetest.Sample("other"), storetest.Sample("again"))
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
func testAtomic(t *testing.T, open openLedger) {
	s := open(t)
	appendOne(t, s, storetest.Sample("first"))
	good, bad := storetest.Sample("second"), storetest.Sample("third")
	bad.Sources = append(bad.Sources, ledger.Source{ID: storetest.Sample("first").Sources[0].ID, Study: "x"}) // the identifier is taken
	if _, err := s.Append(t.Context(), good, bad); err == nil {
		t.Fatal("a row with a used identifier was accepted")
	}
	if r := verified(t, s); r.Entries != 1 {
		t.Errorf("%d entries after a failed append, want 1", r.Entries)
	}
	if _, err := s.Get(t.Context(), good.Ref); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("half of a failed append stayed: %v", err)
	}
	appendOne(t, s, good)
}

func testSharedEnvironment(t *testing.T, open openLedger) {
	s := open(t)
	n, err := s.Append(t.Context(), storetest.Sample("one"), storetest.Sample("two"))
	must(t, err)
	appendOne(t, s, storetest.Sample("three"))
	if r := verified(t, s); n != 2 || r.Rows != 3*9+1 {
		t.Errorf("%d added, %d rows: the shared environment must be stored once", n, r.Rows)
	}
}

func testQuery(t *testing.T, open openLedger) {
	s := open(t)
	appendOne(t, s, storetest.Sample("query"))
	for _, c := range []struct {
		f    ledger.Filter
		want int
	}{
		{ledger.Filter{Tunable: "dev.igb.0.fc"}, 1}, {ledger.Filter{Tunable: "DEV.IGB.N.FC"}, 1}, {ledger.Filter{Tunable: "flow_control"}, 1},
		{ledger.Filter{Tunable: "dev.igb.N.f"}, 0}, {ledger.Filter{Tunable: "flow%control"}, 0}, {ledger.Filter{Names: []string{"x", "dev.igb.*.fc"}}, 1},
		{ledger.Filter{Hardware: "gx-412"}, 1}, {ledger.Filter{Hardware: "xeon"}, 0}, {ledger.Filter{NIC: "I210"}, 1}, {ledger.Filter{Driver: "igb"}, 1},
		{ledger.Filter{Release: "11.1"}, 1}, {ledger.Filter{Release: "1.1"}, 0}, {ledger.Filter{Workload: "ipv4"}, 1}, {ledger.Filter{Workload: "100%"}, 0},
		{ledger.Filter{Study: "query"}, 1}, {ledger.Filter{Study: storetest.Sample("query").Studies[0].ID.Short()}, 1}, {ledger.Filter{Study: "nope"}, 0},
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

func testSuperseded(t *testing.T, open openLedger) {
	s := open(t)
	old := storetest.Sample("old")
	appendOne(t, s, old)
	next := storetest.Sample("next")
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

func testExclude(t *testing.T, open openLedger) {
	s := open(t)
	b := storetest.Sample("exclude")
	appendOne(t, s, b)
	must(t, ledger.Exclude(t.Context(), s, string(b.Trials[0].ID), "the fan had failed", "olga", day))
	if err := ledger.Exclude(t.Context(), s, string(b.Trials[1].ID), " ", "olga", day); err == nil {
		t.Error("an exclusion without a reason was accepted")
	}
	if err := ledger.Exclude(t.Context(), s, "0123456789abcdef", "no such", "olga", day); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("excluding an unknown record: %v", err)
	}
	ev, err := ledger.Evaluate(t.Context(), s, ledger.Filter{})
	must(t, err)
	if len(ev) != 1 || ev[0].Dropped != 1 || ev[0].Without == nil || ev[0].Without.NControl != 2 || ev[0].Verdict.NControl != 3 {
		t.Fatalf("with an excluded trial: %+v", ev)
	}
	verified(t, s)
}

func testGet(t *testing.T, open openLedger) {
	s := open(t)
	b := storetest.Sample("get")
	appendOne(t, s, b)
	appendOne(t, s, storetest.Sample("another"))
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

func testBlob(t *testing.T, open openLedger) {
	s := open(t)
	b := storetest.Sample("blob")
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

// testConcurrent: several handles write at once; every acknowledged entry is stored, in a single chain.
func testConcurrent(t *testing.T, open openLedger) {
	const writers, each = 4, 5
	var wg sync.WaitGroup
	for w := range writers {
		s := open(t)
		wg.Go(func() {
			for i := range each {
				if n, err := s.Append(context.Background(), storetest.Sample(fmt.Sprintf("writer %d study %d", w, i))); err != nil || n != 1 {
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

func testReopen(t *testing.T, open openLedger) {
	s := open(t)
	appendOne(t, s, storetest.Sample("kept"))
	again := open(t)
	if _, err := again.Get(t.Context(), storetest.Sample("kept").Ref); err != nil {
		t.Errorf("another handle does not see the entry: %v", err)
	}
}

func testHead(t *testing.T, open openLedger) {
	s := open(t)
	appendOne(t, s, storetest.Sample("noted"))
	head := verified(t, s).Head
	appendOne(t, s, storetest.Sample("later"))
	if r := verify(t, s, head); !r.OK {
		t.Errorf("an earlier head is refused: %q", r.Problems)
	}
	if r := verify(t, s, string(ledger.IDOf("another"))); r.OK {
		t.Error("a head that never existed is confirmed")
	}
}

func testAwkward(t *testing.T, open openLedger) {
	s := open(t)
	b := storetest.Sample("awk\x00ward 'name' \"quoted\" % _ ! ; -- \xff €")
	appendOne(t, s, b)
	verified(t, s)
	got, err := s.Studies(t.Context(), ledger.Filter{Study: "'NAME' \"quoted\" % _ !"})
	must(t, err)
	if len(got) != 1 {
		t.Errorf("%d studies found by an awkward name", len(got))
	}
}

func testCancelled(t *testing.T, open openLedger) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Append(ctx, storetest.Sample("never")); err == nil {
		t.Error("an append with a cancelled context succeeded")
	}
	if r := verified(t, s); r.Entries != 0 {
		t.Errorf("%d entries after a cancelled append", r.Entries)
	}
}

// testShortIDs: a batch with an invalid identifier is refused completely, and records are found by a prefix
// of their identifier.
func testShortIDs(t *testing.T, open openLedger) {
	s := open(t)
	b := storetest.Sample("short")
	b.Studies[0].ID = "ab"
	if n, err := s.Append(t.Context(), storetest.Sample("whole"), b); err == nil || n != 0 {
		t.Errorf("a study called ab is added: %d, %v", n, err)
	}
	if _, ok, err := s.Head(t.Context()); ok || err != nil {
		t.Errorf("a part of it was stored: %v", err)
	}
	b = storetest.Sample("whole")
	appendOne(t, s, b)
	rows, err := s.Get(t.Context(), b.Studies[0].ID.Short())
	must(t, err)
	if len(rows) != 1 || rows[0].ID != b.Studies[0].ID {
		t.Errorf("%+v", rows)
	}
}
