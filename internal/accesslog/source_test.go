package accesslog

import (
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

// goodLine is a line of one request that took so many ms.
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

// TestSources: the first bytes of a log tell its compression, and detecting the format from a
// sample consumes nothing.
func TestSources(t *testing.T) {
	log := strings.Repeat(goodLine(7), 3000)
	for name, data := range map[string][]byte{
		"plain.gz": []byte(log), "packed.log": gzipped(t, log), "packed.txt": zstded(t, log), "twice.gz": append(gzipped(t, log[:len(goodLine(7))*1000]), gzipped(t, log[len(goodLine(7))*1000:])...),
	} {
		path := write(t, name, data)
		for _, from := range []string{path, "-"} {
			tally, _, err := Read(t.Context(), []string{from}, bytes.NewReader(data), &Options{})
			if err != nil || tally.Lines != 3000 || tally.Selected != 3000 {
				t.Errorf("%s from %s: %d lines, %v", name, filepath.Base(from), tally.Lines, err)
			}
		}
	}
}

// TestSourcesRefused: each error names the log, and says what may help.
func TestSourcesRefused(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		path       string
		says, hint string
	}{
		"not there":     {filepath.Join(dir, "none.log"), "none.log: no such file", ""},
		"a directory":   {dir, "a directory", "access.log*"},
		"empty":         {write(t, "empty.log", nil), "empty.log: the log is empty", ""},
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
	// One empty log does not stop the others.
	tally, _, err := Read(t.Context(), []string{write(t, "a.log", nil), write(t, "b.log", []byte(goodLine(1)))}, nil, &Options{})
	if err != nil || tally.Selected != 1 {
		t.Errorf("an empty log beside a good one: %v", err)
	}
}

func TestReadIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Read(ctx, []string{"-"}, strings.NewReader(strings.Repeat(goodLine(1), 20_000)), &Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestSampleLines: the last line of a whole log may lack its newline, but the last line of a sample
// is incomplete.
func TestSampleLines(t *testing.T) {
	if n := len(sampleLines([]byte(strings.Repeat(goodLine(1), 5000)))); n != 200 {
		t.Errorf("%d sample lines, want at most 200 whole ones", n)
	}
	if got := sampleLines([]byte("a\nb")); len(got) != 1 {
		t.Errorf("%q", got)
	}
	tally, _, err := Read(t.Context(), []string{"-"}, strings.NewReader(strings.TrimSuffix(goodLine(3), "\n")), &Options{})
	if err != nil || tally.Selected != 1 {
		t.Errorf("one line without its end: %v", err)
	}
}
