package accesslog

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"linerate/internal/hint"
)

// sampleSize is how much of a log Detect sees.
const sampleSize = 64 << 10

// source is one log, opened.
type source struct {
	name   string
	stream *bufio.Reader // what it holds, decompressed
	close  func()
}

// open opens a path, or standard input for "-". The first bytes tell how it is
// compressed, not its name.
func open(path string, stdin io.Reader) (*source, error) {
	if path == "-" {
		return openStream("standard input", stdin, func() {})
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	done := func() { f.Close() }
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = hint.With(fmt.Errorf("%s is a directory", path), "name its files: %s", filepath.Join(path, "access.log*"))
	}
	if err != nil {
		done()
		return nil, fmt.Errorf("open log: %w", err)
	}
	return openStream(path, f, done)
}

func openStream(name string, r io.Reader, done func()) (*source, error) {
	s := &source{name: name, close: done}
	raw := bufio.NewReaderSize(r, sampleSize)
	magic, err := raw.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		done()
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	plain, err := decompress(raw, magic, s)
	if err != nil {
		done()
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	s.stream = bufio.NewReaderSize(plain, sampleSize)
	return s, nil
}

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

func decompress(r *bufio.Reader, magic []byte, s *source) (io.Reader, error) {
	switch {
	case bytes.HasPrefix(magic, gzipMagic):
		return gzip.NewReader(r)
	case bytes.HasPrefix(magic, zstdMagic):
		z, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		done := s.close
		s.close = func() { z.Close(); done() }
		return z, nil
	}
	return r, nil
}

// sample is the beginning of the log; it is not consumed.
func (s *source) sample() ([]byte, error) {
	b, err := s.stream.Peek(sampleSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", s.name, err)
	}
	return wholeLines(b, len(b) < sampleSize), nil
}

// wholeLines lets the last line of a whole log end without a newline.
func wholeLines(b []byte, whole bool) []byte {
	if whole && len(b) > 0 && b[len(b)-1] != '\n' {
		return append(slices.Clone(b), '\n')
	}
	return b
}

// OrderRotated puts the files of rotated sets in order of time, oldest
// first: access.log.2.gz, access.log.1, access.log. Files that belong to no
// set keep their places.
func OrderRotated(paths []string) []string {
	type item struct {
		path, base string
		age        int
	}
	items := make([]item, len(paths))
	for i, p := range paths {
		base, age := rotation(p)
		items[i] = item{p, base, age}
	}
	first := map[string]int{}
	for i, it := range items {
		if _, ok := first[it.base]; !ok {
			first[it.base] = i
		}
	}
	slices.SortStableFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(first[a.base], first[b.base]), cmp.Compare(b.age, a.age))
	})
	out := make([]string, len(items))
	for i, it := range items {
		out[i] = it.path
	}
	return out
}

// newest is the age of what was rotated at the end of time.
const newest = 9999_12_31_24

// dated splits a name that logrotate's dateext made, access.log-20260301 or
// access.log-2026030113: the earlier, the older.
func dated(p string) (base string, age int, ok bool) {
	i := strings.LastIndexByte(p, '-')
	day := p[i+1:]
	if i <= 0 || len(day) != 8 && len(day) != 10 {
		return "", 0, false
	}
	n, err := strconv.Atoi(day)
	if err != nil || n < 0 {
		return "", 0, false
	}
	if len(day) == 8 {
		n *= 100
	}
	return p[:i], newest - n, n < newest
}

// rotation splits the name of a rotated log: how old, of what.
func rotation(path string) (base string, age int) {
	p := path
	for _, ext := range []string{".gz", ".zst", ".zstd"} {
		p = strings.TrimSuffix(p, ext)
	}
	if base, age, ok := dated(p); ok {
		return base, age
	}
	i := strings.LastIndexByte(p, '.')
	if i < 0 {
		return p, 0
	}
	n, err := strconv.Atoi(p[i+1:])
	if err != nil || n < 0 || n > 1e6 {
		return p, 0
	}
	return p[:i], n
}
