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
	"linerate/internal/ledger"
	"linerate/internal/stats"
)

// tree is an archive that a test builds.
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

// rates returns a log's rows around a rate.
func rates(rate int) []int {
	out := make([]int, 60)
	for i := range out {
		out[i] = rate + (i*7)%11
	}
	return out
}

// series writes five trials of a variant and returns their medians in the order of ls.
func (w *tree) series(dir, key string, base int) []float64 {
	var out []float64
	for i := range 5 {
		rows := rates(base + 13*i*i)
		prefix := fmt.Sprintf("%s/bench.%s.%d.", dir, key, i+1)
		w.write(prefix+"receiver", string(receiverLog(rows)))
		w.write(prefix+"sender", string(senderLog(rates(1_488_000))))
		out = append(out, scriptMedian(rows))
	}
	w.write(dir+"/bench."+key+".info", "IMAGE=\"\"\nCFG=\""+key+"\"\nPKTGEN=\"\"\nUNAME=\"FreeBSD dut 14.1-RELEASE x amd64\"")
	return out
}

// readme quotes ministat's rows of data sets; the first is the reference.
func (w *tree) readme(dir string, verdict string, sets ...[]float64) {
	var b strings.Builder
	b.WriteString("# What it does\n\n```\n    N           Min           Max        Median           Avg        Stddev\n")
	for i, v := range sets {
		fmt.Fprintf(&b, "%c %3d %13.8g %13.8g %13.8g %13.8g 1.5\n", "x+*"[i], len(v), slices.Min(v), slices.Max(v), stats.Median(v), stats.Mean(v))
		if i > 0 {
			b.WriteString(verdict + "\n")
		}
	}
	w.write(dir+"/README.md", b.String()+"```\n")
}

func (w *tree) load() *netbenches.Tree {
	w.t.Helper()
	return read(w.t, w.root)
}

// read lists and loads a tree.
func read(t *testing.T, dir string) *netbenches.Tree {
	t.Helper()
	tree, err := netbenches.List(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Load(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	return tree
}

// batches returns the entries of a tree.
func batches(t *testing.T, tree *netbenches.Tree) (out []*ledger.Batch, totals netbenches.Totals) {
	t.Helper()
	im := netbenches.NewImport(tree, time.Unix(0, 0))
	if err := im.Batches(func(b *ledger.Batch) error { out = append(out, b); return nil }); err != nil {
		t.Fatal(err)
	}
	return out, im.Totals
}

const topic = "Some_CPU_4Cores/Intel_i210AT/thing"

// TestRowsAreMatchedByNumbers: a README's rows are matched to series by their numbers, also in other folders;
// its reference is the control, and its conclusion is kept with the verdict.
func TestRowsAreMatchedByNumbers(t *testing.T) {
	w := newTree(t)
	a := w.series(topic+"/results/one/RAW", "on.11.0", 500_000)
	b := w.series(topic+"/results/two", "off", 510_000)
	w.series(topic+"/results/two", "deep", 520_000)
	w.readme(topic+"/results/two", "Difference at 95.0% confidence\n\t10000 +/- 30\n\t2% +/- 0.01%\n\t(Student's t, pooled s = 1)", a, b)
	all, totals := batches(t, w.load())
	var across *ledger.Verdict
	for _, batch := range all {
		for i := range batch.Verdicts {
			if v := &batch.Verdicts[i]; v.Published != nil {
				across = v
			}
		}
	}
	if across == nil || across.Control != "one/on.11.0" || across.Variant != "off" || across.EffectPercent.Float() < 1.9 || across.EffectPercent.Float() > 2.1 {
		t.Fatalf("%+v", across)
	}
	if p := across.Published; p.Verdict != "difference" || p.Percent != 2 || p.PercentError != 0.01 || !p.Agrees || p.Source != topic+"/results/two/README.md:4" {
		t.Errorf("%+v", p)
	}
	if totals.Disagree != 0 {
		t.Errorf("%+v", totals)
	}
	w.readme(topic+"/results/two", "No difference proven at 95.0% confidence", b, w.series(topic+"/results/two", "deep", 520_000))
	if _, totals := batches(t, w.load()); totals.Disagree != 1 {
		t.Errorf("a README with another conclusion: %+v", totals)
	}
}

// TestUnusable: iterations without a row are left out of the reduction and are invalid trials, with the tool's
// message.
func TestUnusable(t *testing.T) {
	w := newTree(t)
	dir := topic + "/results/l"
	w.series(dir, "a", 500_000)
	w.write(dir+"/bench.a.2.receiver", "CMD: pkt-gen -f rx\n1.0 main_thread [1] ouch, thread 0 exited with error\n")
	w.write(dir+"/bench.a.3.receiver", "")
	w.write(dir+"/bench.a.4.sender", "stty: stdin isn't a terminal\n")
	tree := w.load()
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

// TestGeneratorBound: if everything sent arrives, the result says nothing about the device under test.
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

// TestSeveralSenders: the offered load is the sum of all senders.
func TestSeveralSenders(t *testing.T) {
	w := newTree(t)
	dir := topic + "/results/l"
	w.series(dir, "a", 500_000)
	w.write(dir+"/bench.a.1.sender_gen2", string(senderLog(rates(1_000_000))))
	w.write(dir+"/bench.a.1.sender_gen2_2", "")
	im := netbenches.NewImport(w.load(), time.Unix(0, 0))
	err := im.Batches(func(b *ledger.Batch) error {
		for _, tr := range b.Trials {
			if got := tr.Metrics[netbenches.MetricOffered]; tr.Block == 1 && (got < 2_487_000 || got > 2_489_000) {
				t.Errorf("two senders offered %g", got)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestHostileTree: files outside, keys, and endless files are not read.
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
	for name, want := range map[string]string{"x.pps": "not followed", "loop": "not followed", "bench.b.1.receiver": "not followed", "host.key": "may hold a key", "bench.a.info": "shell syntax"} {
		if !strings.Contains(why[name], want) {
			t.Errorf("%s: %q, want %q", name, why[name], want)
		}
	}
}

// TestSecondReadingIsTheSame: reading twice gives the same entries, in whatever order workers read.
func TestSecondReadingIsTheSame(t *testing.T) {
	dir := t.TempDir()
	if err := writeArchive(dir, fictitious{Studies: 6, Variants: 3, Trials: 12, Rows: 40, Seed: 3}); err != nil {
		t.Fatal(err)
	}
	digest := func() string {
		var all strings.Builder
		entries, _ := batches(t, read(t, dir))
		for _, b := range entries {
			rows, err := b.Rows()
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString(b.Ref + ledger.Seal(b, rows, ledger.Entry{}).Hash + "\n")
		}
		return all.String()
	}
	if a, b := digest(), digest(); a != b || strings.Count(a, "\n") != 6 {
		t.Errorf("two readings differ:\n%s\n%s", a, b)
	}
}
