package accesslog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"linerate/internal/hint"
)

// goodLine is one request of so many ms.
func goodLine(ms int) string {
	return fmt.Sprintf("h - - [10/Oct/2025:12:00:00 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"ua\" %d.%03d\n", ms/1000, ms%1000)
}

// timed is the format of goodLine.
func timed(t testing.TB) *Format {
	t.Helper()
	f, err := ParseFormat(nginxCombined + " $request_time")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// followed is a follower of a new file, with what it feeds.
func followed(t *testing.T) (f *follower, w *worker, put func(text string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "access.log")
	put = func(text string) {
		t.Helper()
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	put("")
	f = &follower{path: path}
	if err := f.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.file.Close() })
	return f, newWorker(&Options{Format: timed(t)}), put
}

// TestFollower: a line counts once it is whole, whichever file it ends up in.
func TestFollower(t *testing.T) {
	f, w, put := followed(t)
	drained := func(what string, lines, selected int64) {
		t.Helper()
		if err := f.drain(w); err != nil {
			t.Fatal(err)
		}
		if w.tally.Lines != lines || w.tally.Selected != selected {
			t.Errorf("%s: %d lines, %d selected; want %d, %d", what, w.tally.Lines, w.tally.Selected, lines, selected)
		}
	}
	line := goodLine(5)
	drained("nothing yet", 0, 0)
	put(line + line[:30])
	drained("a line and a half", 1, 1)
	put(line[30:])
	drained("its other half", 2, 2)
	drained("nothing new", 2, 2)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Rename(f.path, f.path+".1"))
	drained("moved away, no successor yet", 2, 2)
	put(line)
	drained("the successor is opened", 2, 2)
	drained("and read", 3, 3)
	must(os.Truncate(f.path, 0))
	put(line[:40])
	drained("cut short in place", 3, 3)
	put(line[40:])
	drained("and written anew", 4, 4)
	put(strings.Repeat(line, 5000)) // more than one buffer
	drained("a flood", 5004, 5004)
	must(os.Remove(f.path))
	drained("removed", 5004, 5004)
	put(line)
	drained("made anew", 5004, 5004)
	drained("and read", 5005, 5005)
}

// TestFollowerSkipsALongLine: what is longer than a line may be is one bad line, its end
// is no other line, and what follows is read.
func TestFollowerSkipsALongLine(t *testing.T) {
	f, w, put := followed(t)
	put(goodLine(1) + strings.Repeat("x", MaxLine+100))
	for range 3 {
		if err := f.drain(w); err != nil {
			t.Fatal(err)
		}
		put(strings.Repeat("y", 1<<20))
	}
	put(goodLine(2) + goodLine(3))
	if err := f.drain(w); err != nil {
		t.Fatal(err)
	}
	if w.tally.Lines != 3 || w.tally.Selected != 2 || w.tally.Bad[TooLong] != 1 || w.tally.Max != 3000 {
		t.Errorf("%d lines, %d selected, bad %v, up to %d µs; want 3, 2, one too long, 3000", w.tally.Lines, w.tally.Selected, w.tally.Bad, w.tally.Max)
	}
}

// fileSource is a log on disk.
func fileSource(t *testing.T, text string) *source {
	t.Helper()
	s, err := open(write(t, "a.log", []byte(text)), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// TestLastLines: a file read backwards and a stream kept in a ring end in the same lines,
// with a newline at the end and without one.
func TestLastLines(t *testing.T) {
	var long strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&long, "line %d %s\n", i, strings.Repeat("z", i%40))
	}
	for name, text := range map[string]string{
		"empty": "", "one": "a\n", "open end": "a\nb", "three": "a\nb\nc\n", "blank ones": "\n\na\n\n", "only newlines": "\n\n\n", "several buffers": long.String(),
	} {
		lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
		if text == "" {
			lines = nil
		}
		for _, n := range []int{1, 2, 3, 4, 100, 8999, 9000, 20_000} {
			want := strings.Join(lines[max(0, len(lines)-n):], "")
			s := fileSource(t, text)
			from, got, err := tailOffset(s, n)
			if err != nil || strings.TrimSuffix(text[from:], "\n") != want || got != min(n, len(lines)) {
				t.Errorf("%s, last %d of a file: from %d, %d lines, %v; want %d", name, n, from, got, err, min(n, len(lines)))
			}
			stream, err := openStream("x", strings.NewReader(text), func() {})
			if err != nil {
				t.Fatal(err)
			}
			b, got, err := lastLines(t.Context(), stream, n)
			if err != nil || strings.TrimSuffix(string(b), "\n") != want || got != min(n, len(lines)) {
				t.Errorf("%s, last %d of a stream: %d lines, %v: %.40q; want %.40q", name, n, got, err, b, want)
			}
		}
	}
}

// TestLastLinesKnowALongOne: a line beyond the bound is as bad at the end of a stream as
// anywhere else, wherever the reader's buffers cut it.
func TestLastLinesKnowALongOne(t *testing.T) {
	for _, n := range []int{MaxLine - 1, MaxLine, MaxLine + 1, MaxLine + sampleSize, MaxLine + sampleSize + 1, 3*MaxLine + 17} {
		o := &Options{Format: timed(t), Last: 2}
		long := strings.TrimSuffix(goodLine(1), "\n")
		long = strings.Replace(long, `"ua"`, `"`+strings.Repeat("u", n-len(long)+2)+`"`, 1)
		if len(long) != n {
			t.Fatalf("a line of %d bytes, want %d", len(long), n)
		}
		tally, _, err := Read(t.Context(), []string{"-"}, strings.NewReader(goodLine(9)+long+"\n"+goodLine(2)), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tooLong := n > MaxLine; tally.Lines != 2 || (tally.Bad[TooLong] == 1) != tooLong || tally.BadLines() != tally.Bad[TooLong] || tally.Max != 2000 {
			t.Errorf("%d bytes: %d lines, bad %v, up to %d µs", n, tally.Lines, tally.Bad, tally.Max)
		}
	}
}

// TestLastOfASet: the last lines may begin in an older log of the set.
func TestLastOfASet(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i, text := range []string{goodLine(1) + goodLine(2), goodLine(3) + goodLine(4), goodLine(5)} {
		p := filepath.Join(dir, "access.log."+strconv.Itoa(2-i))
		if i == 2 {
			p = filepath.Join(dir, "access.log")
		}
		data := []byte(text)
		if i == 0 {
			data = gzipped(t, text)
		}
		if err := os.WriteFile(p, data, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	for n, least := range map[int]int64{1: 5000, 2: 4000, 3: 3000, 4: 2000, 5: 1000, 9: 1000} {
		tally, _, err := Read(t.Context(), paths, nil, &Options{Format: timed(t), Last: n}, nil)
		if err != nil || tally.Selected != int64(min(n, 5)) || tally.Min != least || tally.Max != 5000 {
			t.Errorf("last %d: %d requests, %d to %d µs, %v", n, tally.Selected, tally.Min, tally.Max, err)
		}
	}
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstded(t *testing.T, text string) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return z.EncodeAll([]byte(text), nil)
}

// TestSources: what a log is compressed with is told by its first bytes, and the sample
// for the detection consumes nothing.
func TestSources(t *testing.T) {
	log := strings.Repeat(goodLine(7), 3000)
	for name, data := range map[string][]byte{
		"plain.gz": []byte(log), "packed.log": gzipped(t, log), "packed.txt": zstded(t, log), "twice.gz": append(gzipped(t, log[:len(goodLine(7))*1000]), gzipped(t, log[len(goodLine(7))*1000:])...),
	} {
		path := write(t, name, data)
		for _, from := range []string{path, "-"} {
			tally, _, err := Read(t.Context(), []string{from}, bytes.NewReader(data), &Options{}, nil)
			if err != nil || tally.Lines != 3000 || tally.Selected != 3000 || tally.Bytes != int64(len(log)) {
				t.Errorf("%s from %s: %d lines, %d bytes, %v", name, filepath.Base(from), tally.Lines, tally.Bytes, err)
			}
		}
	}
}

// TestSourcesRefused: each failure says which log, and what may help.
func TestSourcesRefused(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		path       string
		says, hint string
	}{
		"not there":     {filepath.Join(dir, "none.log"), "none.log: no such file", ""},
		"a directory":   {dir, "is a directory", "access.log*"},
		"empty":         {write(t, "empty.log", nil), "empty.log is empty", ""},
		"broken gzip":   {write(t, "x.gz", []byte{0x1f, 0x8b, 9, 9, 9}), "x.gz", ""},
		"not a log":     {write(t, "prose.txt", []byte("it was\na dark night\n")), "prose.txt: no request time was found", "format"},
		"broken zstd":   {write(t, "x.zst", append([]byte{0x28, 0xb5, 0x2f, 0xfd}, "no frame"...)), "x.zst", ""},
		"cut-off magic": {write(t, "y.gz", []byte{0x1f, 0x8b}), "y.gz", ""},
	} {
		_, _, err := Read(t.Context(), []string{c.path}, nil, &Options{}, nil)
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(hint.Of(err), c.hint) {
			t.Errorf("%s: %v (hint %q), want %q", name, err, hint.Of(err), c.says)
		}
	}
	// One empty log among others is none that stops them.
	tally, _, err := Read(t.Context(), []string{write(t, "a.log", nil), write(t, "b.log", []byte(goodLine(1)))}, nil, &Options{}, nil)
	if err != nil || tally.Selected != 1 {
		t.Errorf("an empty log beside a good one: %v", err)
	}
}

func TestReadIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	log := strings.Repeat(goodLine(1), 20_000)
	for _, last := range []int{0, 5} {
		stream, err := openStream("x", strings.NewReader(log), func() {})
		if err != nil {
			t.Fatal(err)
		}
		if last > 0 {
			if _, _, err := lastLines(ctx, stream, last); !errors.Is(err, context.Canceled) {
				t.Errorf("last lines: %v", err)
			}
			continue
		}
		p := &pool{tasks: make(chan task), free: make(chan []byte, 1)}
		if err := p.stream(ctx, stream); !errors.Is(err, context.Canceled) {
			t.Errorf("stream: %v", err)
		}
	}
}

// TestWholeLines: the last line of a whole log may lack its newline, that of a sample is
// only a part.
func TestWholeLines(t *testing.T) {
	for _, c := range []struct {
		in    string
		whole bool
		want  string
	}{{"a\nb", true, "a\nb\n"}, {"a\nb", false, "a\nb"}, {"a\n", true, "a\n"}, {"", true, ""}} {
		if got := string(wholeLines([]byte(c.in), c.whole)); got != c.want {
			t.Errorf("%q, %v: %q", c.in, c.whole, got)
		}
	}
	many := fileSource(t, strings.Repeat(goodLine(1), 5000))
	sample, err := many.sample()
	if err != nil || len(sample) != sampleSize {
		t.Errorf("a sample of %d bytes, %v", len(sample), err)
	}
	if n := len(sampleLines(sample)); n != 200 {
		t.Errorf("%d sample lines, want at most 200 whole ones", n)
	}
	short := &source{name: "x", peek: bufio.NewReaderSize(strings.NewReader("a"), sampleSize)}
	for range 2 {
		if b, err := short.sample(); string(b) != "a\n" || err != nil {
			t.Errorf("%q, %v", b, err)
		}
	}
}
