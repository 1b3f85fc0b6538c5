package netbenches_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/imports/netbenches"
	"linerate/imports/netbenches/nbtest"
	"linerate/internal/ledger"
	"linerate/internal/stats/ministat"
)

// tree is an archive under construction.
type tree struct {
	t    *testing.T
	root string
}

func newTree(t *testing.T) *tree { return &tree{t, t.TempDir()} }

func (w *tree) write(path, text string) {
	w.t.Helper()
	full := filepath.Join(w.root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// rates is a log's rows around a rate.
func rates(rate int) []int {
	out := make([]int, 60)
	for i := range out {
		out[i] = rate + (i*7)%11
	}
	return out
}

// series writes five trials of a variant and returns their medians in the
// order of ls.
func (w *tree) series(dir, key string, base int) []float64 {
	var out []float64
	for i := range 5 {
		rows := rates(base + 13*i*i)
		prefix := fmt.Sprintf("%s/bench.%s.%d.", dir, key, i+1)
		w.write(prefix+"receiver", string(nbtest.Receiver(rows)))
		w.write(prefix+"sender", string(nbtest.Sender(rates(1_488_000))))
		out = append(out, nbtest.Median(rows))
	}
	w.write(dir+"/bench."+key+".info", "IMAGE=\"\"\nCFG=\""+key+"\"\nPKTGEN=\"\"\nUNAME=\"FreeBSD dut 14.1-RELEASE x amd64\"")
	return out
}

func (w *tree) readme(dir string, sets ...ministat.Set) {
	text := ministat.Write(sets, ministat.New)
	w.write(dir+"/README.md", "# What it does\n\n```\n"+string(text)+"```\n")
}

func (w *tree) load() *netbenches.Tree {
	w.t.Helper()
	tree, err := netbenches.Read(w.t.Context(), w.root, netbenches.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	return tree
}

func (w *tree) check() *netbenches.Check {
	tree := w.load()
	return netbenches.CheckReadmes(tree, netbenches.NewIndex(tree))
}

const topic = "Some_CPU_4Cores/Intel_i210AT/thing"

// TestRowsAreMatchedByNumbers: labels lie, and logs lie elsewhere.
func TestRowsAreMatchedByNumbers(t *testing.T) {
	w := newTree(t)
	a := w.series(topic+"/results/one/RAW", "on.11.0", 500_000)
	b := w.series(topic+"/results/two", "off", 510_000)
	c := w.series(topic+"/result/typo/RAW.8rx", "deep", 520_000)
	w.readme(topic+"/results/three", ministat.Set{Name: "off.pps", Points: a}, ministat.Set{Name: "../one/on", Points: b}, ministat.Set{Name: "prose: what we saw", Points: c})
	got := w.check()
	if !got.Readmes[0].Reproduced || got.Totals.Rows != 3 || got.Totals.RowsFromRaw != 3 || got.Totals.ReproducedInFolder != 0 {
		t.Errorf("%+v", got)
	}
	if s := got.Readmes[0].Detail[0].Rows[0].Source; !strings.Contains(s, "one/RAW/bench.on.11.0") {
		t.Errorf("the first row was found at %s", s)
	}
}

// TestWhyNot: each way in which a README is not reproduced is distinguished.
func TestWhyNot(t *testing.T) {
	dir := topic + "/results/l"
	ref := func(w *tree) ministat.Set { return ministat.Set{Name: "a", Points: w.series(dir, "a", 500_000)} }
	list := func(v []float64) string {
		var b strings.Builder
		for _, x := range v {
			fmt.Fprintf(&b, "%.8g\n", x)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, says string
		make       func(w *tree)
	}{
		{"outlier deleted", "4 values stand against 5 usable logs", func(w *tree) {
			v := w.series(dir, "b", 510_000)[1:]
			w.write(dir+"/b.pps", list(v))
			w.readme(dir, ref(w), ministat.Set{Name: "b", Points: v})
		}},
		{"overwritten", "1 of its 5 values differ", func(w *tree) {
			v := w.series(dir, "b", 510_000)
			w.write(dir+"/b.pps", list(v))
			w.readme(dir, ref(w), ministat.Set{Name: "b", Points: v})
			w.write(dir+"/bench.b.1.receiver", string(nbtest.Receiver(rates(400_000))))
		}},
		{"no logs", "no logs of it are here", func(w *tree) {
			v := []float64{510_001, 510_002, 510_003, 510_004, 510_009}
			w.write(dir+"/b.pps", list(v))
			w.readme(dir, ref(w), ministat.Set{Name: "b", Points: v})
		}},
		{"nothing", "no logs here give these numbers", func(w *tree) {
			w.readme(dir, ref(w), ministat.Set{Name: "b", Points: []float64{1, 2, 3, 4, 5}})
		}},
		{"changed verdict", "verdict", func(w *tree) {
			w.readme(dir, ref(w), ministat.Set{Name: "b", Points: w.series(dir, "b", 510_000)})
			w.edit(dir+"/README.md", "Difference at 95.0% confidence", "No difference proven at 95.0% confidence")
		}},
		{"changed difference", "printed", func(w *tree) {
			w.readme(dir, ref(w), ministat.Set{Name: "b", Points: w.series(dir, "b", 510_000)})
			w.edit(dir+"/README.md", "% +/- 0.0", "% +/- 0.1")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTree(t)
			c.make(w)
			got := w.check().Readmes
			if len(got) != 1 || got[0].Reproduced || len(got[0].Reasons) == 0 {
				t.Fatalf("%+v", got)
			}
			if c.says != "printed" && !strings.Contains(got[0].Reasons[0], c.says) {
				t.Errorf("reason %q, want %q in it", got[0].Reasons, c.says)
			}
		})
	}
}

func (w *tree) edit(path, old, text string) {
	full := filepath.Join(w.root, filepath.FromSlash(path))
	data, err := os.ReadFile(full)
	if err != nil || !strings.Contains(string(data), old) {
		w.t.Fatalf("%s holds no %q (%v)", path, old, err)
	}
	w.write(path, strings.Replace(string(data), old, text, 1))
}

// TestUnusable: iterations that left no row are skipped in the reduction and
// invalid as trials, with what the tool said.
func TestUnusable(t *testing.T) {
	w := newTree(t)
	dir := topic + "/results/l"
	v := w.series(dir, "a", 500_000)
	w.write(dir+"/bench.a.2.receiver", "CMD: pkt-gen -f rx\n1.0 main_thread [1] ouch, thread 0 exited with error\n")
	w.write(dir+"/bench.a.3.receiver", "")
	w.write(dir+"/bench.a.4.sender", "stty: stdin isn't a terminal\n")
	w.write(dir+"/a.pps", fmt.Sprintf("%.8g\n%.8g\n%.8g\n", v[0], v[3], v[4]))
	tree := w.load()
	if p := netbenches.CheckReadmes(tree, netbenches.NewIndex(tree)).Pps; p.Skipped != 1 || p.Exact != 0 {
		t.Errorf("stored reductions %+v", p)
	}
	im := netbenches.NewImport(tree, time.Unix(0, 0))
	var trials []ledger.Trial
	if err := im.Batches(func(b *ledger.Batch) error { trials = b.Trials; return nil }); err != nil {
		t.Fatal(err)
	}
	reasons := map[int]string{}
	for _, tr := range trials {
		reasons[tr.Block] = fmt.Sprint(tr.Valid, tr.Reasons, tr.Flags)
	}
	for block, want := range map[int]string{1: "true", 2: "ouch, thread 0", 3: "the receiver's log is empty", 4: netbenches.FlagNoSender} {
		if !strings.Contains(reasons[block], want) {
			t.Errorf("trial %d: %s; want %q", block, reasons[block], want)
		}
	}
	if len(tree.Unread()) != 2 {
		t.Errorf("unread %+v", tree.Unread())
	}
}

// TestGeneratorBound: where all that is sent arrives, nothing is said of the
// device under test.
func TestGeneratorBound(t *testing.T) {
	w := newTree(t)
	dir := topic + "/results/l"
	for _, k := range []string{"default", "tuned"} {
		w.series(dir, k, 1_487_000)
	}
	im := netbenches.NewImport(w.load(), time.Unix(0, 0))
	err := im.Batches(func(b *ledger.Batch) error {
		for _, tr := range b.Trials {
			if !slices.Contains(tr.Flags, netbenches.FlagGenerator) || tr.Metrics[netbenches.MetricLoss] > 0.01 {
				t.Errorf("trial %+v", tr)
			}
		}
		if len(b.Verdicts) != 1 || b.Verdicts[0].Verdict != "invalid" {
			t.Errorf("verdicts %+v", b.Verdicts)
		}
		return nil
	})
	if err != nil || im.Totals.GeneratorBound != 10 {
		t.Errorf("%+v, %v", im.Totals, err)
	}
}

// TestSeveralSenders: what was offered is what all of them sent.
func TestSeveralSenders(t *testing.T) {
	w := newTree(t)
	dir := topic + "/results/l"
	w.series(dir, "a", 500_000)
	w.write(dir+"/bench.a.1.sender_gen2", string(nbtest.Sender(rates(1_000_000))))
	w.write(dir+"/bench.a.1.sender_gen2_2", "")
	im := netbenches.NewImport(w.load(), time.Unix(0, 0))
	err := im.Batches(func(b *ledger.Batch) error {
		for _, tr := range b.Trials {
			if got := tr.Metrics[netbenches.MetricOffered]; tr.Block == 1 && (got < 2_487_000 || got > 2_489_000) {
				t.Errorf("offered %g by two senders", got)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestHostileTree: nothing outside is read, no key, nothing endless.
func TestHostileTree(t *testing.T) {
	w := newTree(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.series(topic+"/results/l", "a", 500_000)
	for path, target := range map[string]string{"/results/l/x.pps": secret, "/results/loop": "..", "/results/l/bench.b.1.receiver": "/dev/zero"} {
		if err := os.Symlink(target, filepath.Join(w.root, topic+path)); err != nil {
			t.Fatal(err)
		}
	}
	w.write(topic+"/configs/a/etc/ssl/host.key", "-----BEGIN")
	w.write(topic+"/results/l/bench.a.info", "CFG=\"$(id)\"\n")
	w.write(topic+"/results/l/y.pps", strings.Repeat("9", 400<<10))
	tree := w.load()
	why := map[string]string{}
	for _, f := range tree.Unread() {
		why[filepath.Base(f.Path)] = f.Problem
		if f.SHA256 != "" && f.Role == netbenches.RoleSecret {
			t.Errorf("%s was read", f.Path)
		}
	}
	for name, want := range map[string]string{"x.pps": "not followed", "loop": "not followed", "bench.b.1.receiver": "not followed", "host.key": "may hold a key", "bench.a.info": "shell expansion"} {
		if !strings.Contains(why[name], want) {
			t.Errorf("%s: %q, want %q", name, why[name], want)
		}
	}
}

// TestSecondReadingIsTheSame: reading twice gives the same entries, whatever
// the order in which workers read.
func TestSecondReadingIsTheSame(t *testing.T) {
	dir := t.TempDir()
	if err := nbtest.Write(dir, nbtest.Options{Studies: 6, Variants: 3, Trials: 12, Rows: 40, Profile: 100, Seed: 3}); err != nil {
		t.Fatal(err)
	}
	digest := func(workers int) string {
		tree, err := netbenches.Read(t.Context(), dir, netbenches.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		im := netbenches.NewImport(tree, time.Unix(0, 0))
		if c := im.Check(); c.Totals.Reproduced != 6 || c.Pps.Exact != 18 {
			t.Errorf("a made-up archive is not reproduced: %+v %+v", c.Totals, c.Pps)
		}
		err = im.Batches(func(b *ledger.Batch) error {
			rows, err := b.Rows()
			e := ledger.Seal(b, rows, ledger.Entry{})
			all.WriteString(b.Ref + e.Hash + "\n")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all.String()
	}
	if a, b := digest(1), digest(7); a != b {
		t.Errorf("two readings differ:\n%s\n%s", a, b)
	}
}
