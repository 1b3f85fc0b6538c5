// Package dist makes what a release of linerate consists of: archives, packages of
// Debian's, RPM and FreeBSD's, and the lists that go with them.
// The same sources make the same bytes, wherever they lie: every time, owner, order and
// level of compression is given, none is the machine's.
package dist

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Entry is a file of a package: where it lies when it is installed, and what it holds.
type Entry struct {
	Path string // absolute
	Mode int64
	Data []byte
}

// sum is the SHA-256 of data, in hexadecimal.
func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// sorted are the entries in the order of their paths.
func sorted(entries []Entry) []Entry {
	return slices.SortedFunc(slices.Values(entries), func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}

// directories are all that the entries lie in, parents first, without the root.
func directories(entries []Entry) []string {
	seen := map[string]bool{}
	for _, e := range entries {
		for d := path.Dir(e.Path); d != "/" && d != "."; d = path.Dir(d) {
			seen[d] = true
		}
	}
	var all []string
	for d := range seen {
		all = append(all, d)
	}
	slices.Sort(all)
	return all
}

// member is a file or a directory of a tar archive.
type member struct {
	name string // a directory's ends with a slash
	mode int64
	data []byte
}

// tarball writes members in their order, owned by root, all of one time.
func tarball(w io.Writer, at time.Time, members []member) error {
	t := tar.NewWriter(w)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: m.mode, ModTime: at, Uname: "root", Gname: "root", Typeflag: tar.TypeReg, Size: int64(len(m.data)), Format: tar.FormatGNU}
		if strings.HasSuffix(m.name, "/") {
			h.Typeflag, h.Size = tar.TypeDir, 0
		}
		if err := t.WriteHeader(h); err != nil {
			return fmt.Errorf("archive %s: %w", m.name, err)
		}
		if _, err := t.Write(m.data); err != nil {
			return fmt.Errorf("archive %s: %w", m.name, err)
		}
	}
	return t.Close()
}

// gzipped is data compressed, without a name or a time.
func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// zstandard is data compressed. One thread: with more, the bytes are the machine's.
func zstandard(data []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.EncodeAll(data, nil), nil
}
