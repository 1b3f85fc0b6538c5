package accesslog

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
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

// TestRotatedSet reads a set in the order of a shell's glob: newest name
// first, compressed in two ways.
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
	tally, _, err := Read(context.Background(), paths, nil, o, nil)
	if err != nil || tally.Lines != 3000 || tally.Selected != selected || tally.Under[0] != under {
		t.Fatalf("lines %d, selected %d, under %d (%v); want 3000, %d, %d", tally.Lines, tally.Selected, tally.Under[0], err, selected, under)
	}
	// The last 1,200 lines end in the plain files and begin in a compressed one.
	o = &Options{Last: 1800}
	tally, _, err = Read(context.Background(), paths, nil, o, nil)
	want, _, err2 := Read(context.Background(), []string{"-"}, bytes.NewReader(part(1200, 3000)), &Options{}, nil)
	if err != nil || err2 != nil || tally.Lines != 1800 || tally.Sum != want.Sum {
		t.Errorf("last 1800: lines %d, sum %d (%v, %v); want 1800, %d", tally.Lines, tally.Sum, err, err2, want.Sum)
	}
	if got, want := OrderRotated(paths), []string{"access.log.10.zst", "access.log.2.gz", "access.log.1", "access.log"}; filepath.Base(got[0]) != want[0] || filepath.Base(got[3]) != want[3] {
		t.Errorf("order %v, want %v", got, want)
	}
}

func TestTruncatedArchiveCountsWhatItHolds(t *testing.T) {
	log, _, _ := synthetic(20000, 9)
	data := gz(t, log)
	p := write(t, "a.gz", data[:len(data)/2])
	tally, _, err := Read(context.Background(), []string{p}, nil, &Options{}, nil)
	if err == nil || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("error %v, want one that says the archive is cut", err)
	}
	if tally == nil || tally.Selected < 1000 {
		t.Error("what could be read was thrown away")
	}
}

// TestMergeIsExact: summaries of parts add up to the summary of the whole.
func TestMergeIsExact(t *testing.T) {
	log, _, _ := synthetic(9000, 3)
	lines := bytes.SplitAfter(log, []byte{'\n'})
	under := []time.Duration{100 * time.Millisecond, time.Second}
	read := func(b []byte) *Summary {
		tally, _, err := Read(context.Background(), []string{"-"}, bytes.NewReader(b), &Options{Under: under}, nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(tally.Summary([]string{"x"}))
		if err != nil {
			t.Fatal(err)
		}
		s, err := ReadSummary("x", bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	whole := read(log)
	merged, _, err := MergeSummaries([]*Summary{read(bytes.Join(lines[:100], nil)), read(bytes.Join(lines[100:7000], nil)), read(bytes.Join(lines[7000:], nil))})
	if err != nil {
		t.Fatal(err)
	}
	merged.Sources = whole.Sources
	if fmt.Sprintf("%.9f", merged.Mean) == fmt.Sprintf("%.9f", whole.Mean) {
		merged.Mean = whole.Mean
	}
	if !reflect.DeepEqual(merged, whole) {
		t.Errorf("merged\n%+v\nwhole\n%+v", merged, whole)
	}
}

func FuzzReadSummary(f *testing.F) {
	f.Add([]byte(`{"version":1,"lines":2,"selected":1,"bin_seconds":0.1,"bins":[{"from":0,"to":0.1,"count":1}],"histogram":{"unit":"us","counts":[[5,1]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ReadSummary("fuzz", bytes.NewReader(data))
		if err != nil {
			return
		}
		if _, _, err := MergeSummaries([]*Summary{s, s}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestFollow: appended, rotated, cut short; every line is counted once.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "access.log")
	line := `h - - [10/Oct/2025:13:55:36 +0200] "GET / HTTP/1.1" 200 5 "-" "ua" 0.100` + "\n"
	add := func(text string) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	add(line + line)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	step := 0
	tally, _, err := Follow(ctx, path, &Options{}, 50*time.Millisecond, func(s *Tally) error {
		switch {
		case step == 0 && s.Lines == 2:
			add(line[:20])
			step++
		case step == 1:
			add(line[20:])
			step++
		case step == 2 && s.Lines == 3:
			if err := os.Rename(path, path+".1"); err != nil {
				t.Fatal(err)
			}
			add(line)
			step++
		case step == 3 && s.Lines == 4:
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
			step++
		case step == 4:
			add(line)
			step++
		case step == 5 && s.Lines == 5:
			cancel()
		}
		return nil
	})
	if err != nil || tally.Lines != 5 || tally.Selected != 5 || tally.BadLines() != 0 {
		t.Errorf("step %d: lines %d, selected %d, bad %d, %v; want 5, 5, 0", step, tally.Lines, tally.Selected, tally.BadLines(), err)
	}
}

// correlated makes a log whose latency drifts slowly: neighbouring requests
// are alike. mean is in ms.
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

// TestCompareRespectsAutocorrelation: logs of one process must not differ
// much more often than the interval says, though their requests are alike.
func TestCompareRespectsAutocorrelation(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	read := func(mean float64) *Tally {
		tally, _, err := Read(context.Background(), []string{"-"}, strings.NewReader(correlated(r, 12000, mean)),
			&Options{Timeline: true, Under: []time.Duration{100 * time.Millisecond}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return tally
	}
	const rounds = 24
	false1 := 0
	for i := range rounds {
		if Compare("a", read(80), "b", read(80), uint64(i)).Differences[0].Different {
			false1++
		}
	}
	if false1 > 6 {
		t.Errorf("%d of %d comparisons of like logs show a difference; 5 %% should", false1, rounds)
	}
	c := Compare("slow", read(160), "fast", read(40), 1)
	if d := c.Differences[0]; !d.Different || d.Delta < 20 || !strings.Contains(c.Sentence, "points more") {
		t.Errorf("four times faster is not seen: %+v %s", d, c.Sentence)
	}
}
