package ledger_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/evidence"
	"linerate/internal/fact"
	"linerate/internal/ledger"
	"linerate/internal/stats"
	"linerate/internal/store/sqlite"
	"linerate/internal/study"
	"linerate/internal/study/record"
	"linerate/internal/testbed"
	"linerate/internal/tunable"
)

const blocks = 8

// ownRecord returns a study whose variants b and c cost the same as the control within the margin, except
// for one spoiled trial of b; d costs a tenth more.
func ownRecord(t testing.TB) *record.Record {
	t.Helper()
	spec := "name: same\nquestion: q\nseed: 3\nblocks: 8\nvariants: [{name: a}, {name: b, settings: [{sysctl: net.ipv4.ip_forward, value: '1'}]}, {name: c}, {name: d}]\n" +
		"metrics: [{metric: cost_ns_per_packet, part: cost, primary: true, margin_percent: 2}]\n"
	var lines strings.Builder
	for block := 1; block <= blocks; block++ {
		for i, v := range []string{"a", "b", "c", "d", study.AA} {
			cost := (700 + 20*float64(block)) * (1 + 0.002*math.Sin(float64(7*block+3*i)))
			switch {
			case v == "b" && block == 5:
				cost *= 1.4
			case v == "d":
				cost *= 1.1
			}
			data, err := json.Marshal(study.Trial{Part: "cost", Variant: v, Block: block, Order: i + 1, Start: time.Unix(int64(10*block+i), 0).UTC(),
				Valid: true, Reasons: []study.Refusal{}, Metrics: map[string]float64{study.CostNS: cost}, Mode: testbed.Cost})
			if err != nil {
				t.Fatal(err)
			}
			lines.WriteString(string(data) + "\n")
		}
	}
	env := study.Environment{OS: "linux", Hostname: "box", Machine: "Dell R630", CPU: "some CPU", CPUs: 4, Label: "veth, not a NIC",
		Testbeds: map[string]study.BedNotes{"cost": {Kind: "netns"}}}
	results, err := json.Marshal(study.Results{Version: study.ResultsVersion, Environment: env})
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Read(fstest.MapFS{
		record.SpecFile: {Data: []byte(spec)}, record.TrialsFile: {Data: []byte(lines.String())}, record.ResultsFile: {Data: results},
	}, "dir")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func store(t testing.TB) ledger.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"), sqlite.Owner{UID: -1, GID: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func evidenceOn(t testing.TB, s ledger.Store, variant string) ledger.Evidence {
	t.Helper()
	ev, err := ledger.Evaluate(t.Context(), s, ledger.Filter{Metric: study.CostNS})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range ev {
		if e.Verdict.Variant == variant {
			return e
		}
	}
	t.Fatalf("no verdict on %s", variant)
	return ledger.Evidence{}
}

// TestEquivalentComesBack: without the spoiled trial the variant is equivalent within the study's margin,
// with and without the study's record at hand.
func TestEquivalentComesBack(t *testing.T) {
	for _, kept := range []bool{true, false} {
		s := store(t)
		r := ownRecord(t)
		b, err := ledger.OfRecord(r, "dir")
		if err != nil {
			t.Fatal(err)
		}
		if !kept {
			b.Blobs = nil
		}
		if _, err := s.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		e := evidenceOn(t, s, "b")
		if e.Verdict.Verdict != stats.Inconclusive || e.Verdict.MarginPercent != 2 || !e.Verdict.PEquivalent.Known() {
			t.Fatalf("with the spoiled trial: %+v", e.Verdict)
		}
		spoiled := e.Verdict.VariantTrials[4]
		if err := ledger.Exclude(t.Context(), s, string(spoiled), "the fan had failed", "me", time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		e = evidenceOn(t, s, "b")
		if e.Without == nil || e.Dropped != 1 || e.Without.Verdict != stats.Equivalent || e.Without.N != blocks-1 {
			t.Fatalf("kept %t: without the spoiled trial: %+v", kept, e.Without)
		}
		if l := ledger.Flatten(&e, nil); l.MarginPercent != 2 || l.PEquivalent.Float() < 0.05 || l.Without.PEquivalent.Float() > 0.05 || l.Without.MarginPercent != 2 {
			t.Errorf("kept %t: as a line %+v, without %+v", kept, l, l.Without)
		}
		if other := evidenceOn(t, s, "c"); other.Without != nil {
			t.Errorf("kept %t: another variant also has a result without exclusions: %+v", kept, other.Without)
		}
		if !kept {
			continue
		}
		// With the record, it is the study's own verdict.
		for i := range r.Trials {
			if r.Trials[i].Variant == "b" && r.Trials[i].Block == 5 {
				r.Trials[i].Valid = false
			}
		}
		for _, v := range r.Results().Verdicts {
			if v.Variant == "b" && (v.Effect != e.Without.Effect || v.PHolm != e.Without.PHolm || v.PEquivalent != e.Without.PEquivalent || v.EffectNS != e.Without.EffectNS) {
				t.Errorf("the study's verdict is %+v, the ledger's %+v", v, e.Without)
			}
		}
	}
}

// TestOfRecordTakesTheRawRecord: trials and verdicts are those of trials.jsonl, line by line, and nothing of
// the study is lost.
func TestOfRecordTakesTheRawRecord(t *testing.T) {
	r := ownRecord(t)
	b, err := ledger.OfRecord(r, "dir")
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Trials) != 5*blocks || b.Trials[7].Sources[0].First != 8 || b.Trials[7].Sources[0].SHA256 == "" {
		t.Errorf("%d trials, the eighth is %+v", len(b.Trials), b.Trials[7])
	}
	derived := r.Results()
	if len(b.Verdicts) != len(derived.Verdicts) {
		t.Fatalf("%d verdicts of %d", len(b.Verdicts), len(derived.Verdicts))
	}
	for i, v := range b.Verdicts {
		d := derived.Verdicts[i]
		if v.Verdict != d.Verdict || v.PEquivalent != d.PEquivalent || v.MarginPercent != d.MarginPercent || v.EffectNS != d.EffectNS || v.Family != 3 {
			t.Errorf("%+v of %+v", v, d)
		}
	}
	if e := b.Environments[0]; e.Hardware != "Dell R630" || e.Extra["hostname"] != "box" {
		t.Errorf("hardware %+v", e)
	}
	if c := b.Verdicts[0].Changes; len(c) != 1 || c[0].Tunable != "net.ipv4.ip_forward" || c[0].After != "1" {
		t.Errorf("changes %+v", c)
	}
	again, err := ledger.OfRecord(ownRecord(t), "dir")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, again); diff != "" {
		t.Error("the same record gives another batch:", diff)
	}
	r.Finished = false
	if _, err := ledger.OfRecord(r, "dir"); !errors.Is(err, ledger.ErrUnfinished) {
		t.Errorf("%v", err)
	}
}

// TestPortsAreWhatTheTestbedHas: only namespace testbeds have veth ports.
func TestPortsAreWhatTheTestbedHas(t *testing.T) {
	facts := []*fact.Facts{{NICs: []fact.NIC{{Name: "lo", Kind: fact.KindLoopback}, {Name: "br0", Kind: fact.KindBridge},
		{Name: "igb0", Kind: fact.KindEthernet, Driver: "igb", Description: "Intel I350"}, {Name: "igb1", Kind: fact.KindEthernet, Driver: "igb", Description: "Intel I350"}}}}
	for _, c := range []struct {
		kinds       []string
		facts       []*fact.Facts
		nic, driver string
	}{
		{[]string{"netns"}, facts, "veth", "veth"},
		{[]string{"netns", "netns"}, nil, "veth", "veth"},
		{[]string{"ssh"}, facts, "Intel I350", "igb"},
		{[]string{"netns", "ssh"}, facts, "Intel I350", "igb"},
		{[]string{"ssh"}, nil, "", ""},
		{nil, facts, "", ""},
	} {
		r := ownRecord(t)
		r.Facts, r.Environment.Testbeds = c.facts, map[string]study.BedNotes{}
		for i, kind := range c.kinds {
			r.Environment.Testbeds[fmt.Sprint(i)] = study.BedNotes{Kind: kind}
		}
		b, err := ledger.OfRecord(r, "dir")
		if err != nil {
			t.Fatal(err)
		}
		if e := b.Environments[0]; e.NIC != c.nic || e.Driver != c.driver || e.CPU != "some CPU" {
			t.Errorf("%v: %+v", c, e)
		}
	}
}

// TestOpenRecord reads a record from the store that was stored from a directory.
func TestOpenRecord(t *testing.T) {
	s, r := store(t), ownRecord(t)
	slices := &study.Interleaved{Raw: "slices-cost-1-1.csv.gz", SHA256: strings.Repeat("ab", 32)}
	r.Trials[0].Observed, r.Trials[1].Observed = &study.Observation{Interleaved: slices}, &study.Observation{Interleaved: slices}
	b, err := ledger.OfRecord(r, "dir")
	if err != nil {
		t.Fatal(err)
	}
	// The sources of a trial are identified by hash.
	if refs := b.Trials[1].Sources; len(refs) != 2 || refs[1].SHA256 != slices.SHA256 || len(b.Sources) != 4 || len(b.Blobs) != 3 {
		t.Errorf("sources %+v, of the trial %+v", b.Sources, refs)
	}
	r.Trials[0].Observed, r.Trials[1].Observed = nil, nil // not in the bytes of the record
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	got, err := ledger.OpenRecord(t.Context(), s, &b.Studies[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Results(), got.Results()); diff != "" {
		t.Error(diff)
	}
	if _, err := ledger.OpenRecord(t.Context(), s, &ledger.Study{ID: "nosuch"}); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a study without bytes: %v", err)
	}
}

// TestKnownLeavesExcludedTrialsOut: plans and searches get a ledger's results without excluded trials.
func TestKnownLeavesExcludedTrialsOut(t *testing.T) {
	c, err := tunable.Read(fstest.MapFS{"linux/x.yaml": {Data: []byte("subsystem: x\nrecords:\n  - {name: net.ipv4.ip_forward, mechanism: sysctl, type: int, settable: runtime, default: 0, summary: s, sources: [a.c]}\n")}})
	if err != nil {
		t.Fatal(err)
	}
	s := store(t)
	b, err := ledger.OfRecord(ownRecord(t), "dir")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	known := func() evidence.Row {
		t.Helper()
		rows, err := ledger.Known(t.Context(), s, c)
		if err != nil || len(rows) != 1 || rows[0].Tunable != "net.ipv4.ip_forward" || rows[0].After != "1" {
			t.Fatalf("%+v, %v", rows, err)
		}
		return rows[0]
	}
	if r := known(); r.Verdict != stats.Inconclusive || r.N != blocks {
		t.Errorf("with the spoiled trial: %+v", r.Result)
	}
	spoiled := evidenceOn(t, s, "b").Verdict.VariantTrials[4]
	if err := ledger.Exclude(t.Context(), s, string(spoiled), "the fan had failed", "me", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if r := known(); r.Verdict != stats.Equivalent || r.N != blocks-1 || r.Without != nil {
		t.Errorf("without it: %+v", r.Result)
	}
	if err := ledger.Exclude(t.Context(), s, string(b.Studies[0].ID), "the wrong cable", "me", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if rows, err := ledger.Known(t.Context(), s, c); err != nil || len(rows) != 0 {
		t.Errorf("rows of an excluded study: %+v, %v", rows, err)
	}
}
