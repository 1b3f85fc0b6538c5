package netbenches_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"linerate/imports/netbenches"
	"linerate/internal/ledger"
	"linerate/internal/store/sqlite"
)

func (w *tree) list() *netbenches.Tree {
	w.t.Helper()
	tree, err := netbenches.List(w.t.Context(), w.root)
	if err != nil {
		w.t.Fatal(err)
	}
	return tree
}

func newLedger(t *testing.T) ledger.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"), sqlite.Owner{UID: -1, GID: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// counting counts the stored files.
type counting struct {
	ledger.Store
	blobs int
}

func (c *counting) Append(ctx context.Context, batches ...*ledger.Batch) (int, error) {
	for _, b := range batches {
		c.blobs += len(b.Blobs)
	}
	return c.Store.Append(ctx, batches...)
}

// TestTake: a tree is imported once, and again if a file changed; the raw files behind the numbers are stored.
func TestTake(t *testing.T) {
	w := newTree(t)
	dir := topic + "/results/l"
	w.series(dir, "a", 500_000)
	w.series(dir, "b", 510_000)
	w.write(dir+"/a.pmc.graph", "@ CPU_CLK [5 samples]\n")
	take := func(s ledger.Store) (int, netbenches.Totals) {
		t.Helper()
		added, of, err := netbenches.Take(t.Context(), s, w.list())
		if err != nil {
			t.Fatal(err)
		}
		return added, of
	}
	s := newLedger(t)
	if added, of := take(s); added != 1 || of.Trials != 10 || of.Verdicts != 1 {
		t.Errorf("first: %d, %+v", added, of)
	}
	if added, of := take(s); added != 0 || of.Files != 23 {
		t.Errorf("second: %d, %+v", added, of)
	}
	w.series(dir, "c", 520_000)
	if added, of := take(s); added != 1 || of.Trials != 15 {
		t.Errorf("after a change: %d, %+v", added, of)
	}
	// 15 logs of a receiver, one of the sender, whose 15 are equal, and 3 .info; not the profile.
	c := &counting{Store: newLedger(t)}
	take(c)
	if c.blobs != 19 {
		t.Errorf("%d files are stored, want 19", c.blobs)
	}
}

// TestPackedBytesAreTheFiles: stored bytes unpack to the file, and the hash is the file's.
func TestPackedBytesAreTheFiles(t *testing.T) {
	w := newTree(t)
	w.series(topic+"/results/l", "a", 500_000)
	w.write(topic+"/results/l/a.pmc.graph", strings.Repeat("@ CPU_CLK [5 samples]\n", 999))
	w.write(topic+"/results/l/prose.txt", "no numbers\n")
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	tree := w.list()
	if err := tree.Load(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	for _, f := range tree.Files {
		used := f.Role != netbenches.RoleProfile && f.Role != netbenches.RoleOther
		if (f.Packed != nil) != used {
			t.Errorf("%s (%s) packed: %v", f.Path, f.Role, f.Packed != nil)
		}
		if f.Packed == nil {
			continue
		}
		got, err := dec.DecodeAll(f.Packed, nil)
		want, readErr := os.ReadFile(filepath.Join(w.root, filepath.FromSlash(f.Path)))
		if err != nil || readErr != nil || string(got) != string(want) || len(f.SHA256) != 64 {
			t.Errorf("%s unpacks to %d bytes of %d, %v, %v", f.Path, len(got), len(want), err, readErr)
		}
	}
}

func TestIsArchive(t *testing.T) {
	for path, want := range map[string]bool{
		"AMD_4Cores/nic/topic/results/l/x":     true,
		"AMD_4cores/nic/topic/result/l/x":      true,
		"topic/results/l/bench.a.1.receiver":   true,
		"results/l/bench.a.1.receiver":         true,
		"results/l/RAW/bench.a.1.receiver":     true,
		"l/bench.a.1.receiver":                 false,
		"etc/rc.conf":                          false,
		"AMD_4Cores/nic/topic/configs/a/etc/x": false,
	} {
		w := newTree(t)
		w.root = filepath.Join(w.root, "a[b*c?")
		w.write(path, "")
		if got := netbenches.IsArchive(w.root); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if netbenches.IsArchive(filepath.Join(t.TempDir(), "none")) {
		t.Error("a folder that is not there is an archive")
	}
}

// TestReadStops: a reading that is broken off leaves nothing half read.
func TestReadStops(t *testing.T) {
	w := newTree(t)
	w.series(topic+"/results/l", "a", 500_000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := netbenches.List(ctx, w.root); !errors.Is(err, context.Canceled) {
		t.Errorf("List: %v", err)
	}
	tree := w.list()
	if err := tree.Load(ctx, false); !errors.Is(err, context.Canceled) || len(tree.Series) != 0 {
		t.Errorf("Load: %v, %d series", err, len(tree.Series))
	}
	if _, err := netbenches.List(t.Context(), filepath.Join(w.root, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// TestChangedFiles: a file that changed since it was listed is not imported.
func TestChangedFiles(t *testing.T) {
	w := newTree(t)
	for _, name := range []string{"longer.pps", "shorter.pps", "gone.pps", "same.pps", "large.pps", "empty.pps", "prose.pps"} {
		w.write("t/results/l/"+name, "1\n2\n")
	}
	w.write("t/results/l/large.pps", strings.Repeat("1\n", 150<<10))
	w.write("t/results/l/empty.pps", "\n")
	w.write("t/results/l/prose.pps", "1 pps\n")
	w.write("t/results/l/README.md", strings.Repeat("# long\n", 1<<20))
	tree := w.list()
	w.write("t/results/l/longer.pps", "1\n2\n3\n")
	w.write("t/results/l/shorter.pps", "1\n")
	if err := os.Remove(filepath.Join(w.root, "t/results/l/gone.pps")); err != nil {
		t.Fatal(err)
	}
	if err := tree.Load(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range tree.Files {
		got[filepath.Base(f.Path)] = string(f.Role) + " " + f.Problem
	}
	for name, want := range map[string]string{
		"longer.pps": "values changed while it was read", "shorter.pps": "values changed while it was read", "gone.pps": "values no such file or directory", "same.pps": "values ",
		"large.pps": "other ", "empty.pps": "values empty", "prose.pps": "other ", "README.md": "readme larger than 4 MiB: not read",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	if len(tree.Reductions) != 1 || tree.Reductions[0].Name != "same" {
		t.Errorf("%d reductions", len(tree.Reductions))
	}
}

// TestVPN: a gateway's series are judged by equilibrium; a search that ended without an estimate is invalid.
func TestVPN(t *testing.T) {
	w := newTree(t)
	dir := topic + "/results/fbsd12.r332390"
	for i, kind := range []string{"aes", "null"} {
		for n := range 4 {
			text := fmt.Sprintf("CMD: equilibrium -4\n- UDP load = 500B, Ethernet frame size=542B\nIteration 1\n - Offering load = 500 Mb/s\n - Measured forwarding rate = %d Mb/s\n", 100*(i+1)+n)
			if n < 3 {
				text += fmt.Sprintf("Estimated Equilibrium Ethernet throughput= %d Mb/s (maximum value seen: 300 Mb/s)\n", 100*(i+1)+n)
			}
			w.write(fmt.Sprintf("%s/bench.%s.%d", dir, kind, n+1), text)
		}
	}
	im := netbenches.NewImport(w.load(), time.Unix(0, 0))
	err := im.Batches(func(b *ledger.Batch) error {
		s, e := b.Studies[0], b.Environments[0]
		if s.Metric != netbenches.MetricEquilibrium || len(b.Trials) != 8 || im.Totals.Invalid != 2 || len(b.Environments) != 1 {
			t.Errorf("%s of %d trials, %d invalid, %d environments", s.Metric, len(b.Trials), im.Totals.Invalid, len(b.Environments))
		}
		if e.Revision != "r332390" || e.Release != "12" || e.Driver != "igb" || e.Cores != 4 {
			t.Errorf("environment %+v", e)
		}
		for _, tr := range b.Trials {
			if tr.Workload != "VPN equilibrium 542 B" || tr.Valid == (tr.Block == 4) {
				t.Errorf("trial %+v", tr)
			}
		}
		v := slices.IndexFunc(b.Verdicts, func(v ledger.Verdict) bool { return v.Metric == netbenches.MetricEquilibrium && v.Unit == "Mb/s" })
		if len(b.Verdicts) != 1 || v < 0 || b.Verdicts[0].Control != "null" || b.Verdicts[0].EffectPercent.Float() > -49 || b.Verdicts[0].EffectPercent.Float() < -51 {
			t.Errorf("verdicts %+v", b.Verdicts)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	if err := netbenches.NewImport(w.load(), time.Unix(0, 0)).Batches(func(*ledger.Batch) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the ledger's error is lost: %v", err)
	}
}
