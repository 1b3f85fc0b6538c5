package dump

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/evidence"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/stats"
)

// sink keeps what is appended to it; it can do nothing else.
type sink struct {
	ledger.Store
	got []*ledger.Batch
}

func (s *sink) Append(_ context.Context, b ...*ledger.Batch) (int, error) {
	s.got = append(s.got, b...)
	return len(b), nil
}

const id = "0123456789abcdef0123456789abcdef"

const entry = `{"entry":{"seq":1,"kind":"study","ref":"a","time":"2026-01-02T03:04:05Z"}}` + "\n"

// TestLoadRefuses what All cannot have written, and says which record it is.
func TestLoadRefuses(t *testing.T) {
	for text, why := range map[string]string{
		`{"table":"trials","doc":{}}`:                                           "record 1: no entry before it",
		entry + `{"table":"secrets","doc":{}}`:                                  `record 2: unknown table "secrets"`,
		entry + `{"table":"trials","doc":[]}`:                                   "record 2: ",
		entry + `{"blob":{"sha256":"00","size":1,"encoding":"","data":"AA=="}}`: "record 2: ",
		entry + `}`: "record 2: ",
		entry + `{"table":"studies","doc":{"id":"ab","name":"x"}}`:                   `record 2: identifier "ab": want 32`,
		entry + `{"table":"trials","doc":{"id":"` + id + `","study":"' OR 1=1 --"}}`: "record 2: identifier",
	} {
		var s sink
		if added, err := Load(context.Background(), strings.NewReader(text), &s); err == nil || !strings.Contains(err.Error(), why) || added != 0 {
			t.Errorf("%s: %d added, %v; want %q", text, added, err, why)
		}
	}
	var s sink
	if added, err := Load(context.Background(), strings.NewReader(entry+`{"table":"studies","doc":{"id":"`+id+`","name":"x"}}`+"\n"+entry), &s); err != nil || added != 2 || s.got[0].Studies[0].Name != "x" {
		t.Errorf("%d added, %v", added, err)
	}
}

// FuzzLoad: whatever a file says is a ledger's dump, what is taken of it can be
// written again.
func FuzzLoad(f *testing.F) {
	f.Add(entry + `{"table":"studies","doc":{"id":"` + id + `","name":"x"}}` + "\n" + `{"table":"trials","doc":{"id":"` + id + `","variant":"a","metrics":{"pps":1e6}}}`)
	f.Add(entry + `{"table":"verdicts","doc":{"id":"` + id + `","ci_low":null,"n":3}}` + "\n" + entry)
	f.Add(entry + `{"table":"verdicts","doc":{"id":"ab"}}`)
	f.Add(`{"blob":{"sha256":"","data":"////"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var s sink
		added, _ := Load(context.Background(), strings.NewReader(text), &s)
		if added != len(s.got) {
			t.Errorf("%d added of %d", added, len(s.got))
		}
		for _, b := range s.got {
			if _, err := b.Rows(); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}

// failing is a ledger whose raw bytes cannot be read.
type failing struct {
	ledger.Store
	with error
}

func (f failing) Entries(_ context.Context, each func(ledger.Entry) error) error {
	return each(ledger.Entry{Seq: 1, Kind: "study", Ref: "a"})
}

func (f failing) Rows(_ context.Context, table string, each func(ledger.StoredRow) error) error {
	if table != "sources" {
		return nil
	}
	return each(ledger.StoredRow{Table: table, Entry: 1, Doc: []byte("{}"), Cols: []any{"study", "path", "0011"}})
}

func (f failing) Blob(context.Context, string) (ledger.Blob, error) { return ledger.Blob{}, f.with }

// TestAllMissesNothingSilently: bytes that are not kept are not dumped; bytes that cannot
// be read are an error, for the dump may be all that is left one day.
func TestAllMissesNothingSilently(t *testing.T) {
	var b strings.Builder
	if err := All(t.Context(), &b, failing{with: ledger.ErrNotFound}, true); err != nil || strings.Count(b.String(), "\n") != 2 {
		t.Errorf("%v\n%s", err, b.String())
	}
	err := All(t.Context(), &b, failing{with: ledger.ErrCorrupt}, true)
	if !errors.Is(err, ledger.ErrCorrupt) || !strings.Contains(err.Error(), "0011") {
		t.Errorf("a damaged ledger is dumped: %v", err)
	}
	if err := All(t.Context(), &b, failing{with: ledger.ErrCorrupt}, false); err != nil {
		t.Errorf("without raw bytes: %v", err)
	}
}

// TestEvidenceKeepsEffects: in percent, in points of shares, and in nanoseconds; what is not
// known is null, never nought.
func TestEvidenceKeepsEffects(t *testing.T) {
	share := ledger.Line{Metric: "loss_ratio", Published: &evidence.Published{Verdict: "difference", Agrees: true}, Changes: []ledger.Change{{Tunable: "a", After: "1"}, {Tunable: "b", Before: "2"}},
		Result: stats.Result{N: 5, Effect: stats.Effect{EffectPoints: stats.Num(-2.5), PointsLow: stats.Num(-3), PointsHigh: stats.Num(0)}, Verdict: stats.Better}}
	rate := ledger.Line{Metric: "forwarding_rate_pps", EffectNS: stats.Num(46), Result: stats.Result{N: 5, Effect: stats.EffectOf(stats.Interval{Estimate: 0, Low: -1, High: 1}), PHolm: stats.Num(0.2)}}
	rows := Evidence([]ledger.Line{share, rate})
	a, b := rows[0], rows[1]
	if a.EffectPercent != nil || a.CILow != nil || a.EffectPoints == nil || *a.EffectPoints != -2.5 || *a.PointsLow != -3 || *a.PointsHigh != 0 || a.EffectNS != nil || a.P != nil {
		t.Errorf("a share: %+v", a)
	}
	if b.EffectPoints != nil || b.EffectPercent == nil || *b.EffectPercent != 0 || *b.CILow != -1 || *b.EffectNS != 46 || *b.PHolm != 0.2 || b.Agrees != nil {
		t.Errorf("a rate: %+v", b)
	}
	if a.Changes != "a: default → 1; b: 2 → default" || a.Published != "difference" || a.Agrees == nil || !*a.Agrees || a.N != 5 || a.Verdict != "better" {
		t.Errorf("%+v", a)
	}
	var out strings.Builder
	if err := Write(&out, "csv", rows); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	head := strings.Split(lines[0], ",")
	at := func(line, column string) string {
		return strings.Split(line, ",")[slices.Index(head, column)]
	}
	if at(lines[1], "effect_points") != "-2.5" || at(lines[1], "effect_percent") != "" || at(lines[2], "effect_percent") != "0" || at(lines[2], "points_low") != "" {
		t.Errorf("%s", out.String())
	}
	if err := Write(&out, "xml", rows); err == nil || !strings.Contains(hint.Of(err), "parquet") {
		t.Errorf("an unknown format: %v", err)
	}
}

// TestTrialsAreRowsOfMetrics: a row for each metric, in order; a trial without any has one.
func TestTrialsAreRowsOfMetrics(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	rows := Trials(&ledger.Study{Name: "s", ID: "abc"}, []ledger.Trial{
		{ID: "t1", Variant: "a", Valid: true, Block: 3, Start: &at, Metrics: map[string]float64{"pps": 5, "loss": 0}, Sources: []ledger.Ref{{Path: "x/log", SHA256: "11"}, {Path: "y"}}},
		{ID: "t2", Variant: "b", Reasons: []string{"drift: x", "stolen time: y"}, Flags: []string{"f", "g"}},
	})
	if len(rows) != 3 || rows[0].Metric != "loss" || rows[1].Metric != "pps" || rows[1].Value != 5 || rows[0].Block != 3 || rows[0].Start != "2026-03-04T05:06:07Z" || rows[0].Source != "x/log" || rows[0].SHA256 != "11" || !rows[0].Valid {
		t.Errorf("%+v", rows)
	}
	if last := rows[2]; last.Metric != "" || last.Reasons != "drift: x; stolen time: y" || last.Flags != "f; g" || last.Start != "" || last.Valid || last.StudyID != "abc" {
		t.Errorf("%+v", last)
	}
}
