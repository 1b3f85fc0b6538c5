package accesslog

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

func gz(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestRotatedSet reads the files of a set, compressed in two ways.
func TestRotatedSet(t *testing.T) {
	log, selected, under := synthetic(3000, 5)
	lines := bytes.SplitAfter(log, []byte{'\n'})
	part := func(a, b int) []byte { return bytes.Join(lines[a:b], nil) }
	dir := t.TempDir()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"access.log": part(2000, 3000), "access.log.1": part(1500, 2000),
		"access.log.2.gz": gz(t, part(500, 1500)), "access.log.10.zst": z.EncodeAll(part(0, 500), nil),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "access.log*"))
	o := &Options{Filter: only200(t), Under: []time.Duration{100 * time.Millisecond}}
	tally, _, err := Read(context.Background(), paths, nil, o)
	if err != nil || tally.Lines != 3000 || tally.Selected != selected || tally.Under[0] != under {
		t.Fatalf("lines %d, selected %d, under %d (%v); want 3000, %d, %d", tally.Lines, tally.Selected, tally.Under[0], err, selected, under)
	}
}

func TestTruncatedArchiveCountsWhatItHolds(t *testing.T) {
	log, _, _ := synthetic(20000, 9)
	data := gz(t, log)
	p := write(t, "a.gz", data[:len(data)/2])
	tally, _, err := Read(context.Background(), []string{p}, nil, &Options{})
	if err == nil || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("error %v, want one that says the archive is cut", err)
	}
	if tally == nil || tally.Selected < 1000 {
		t.Error("what could be read was thrown away")
	}
}

// correlated returns a log whose latency drifts slowly: neighbouring requests are alike. mean is in
// ms.
func correlated(r *rand.Rand, n int, mean float64) string {
	var b strings.Builder
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	level := r.NormFloat64()
	for i := range n {
		level = 0.995*level + 0.0999*r.NormFloat64() // AR(1), unit variance
		ms := mean * (1 + 0.3*level) * r.ExpFloat64()
		fmt.Fprintf(&b, "h - - [%s] \"GET / HTTP/1.1\" 200 5 \"-\" \"ua\" %.3f\n", at.Add(time.Duration(i)*time.Second).Format("02/Jan/2006:15:04:05 -0700"), max(ms, 0)/1000)
	}
	return b.String()
}

// TestCompareRespectsAutocorrelation: logs of one process must not differ much more often than the
// interval's level allows, although their requests are correlated.
func TestCompareRespectsAutocorrelation(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	read := func(mean float64) *Tally {
		tally, _, err := Read(context.Background(), []string{"-"}, strings.NewReader(correlated(r, 12000, mean)),
			&Options{Timeline: true, Under: []time.Duration{100 * time.Millisecond}})
		if err != nil {
			t.Fatal(err)
		}
		return tally
	}
	const rounds = 24
	false1 := 0
	for range rounds {
		if Compare("a", read(80), "b", read(80)).Differences[0].Different {
			false1++
		}
	}
	if false1 > 5 {
		t.Errorf("%d of %d comparisons of like logs show a difference; 5 %% should", false1, rounds)
	}
	c := Compare("slow", read(160), "fast", read(40))
	if d := c.Differences[0]; !d.Different || d.Delta < 20 || !strings.Contains(c.Sentence, "points more") {
		t.Errorf("four times faster is not seen: %+v %s", d, c.Sentence)
	}
}
