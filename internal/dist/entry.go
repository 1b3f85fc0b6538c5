// Package dist builds the files of a release of linerate: archives, packages for
// Debian, RPM and FreeBSD, and the accompanying lists. The same sources give the
// same bytes everywhere: times, owners, order and compression levels are fixed,
// never the machine's.
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

// Entry is a file of a package: its path when installed, and its content.
type Entry struct {
	Path string // absolute
	Mode int64
	Data []byte
}

// sum returns the SHA-256 of data, in hexadecimal.
func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// sorted returns the entries sorted by path.
func sorted(entries []Entry) []Entry {
	return slices.SortedFunc(slices.Values(entries), func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}

// directories returns all directories of the entries, parents first, without the root.
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
	name string // a directory's name ends with a slash
	mode int64
	data []byte
}

// tarball writes members in their order, owned by root, all with the same time.
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

// gzipped compresses data, without a name or a time.
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

// zstandard compresses data in one thread: with more, the output would depend on the machine.
func zstandard(data []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.EncodeAll(data, nil), nil
}
