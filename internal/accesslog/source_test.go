package accesslog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
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
			tally, _, err := Read(t.Context(), []string{from}, bytes.NewReader(data), &Options{})
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
		_, _, err := Read(t.Context(), []string{c.path}, nil, &Options{})
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(hint.Of(err), c.hint) {
			t.Errorf("%s: %v (hint %q), want %q", name, err, hint.Of(err), c.says)
		}
	}
	// One empty log among others is none that stops them.
	tally, _, err := Read(t.Context(), []string{write(t, "a.log", nil), write(t, "b.log", []byte(goodLine(1)))}, nil, &Options{})
	if err != nil || tally.Selected != 1 {
		t.Errorf("an empty log beside a good one: %v", err)
	}
}

func TestReadIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	log := strings.Repeat(goodLine(1), 20_000)
	stream, err := openStream("x", strings.NewReader(log), func() {})
	if err != nil {
		t.Fatal(err)
	}
	p := &pool{chunks: make(chan chunk), free: make(chan []byte, 1)}
	if err := p.stream(ctx, stream); !errors.Is(err, context.Canceled) {
		t.Errorf("stream: %v", err)
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
	many := &source{name: "x", stream: bufio.NewReaderSize(strings.NewReader(strings.Repeat(goodLine(1), 5000)), sampleSize)}
	sample, err := many.sample()
	if err != nil || len(sample) != sampleSize {
		t.Errorf("a sample of %d bytes, %v", len(sample), err)
	}
	if n := len(sampleLines(sample)); n != 200 {
		t.Errorf("%d sample lines, want at most 200 whole ones", n)
	}
	short := &source{name: "x", stream: bufio.NewReaderSize(strings.NewReader("a"), sampleSize)}
	for range 2 {
		if b, err := short.sample(); string(b) != "a\n" || err != nil {
			t.Errorf("%q, %v", b, err)
		}
	}
}
