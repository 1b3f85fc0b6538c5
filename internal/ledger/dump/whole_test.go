package dump

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/ledger"
	"linerate/internal/stats"
	"linerate/internal/store/storetest"
	"linerate/internal/study"
	"linerate/internal/study/record"
	"linerate/internal/testbed"
)

// memory is a ledger in memory, with what dumps need.
type memory struct {
	ledger.Store
	entries []ledger.Entry
	rows    []ledger.Row
	blobs   map[string]ledger.Blob
	broken  error // error of Blob
}

func (m *memory) Append(_ context.Context, batches ...*ledger.Batch) (int, error) {
	for _, b := range batches {
		rows, err := b.Rows()
		if err != nil {
			return 0, err
		}
		var prev ledger.Entry
		if n := len(m.entries); n > 0 {
			prev = m.entries[n-1]
		}
		e := ledger.Seal(b, rows, prev)
		m.entries = append(m.entries, e)
		for _, r := range rows {
			m.rows = append(m.rows, ledger.Row{Table: r.Table, ID: r.ID, Entry: e.Seq, Digest: r.Digest, Doc: r.Doc, Cols: r.Cols})
		}
		if m.blobs == nil {
			m.blobs = map[string]ledger.Blob{}
		}
		for _, blob := range b.Blobs {
			m.blobs[blob.SHA256] = blob
		}
	}
	return len(batches), nil
}

func (m *memory) Entries(_ context.Context, f func(ledger.Entry) error) error {
	for _, e := range m.entries {
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Rows(_ context.Context, table string, f func(ledger.Row) error) error {
	rows := slices.DeleteFunc(slices.Clone(m.rows), func(r ledger.Row) bool { return r.Table != table })
	slices.SortStableFunc(rows, func(a, b ledger.Row) int { return cmp.Or(cmp.Compare(a.Entry, b.Entry), cmp.Compare(a.ID, b.ID)) })
	for _, r := range rows {
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Blob(_ context.Context, sha string) (ledger.Blob, error) {
	b, ok := m.blobs[sha]
	if !ok || m.broken != nil {
		return b, cmp.Or(m.broken, ledger.ErrNotFound)
	}
	return b, nil
}

// ownStudy returns the batch of a linerate study: b costs a tenth more than the control a.
func ownStudy(t testing.TB) *ledger.Batch {
	t.Helper()
	var lines strings.Builder
	for block := 1; block <= 6; block++ {
		for i, v := range []string{"a", "b", study.AA} {
			metrics := map[string]float64{study.CostNS: 700 + float64(block*7%5) + float64(i*block%3) + 70*float64(i%2)}
			line, err := json.Marshal(study.Trial{Part: "cost", Variant: v, Block: block, Order: i + 1, Start: time.Unix(int64(10*block+i), 0).UTC(),
				Valid: true, Reasons: []study.Refusal{}, Metrics: metrics, Mode: testbed.Cost})
			if err != nil {
				t.Fatal(err)
			}
			lines.WriteString(string(line) + "\n")
		}
	}
	results, err := json.Marshal(study.Results{Version: study.ResultsVersion, Environment: study.Environment{OS: "linux", Hostname: "box", CPUs: 4}})
	if err != nil {
		t.Fatal(err)
	}
	files := record.Memory{record.TrialsFile: []byte(lines.String()), record.ResultsFile: results,
		record.SpecFile: []byte("name: own\nquestion: q\nseed: 3\nblocks: 6\nvariants: [{name: a}, {name: b, settings: [{sysctl: net.ipv4.ip_forward, value: '1'}]}]\n" +
			"metrics: [{metric: cost_ns_per_packet, part: cost, primary: true, margin_percent: 2}]\n")}
	r, err := record.Read(files, "own")
	if err != nil {
		t.Fatal(err)
	}
	b, err := ledger.OfRecord(r, "/somewhere/own")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// exclusion returns an exclusion as a separate entry.
func exclusion(t testing.TB, m *memory, target ledger.ID) *ledger.Batch {
	t.Helper()
	x := ledger.Exclusion{Target: target, Reason: "the fan had failed", By: "alice", Time: time.Unix(1_700_000_000, 0).UTC()}
	x.ID = ledger.IDOf("exclusion", string(x.Target), x.Reason, x.By)
	return &ledger.Batch{Kind: "exclusion", Ref: string(x.ID), Time: x.Time, Exclusions: []ledger.Exclusion{x}}
}

// full returns a ledger with a linerate study, imported results and an exclusion.
func full(t testing.TB, change func(own, imported *ledger.Batch)) *memory {
	t.Helper()
	m := &memory{}
	own, imported := ownStudy(t), storetest.Sample("imported")
	if change != nil {
		change(own, imported)
	}
	for _, b := range []*ledger.Batch{own, imported, exclusion(t, m, own.Trials[0].ID)} {
		if _, err := m.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func dumped(t testing.TB, m *memory, raw bool) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := All(t.Context(), &b, m, raw); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLoadTakesWhatAllWrote: a dump with or without raw bytes loads completely, to the last hash.
func TestLoadTakesWhatAllWrote(t *testing.T) {
	m := full(t, nil)
	for _, raw := range []bool{true, false} {
		var to memory
		text := dumped(t, m, raw)
		added, err := Load(t.Context(), bytes.NewReader(text), &to)
		if err != nil || added != 3 {
			t.Fatalf("raw %v: %d added, %v", raw, added, err)
		}
		if to.entries[2] != m.entries[2] || len(to.rows) != len(m.rows) {
			t.Errorf("raw %v: %+v, want %+v", raw, to.entries[2], m.entries[2])
		}
		if again := dumped(t, &to, raw); !bytes.Equal(text, again) {
			t.Errorf("raw %v: the dump of the loaded ledger differs", raw)
		}
	}
	if to := (&memory{}); !bytes.Contains(dumped(t, to, true), []byte(`"entries":0`)) {
		t.Error("the dump of an empty ledger has no end")
	}
}

// refused fails unless a dump is refused with a reason, and nothing of it is stored.
func refused(t *testing.T, text []byte, what string, args ...any) {
	t.Helper()
	var to memory
	added, err := Load(t.Context(), bytes.NewReader(text), &to)
	if err == nil || added != 0 || len(to.entries) != 0 || err.Error() == "" {
		t.Errorf("%s: %d added, %v", fmt.Sprintf(what, args...), added, err)
	}
}

// TestLoadRefusesWhatWasChanged modifies a dump in the ways of sed, an editor or a faulty disk.
func TestLoadRefusesWhatWasChanged(t *testing.T) {
	text := dumped(t, full(t, nil), true)
	for i, c := range text {
		if c >= '0' && c <= '9' && (i%7 == 0 || !testing.Short()) {
			b := bytes.Clone(text)
			b[i] = '0' + (c-'0'+1)%10
			refused(t, b, "digit at %d", i)
		}
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines = lines[:len(lines)-1]
	for i := range lines {
		without := slices.Delete(slices.Clone(lines), i, i+1)
		refused(t, bytes.Join(without, nil), "line %d dropped", i+1)
		refused(t, bytes.Join(slices.Insert(slices.Clone(lines), i, lines[i]), nil), "line %d twice", i+1)
		for j := i - 1; j >= 0; j -= 1 + i%5 {
			swapped := slices.Clone(lines)
			swapped[i], swapped[j] = lines[j], lines[i]
			refused(t, bytes.Join(swapped, nil), "lines %d and %d swapped", j+1, i+1)
		}
	}
	for i := range len(text) {
		if i%97 == 0 || text[i] == '\n' || i > len(text)-300 {
			refused(t, text[:i], "cut at %d", i)
		}
	}
	for from, to := range map[string]string{`"worse"`: `"better"`, `"better"`: `"worse"`, `"valid":true`: `"valid":false`, "alice": "bob", "/somewhere/own": "/somewhere/else"} {
		b := bytes.ReplaceAll(text, []byte(from), []byte(to))
		if bytes.Equal(b, text) {
			t.Errorf("the dump holds no %s", from)
		}
		refused(t, b, "%s to %s", from, to)
	}
	refused(t, append(bytes.Clone(text), '\n'), "something after the end")
	refused(t, append(bytes.Clone(text), text...), "twice")
}

// TestLoadDerivesVerdicts: changed conclusions with recomputed hashes are refused because of the trials.
func TestLoadDerivesVerdicts(t *testing.T) {
	for name, change := range map[string]func(own, imported *ledger.Batch){
		"own verdict": func(own, _ *ledger.Batch) { own.Verdicts[0].Verdict = "better" },
		"own effect": func(own, _ *ledger.Batch) {
			v := &own.Verdicts[0]
			v.EffectPercent = stats.Num(v.EffectPercent.Float() + -20)
		},
		"own verdict gone": func(own, _ *ledger.Batch) { own.Verdicts = own.Verdicts[1:] },
		"own trial":        func(own, _ *ledger.Batch) { own.Trials[3].Metrics[study.CostNS]++ },
		"own trial gone":   func(own, _ *ledger.Batch) { own.Trials = own.Trials[1:] },
		"own file":         func(own, _ *ledger.Batch) { own.Sources = own.Sources[1:] },
		"imported verdict": func(_, b *ledger.Batch) { b.Verdicts[0].Verdict = "worse" },
		"imported effect": func(_, b *ledger.Batch) {
			v := &b.Verdicts[0]
			v.EffectPercent = stats.Num(v.EffectPercent.Float() + 3)
		},
		"imported trial":    func(_, b *ledger.Batch) { b.Trials[0].Metrics["overload_forwarding_rate_pps"] = 900_000 },
		"imported trials":   func(_, b *ledger.Batch) { b.Trials = b.Trials[2:] },
		"imported validity": func(_, b *ledger.Batch) { b.Trials[0].Valid = false },
	} {
		refused(t, dumped(t, full(t, change), true), "%s", name)
	}
}

// TestLoadSaysWhichLine: a file that is not a dump is refused with its line.
func TestLoadSaysWhichLine(t *testing.T) {
	const entry = `{"entry":{"seq":1,"kind":"study","ref":"a","time":"2026-01-02T03:04:05Z"}}` + "\n"
	for text, why := range map[string]string{
		"":                                   "line 1: the dump ends here",
		`{"table":"trials","doc":{}}` + "\n": "line 1: there is no entry before it",
		entry + `{"table":"secrets","doc":{}}` + "\n":                                  `line 2: unknown table "secrets"`,
		entry + `{"table":"trials","doc":[]}` + "\n":                                   "line 2: ",
		entry + `{"blob":{"sha256":"00","size":1,"encoding":"","data":"AA=="}}` + "\n": "line 2: ",
		entry + "}\n": "line 2: ",
		entry + `{"table":"studies","doc":{"id":"ab","name":"x"}}` + "\n":                                         `line 2: identifier "ab": want 32`,
		entry + `{"table":"trials","doc":{"id":"0123456789abcdef0123456789abcdef","study":"' OR 1=1 --"}}` + "\n": "line 2: identifier",
		entry + entry: "line 2: entry 1",
	} {
		if added, err := Load(t.Context(), strings.NewReader(text), &memory{}); err == nil || !strings.Contains(err.Error(), why) || added != 0 {
			t.Errorf("%s: %d added, %v; want %q", text, added, err, why)
		}
	}
}

// FuzzLoad: any file is refused, or what is loaded of it can be dumped again.
func FuzzLoad(f *testing.F) {
	f.Add(string(dumped(f, full(f, nil), true)))
	f.Add(`{"entry":{"seq":1,"kind":"study","ref":"a","time":"2026-01-02T03:04:05Z"}}` + "\n")
	f.Add(`{"blob":{"sha256":"","data":"////"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var to memory
		if added, err := Load(t.Context(), strings.NewReader(text), &to); added != len(to.entries) || err != nil && added > 0 {
			t.Errorf("%d added of %d, %v", added, len(to.entries), err)
		}
	})
}

// TestAllMissesNothingSilently: raw bytes that are not kept are left out; bytes that cannot be read are an
// error, because the dump may one day be the only copy.
func TestAllMissesNothingSilently(t *testing.T) {
	m := &memory{}
	if _, err := m.Append(t.Context(), storetest.Sample("imported")); err != nil {
		t.Fatal(err)
	}
	m.broken = ledger.ErrCorrupt
	err := All(t.Context(), &bytes.Buffer{}, m, true)
	if !errors.Is(err, ledger.ErrCorrupt) || !strings.Contains(err.Error(), "raw bytes ") {
		t.Errorf("a damaged ledger is dumped: %v", err)
	}
	if err := All(t.Context(), &bytes.Buffer{}, m, false); err != nil {
		t.Errorf("without raw bytes: %v", err)
	}
	m.broken = ledger.ErrNotFound
	if text := dumped(t, m, true); bytes.Contains(text, []byte(`"blob"`)) {
		t.Errorf("%s", text)
	}
}
