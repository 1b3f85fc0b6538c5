package dump

import (
	"context"
	"errors"
	"strings"
	"testing"

	"linerate/internal/ledger"
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
