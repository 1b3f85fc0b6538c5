package host

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// Limits of an archive. A capture or a backup of settings is far below: some hundred entries, a few
// megabytes unpacked.
const (
	maxEntries = 20_000
	maxTotal   = 128 << 20
	maxName    = 1024
)

// Untar reads a tar archive, compressed by gzip or not, and passes each file to take with its
// cleaned name. It returns an error for a name that leaves the archive, and for anything that is
// neither file nor directory, except links if passLinks is set.
func Untar(r io.Reader, passLinks bool, take func(name string, data []byte) error) error {
	buffered := bufio.NewReader(r)
	src := io.Reader(buffered)
	if magic, _ := buffered.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		gz, err := gzip.NewReader(buffered)
		if err != nil {
			return err
		}
		src = gz
	}
	tr := tar.NewReader(src)
	total := int64(0)
	for n := 0; ; n++ {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n >= maxEntries {
			return fmt.Errorf("more than %d entries", maxEntries)
		}
		if passLinks && (h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink) {
			continue
		}
		name, err := entryName(h)
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		if h.Size < 0 || h.Size > MaxOutput {
			return fmt.Errorf("%s is larger than the limit of %d bytes", name, MaxOutput)
		}
		if total += h.Size; total > maxTotal {
			return fmt.Errorf("larger than the limit of %d bytes unpacked", maxTotal)
		}
		data := make([]byte, h.Size)
		if _, err := io.ReadFull(tr, data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := take(name, data); err != nil {
			return err
		}
	}
}

// entryName validates an entry's type and path.
func entryName(h *tar.Header) (string, error) {
	if h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir {
		return "", fmt.Errorf("entry %.80q is neither a file nor a directory", h.Name)
	}
	name := strings.TrimPrefix(h.Name, "./")
	if len(name) > maxName || strings.ContainsRune(name, 0) || strings.Contains(name, "\\") {
		return "", fmt.Errorf("entry %.80q has an invalid name", h.Name)
	}
	if path.IsAbs(name) || slices.Contains(strings.Split(name, "/"), "..") {
		return "", fmt.Errorf("entry %.80q leads out of the archive", h.Name)
	}
	return path.Clean(name), nil
}
