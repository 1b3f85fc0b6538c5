package dist

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// sample is a package of three files, in the order in which they are given.
func sample(order ...int) Package {
	all := []Entry{
		{Path: "/usr/local/bin/linerate", Mode: 0o755, Data: []byte("\x7fELF and so on")},
		{Path: "/usr/local/share/man/man1/linerate.1.gz", Mode: 0o644, Data: []byte("page")},
		{Path: "/usr/local/etc/periodic/daily/480.linerate", Mode: 0o755, Data: []byte("#!/bin/sh\n")},
	}
	p := Package{
		Name: "linerate", Version: "1.2.3", Arch: "arm64", Summary: "s", Description: "One.\n\nTwo.", Maintainer: "A <a@example.org>", License: License,
		At: time.Date(2026, 11, 22, 12, 0, 0, 0, time.FixedZone("x", 3600)),
	}
	for _, i := range order {
		p.Entries = append(p.Entries, all[i])
	}
	return p
}

// untar lists the members of an archive.
func untar(t *testing.T, r io.Reader) (names []string, data map[string][]byte) {
	t.Helper()
	data = map[string][]byte{}
	for files := tar.NewReader(r); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return names, data
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.ModTime.Unix() != sample().At.Unix() {
			t.Errorf("%s is of %d:%d, %s", h.Name, h.Uid, h.Gid, h.ModTime)
		}
		b, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		names, data[h.Name] = append(names, h.Name), b
	}
}

func gunzip(t *testing.T, data []byte) io.Reader {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// TestSameBytes: whatever order the files came in, each format is the same bytes.
func TestSameBytes(t *testing.T) {
	for name, format := range map[string]func(Package) ([]byte, error){
		"deb": Deb, "rpm": RPM, "pkg": func(p Package) ([]byte, error) { return FreeBSDPackage(p, "m") },
	} {
		a, err := format(sample(0, 1, 2))
		if err != nil {
			t.Fatal(name, err)
		}
		b, err := format(sample(2, 0, 1))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %v; %d and %d bytes differ", name, err, len(a), len(b))
		}
	}
}

func TestDeb(t *testing.T) {
	deb, err := Deb(sample(0, 1, 2))
	if err != nil {
		t.Fatal(err)
	}
	members := unar(t, deb)
	if string(members["debian-binary"]) != "2.0\n" {
		t.Errorf("debian-binary %q", members["debian-binary"])
	}
	_, control := untar(t, gunzip(t, members["control.tar.gz"]))
	for _, want := range []string{"Package: linerate\n", "Version: 1.2.3\n", "Architecture: arm64\n", "Installed-Size: 3\n", "Description: s\n One.\n .\n Two.\n"} {
		if !strings.Contains(string(control["./control"]), want) {
			t.Errorf("the control file lacks %q:\n%s", want, control["./control"])
		}
	}
	if !strings.Contains(string(control["./md5sums"]), "71860c77c6745379b0d44304d66b6a13  usr/local/share/man/man1/linerate.1.gz\n") {
		t.Errorf("md5sums: %s", control["./md5sums"])
	}
	names, files := untar(t, gunzip(t, members["data.tar.gz"]))
	if !slices.IsSorted(names) || names[0] != "./" || string(files["./usr/local/bin/linerate"]) != "\x7fELF and so on" || !slices.Contains(names, "./usr/local/share/man/") {
		t.Errorf("%q", names)
	}
}

// unar reads an archive of ar(1).
func unar(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	rest, ok := bytes.CutPrefix(data, []byte("!<arch>\n"))
	members := map[string][]byte{}
	for ok && len(rest) >= 60 {
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil || string(rest[58:60]) != "`\n" {
			t.Fatalf("header %q", rest[:60])
		}
		members[strings.TrimSpace(string(rest[:16]))] = rest[60 : 60+size]
		rest = rest[min(len(rest), 60+size+size%2):]
	}
	if !ok || len(rest) > 0 {
		t.Errorf("%d bytes behind the archive", len(rest))
	}
	return members
}

// TestFreeBSDPackage checks the layout that pkg-create(8) describes: both manifests
// first, then every file under its absolute name, with the sum that the manifest has.
func TestFreeBSDPackage(t *testing.T) {
	pkg, err := FreeBSDPackage(sample(2, 1, 0), "read me")
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(bytes.NewReader(pkg))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	names, files := untar(t, z)
	if len(names) != 5 || names[0] != "+COMPACT_MANIFEST" || names[1] != "+MANIFEST" {
		t.Fatalf("%q", names)
	}
	var compact, whole freebsdManifest
	if err := errors.Join(json.Unmarshal(files["+COMPACT_MANIFEST"], &compact), json.Unmarshal(files["+MANIFEST"], &whole)); err != nil {
		t.Fatal(err)
	}
	if compact.Files != nil || compact.Name != "linerate" || compact.ABI != "FreeBSD:*:aarch64" || compact.Maintainer != "a@example.org" || compact.Prefix != "/usr/local" || compact.FlatSize != 28 {
		t.Errorf("%+v", compact)
	}
	if len(whole.Files) != 3 || whole.Messages[0].Message != "read me" {
		t.Errorf("%+v", whole)
	}
	for _, name := range names[2:] {
		if whole.Files[name] != "1$"+sum(files[name]) || !strings.HasPrefix(name, "/usr/local/") {
			t.Errorf("%s: the manifest has %q", name, whole.Files[name])
		}
	}
}
