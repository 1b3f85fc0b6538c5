package assemble

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/hint"
	"linerate/internal/ledger"
)

// TestReadersMakeNothing: who only reads a ledger that is not there makes none, and is told how
// one comes to be.
func TestReadersMakeNothing(t *testing.T) {
	at := filepath.Join(t.TempDir(), "below", "ledger.db")
	never := func(ledger.Reader) error { t.Error("opened"); return nil }
	err := ReadLedger(t.Context(), at, never)
	if err == nil || !strings.Contains(err.Error(), "no ledger at "+at) || !strings.Contains(hint.Of(err), "linerate demo") {
		t.Errorf("Read: %v", err)
	}
	for _, place := range []string{at, NoLedger} {
		if err := ReadAnyLedger(t.Context(), place, never); err != nil {
			t.Errorf("ReadAny: %v", err)
		}
	}
	if err := ChangeLedger(t.Context(), at, func(ledger.Store) error { t.Error("opened"); return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Change: %v", err)
	}
	if _, err := ReadOnlyLedger(t.Context(), at); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadOnly: %v", err)
	}
	err = LedgerOfStudy(t.Context(), at, "s1", func(ledger.Reader, *ledger.Study) error { t.Error("found"); return nil })
	if err == nil || !hint.IsUsage(err) || !strings.Contains(err.Error(), "no study of the ledger") {
		t.Errorf("OfStudy: %v", err)
	}
	rows, err := LedgerEvidence(t.Context(), at, func(err error) { t.Errorf("doubt: %v", err) })
	if err != nil || len(rows) == 0 {
		t.Errorf("what ships with linerate: %d rows, %v", len(rows), err)
	}
	if _, err := os.Stat(filepath.Dir(at)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a reader made %s", filepath.Dir(at))
	}
}

// TestOpenMakesOne, which readers find, and what f says is what its caller hears.
func TestOpenMakesOne(t *testing.T) {
	at := filepath.Join(t.TempDir(), "below", "ledger.db")
	if err := WithLedger(t.Context(), at, func(ledger.Store) error { return nil }); err != nil {
		t.Fatal(err)
	}
	mine := errors.New("mine")
	for what, err := range map[string]error{
		"With": WithLedger(t.Context(), at, func(ledger.Store) error { return mine }), "Read": ReadLedger(t.Context(), at, func(ledger.Reader) error { return mine }),
	} {
		if !errors.Is(err, mine) || hint.Of(err) != "" {
			t.Errorf("%s: %v (%s)", what, err, hint.Of(err))
		}
	}
	err := WithLedger(t.Context(), at, func(ledger.Store) error { return ledger.ErrFull })
	if !errors.Is(err, ledger.ErrFull) || !strings.Contains(hint.Of(err), "what was acknowledged is kept") {
		t.Errorf("a full disk: %v (%s)", err, hint.Of(err))
	}
	_ = ReadLedger(t.Context(), at, func(r ledger.Reader) error {
		if _, writes := r.(ledger.Store); writes {
			t.Error("who reads could write")
		}
		return nil
	})
	r, err := ReadOnlyLedger(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	err = LedgerOfStudy(t.Context(), at, "nosuch", func(ledger.Reader, *ledger.Study) error { t.Error("found"); return nil })
	if err == nil || !hint.IsUsage(err) || !strings.Contains(hint.Of(err), "ledger show") {
		t.Errorf("no such study: %v", err)
	}
}

// TestBrokenLedger: one that somebody named and that cannot be read is an error; the user's own by
// default is a doubt, and what ships stands without it.
func TestBrokenLedger(t *testing.T) {
	at := filepath.Join(t.TempDir(), "ledger.db")
	if err := os.WriteFile(at, []byte(strings.Repeat("no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if rows, err := LedgerEvidence(t.Context(), at, func(err error) { t.Errorf("doubt: %v", err) }); err == nil {
		t.Errorf("a broken ledger that was named: %d rows", len(rows))
	}
	t.Setenv(ledger.EnvLedger, at)
	var doubts []error
	rows, err := LedgerEvidence(t.Context(), "", func(err error) { doubts = append(doubts, err) })
	if err != nil || len(rows) == 0 || len(doubts) != 1 || !strings.Contains(doubts[0].Error(), "no evidence from your ledger") {
		t.Errorf("%d rows, %v, doubts %v", len(rows), err, doubts)
	}
	lines, err := LedgerLines(t.Context(), "", "net.ipv4.tcp_rmem", func(err error) { doubts = append(doubts, err) })
	if err != nil || len(lines) != 0 || len(doubts) != 2 {
		t.Errorf("%v, %v, doubts %v", lines, err, doubts)
	}
}

// TestNoServer: a database that is not there is an error that says what to look at, without the
// password.
func TestNoServer(t *testing.T) {
	url := "postgres://u:geheim@127.0.0.1:1/x?connect_timeout=1"
	open := func(f func(context.Context) error) error { return f(t.Context()) }
	for what, err := range map[string]error{
		"Open":     open(func(ctx context.Context) error { _, err := OpenLedger(ctx, url); return err }),
		"ReadOnly": open(func(ctx context.Context) error { _, err := ReadOnlyLedger(ctx, url); return err }),
	} {
		if err == nil || hint.Of(err) == "" || strings.Contains(err.Error()+hint.Of(err), "geheim") {
			t.Errorf("%s: %v (%s)", what, err, hint.Of(err))
		}
	}
	if _, err := OpenLedger(t.Context(), "mysql://x"); !hint.IsUsage(err) {
		t.Errorf("another kind of place: %v", err)
	}
}
