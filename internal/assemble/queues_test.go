package assemble

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/queue"
	"linerate/internal/store/storetest"
	"linerate/internal/study"
)

// TestBesideTheLedger: a ledger's file has its queue's beside it.
func TestBesideTheLedger(t *testing.T) {
	for at, want := range map[string]string{"/a/ledger.db": "/a/ledger-queue.db", "/a/ledger": "/a/ledger-queue", "x.y/l.sqlite3": "x.y/l-queue.sqlite3"} {
		if got := queueFile(at); got != want {
			t.Errorf("%s has %s", at, got)
		}
	}
	at := filepath.Join(t.TempDir(), "ledger.db")
	if _, err := ReadOnlyQueue(t.Context(), at); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a queue that is not there: %v", err)
	}
	mine := errors.New("mine")
	if err := WithQueue(t.Context(), at, func(q queue.Queue) error { return errors.Join(mine, q.Brake(t.Context(), "lunch")) }); !errors.Is(err, mine) {
		t.Errorf("%v", err)
	}
	r, err := ReadOnlyQueue(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if why, err := r.Braked(t.Context()); err != nil || why != "lunch" {
		t.Errorf("%q, %v", why, err)
	}
	if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a queue made a ledger: %v", err)
	}
}

func TestNoServerOfAQueue(t *testing.T) {
	_, err := OpenQueue(t.Context(), "postgres://u:geheim@127.0.0.1:1/x?connect_timeout=1", queue.DefaultPatience)
	if err == nil || hint.Of(err) == "" || strings.Contains(err.Error()+hint.Of(err), "geheim") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
}

// TestKeeper: a record that the queue has is one study of the ledger, however often it is taken
// there.
func TestKeeper(t *testing.T) {
	text := []byte(`name: small
question: Does b cost more than a?
seed: 7
interleave: false
variants: [{name: a}, {name: b, settings: [{sysctl: net.ipv4.ip_early_demux, value: 0}]}]
parts:
  - {name: cost, mode: cost, blocks: 5, seconds: 0.2}
metrics: [{metric: forwarding_rate_pps, part: cost, primary: true}]
`)
	spec, err := study.Parse("s1", text)
	if err != nil {
		t.Fatal(err)
	}
	j := queue.Job{Spec: spec, Seed: *spec.Seed, Unit: study.Unit{Part: "cost", Blocks: []int{1, 2, 3, 4, 5}}}
	env := study.Environment{OS: "linux", Kernel: "6.12", CPU: "x", Label: "simulated", Linerate: "test"}
	files, err := queue.MakeRecord(spec, *spec.Seed, text, []queue.BedRecord{{Testbed: "bed", Environment: env}}, storetest.Trials(j, 700))
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "ledger.db")
	keep := Keeper(at)
	var refs []string
	for range 2 {
		ref, err := keep(t.Context(), "s1", files)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	err = ReadLedger(t.Context(), at, func(s ledger.Reader) error {
		all, err := s.Studies(t.Context(), ledger.Filter{})
		if err != nil || len(all) != 1 || refs[0] != refs[1] || refs[0] == "" {
			t.Errorf("%d studies by the names %v, %v", len(all), refs, err)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := keep(t.Context(), "s2", files[1:]); err == nil || !strings.Contains(err.Error(), "queue/s2") {
		t.Errorf("a record without its study: %v", err)
	}
}
