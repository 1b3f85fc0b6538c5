package host

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"path"
	"strings"
	"testing"
)

// entry is a member of a test's archive.
type entry struct {
	name, text string
	kind       byte
}

func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o644}
		switch e.kind {
		case 0, tar.TypeReg:
			h.Typeflag, h.Size = tar.TypeReg, int64(len(e.text))
		case tar.TypeSymlink, tar.TypeLink:
			h.Linkname = e.text
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte(e.text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestUntarHostile: a member that leads out of a backup, is not a file, or unpacks to more than any backup
// contains ends the reading with a reason.
func TestUntarHostile(t *testing.T) {
	many := make([]entry, maxEntries+1)
	for i := range many {
		many[i].name = fmt.Sprintf("etc/%d", i)
	}
	zeros := strings.Repeat("\x00", MaxOutput)
	bomb := make([]entry, maxTotal/MaxOutput+1)
	for i := range bomb {
		bomb[i] = entry{name: fmt.Sprintf("f%d", i), text: zeros}
	}
	for what, c := range map[string]struct {
		entries []entry
		links   bool // links are skipped
		want    string
	}{
		"up":               {[]entry{{name: "etc/../../etc/passwd", text: "x"}}, true, "leads out"},
		"absolute":         {[]entry{{name: "/etc/passwd", text: "x"}}, true, "leads out"},
		"backslashes":      {[]entry{{name: `..\..\x`, text: "x"}}, true, "invalid name"},
		"a link":           {[]entry{{name: "etc", text: "/", kind: tar.TypeSymlink}, {name: "etc/config", text: "x"}}, false, "neither a file"},
		"a link, passed":   {[]entry{{name: "etc", text: "/", kind: tar.TypeSymlink}, {name: "etc/config", text: "x"}}, true, ""},
		"a device":         {[]entry{{name: "dev/sda", kind: tar.TypeBlock}}, true, "neither a file"},
		"a FIFO":           {[]entry{{name: "p", kind: tar.TypeFifo}}, true, "neither a file"},
		"one that is huge": {[]entry{{name: "f", text: zeros + "x"}}, true, "larger than the limit"},
		"a bomb":           {bomb, true, "larger than the limit"},
		"many":             {many, true, "more than"},
	} {
		err := Untar(bytes.NewReader(gzipped(t, archive(t, c.entries...))), c.links, func(string, []byte) error { return nil })
		if got := fmt.Sprint(err); (c.want == "") != (err == nil) || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
}

// FuzzUntar: no archive yields a name that leads out of it, or more than the limits.
func FuzzUntar(f *testing.F) {
	plain := archive(f, entry{name: "./etc/config/network", text: "config x\n"}, entry{name: "etc", kind: tar.TypeDir}, entry{name: "l", text: "x", kind: tar.TypeSymlink})
	f.Add(plain, true)
	f.Add(gzipped(f, plain), false)
	f.Fuzz(func(t *testing.T, data []byte, links bool) {
		files, total := 0, 0
		_ = Untar(bytes.NewReader(data), links, func(name string, text []byte) error {
			if path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") || name != path.Clean(name) {
				t.Errorf("%q", name)
			}
			files, total = files+1, total+len(text)
			return nil
		})
		if files > maxEntries || total > maxTotal {
			t.Errorf("%d files, %d bytes", files, total)
		}
	})
}
