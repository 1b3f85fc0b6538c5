package filehost

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/host"
	"linerate/internal/host/hosttest"
)

// pack makes a tar.gz of headers and texts.
func pack(t testing.TB, entries ...any) []byte {
	t.Helper()
	var buf bytes.Buffer
	gz, err := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	tw := tar.NewWriter(gz)
	for i := 0; i < len(entries); i += 2 {
		text := entries[i+1].(string)
		h, ok := entries[i].(tar.Header)
		if !ok {
			h = tar.Header{Name: entries[i].(string), Typeflag: tar.TypeReg, Mode: 0o600}
		}
		h.Size = int64(len(text))
		if err := tw.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

const head = "bundle\t1\nos\tFreeBSD\ntaken\t2026-11-20T11:04:34Z\n"

func TestBundle(t *testing.T) {
	b, err := ReadBundle(bytes.NewReader(pack(t,
		"./manifest.tsv", head+"file\t/etc/secret\tleft-out\tit holds keys\nfile\t/etc/odd\tunreadable\tPermission denied\n"+
			"query\tsysctl-a\t0\t\nquery\tpfctl-si\t1\tpfctl: /dev/pf: No such file or directory\nquery\tkenv\t127\t\nleft-out\t/etc/secret\tit holds keys\n",
		"./files/etc/rc.conf", "a=1\n", "./out/sysctl-a", "x: 1\n", "./out/pfctl-si", "",
		"trees/proc", "/proc/sys/net/x\t1\n/proc/sys/net/x\t2\nrubbish\n/proc/sys/net/y\t\n")), "b.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if b.OS() != fact.FreeBSD || b.Origin().Taken != "2026-11-20T11:04:34Z" || len(b.LeftOut()) != 1 {
		t.Errorf("%s %+v %+v", b.OS(), b.Origin(), b.LeftOut())
	}
	if text, err := b.ReadFile(ctx, "/etc/rc.conf"); err != nil || string(text) != "a=1\n" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := b.ReadFile(ctx, "/proc/sys/net/x"); err != nil || string(text) != "1\n2\n" {
		t.Errorf("%q, %v", text, err)
	}
	if names, err := b.ReadDir(ctx, "/proc/sys/net/"); err != nil || strings.Join(names, " ") != "x y" {
		t.Errorf("%q, %v", names, err)
	}
	for path, want := range map[string]error{"/etc/none": fs.ErrNotExist, "/etc/secret": host.ErrLeftOut} {
		if _, err := b.ReadFile(ctx, path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if _, err := b.ReadFile(ctx, "/etc/odd"); err == nil || err.Error() != "Permission denied" {
		t.Errorf("unreadable: %v", err)
	}
	for id, want := range map[string]string{"sysctl-a": "", "pfctl-si": "pfctl: /dev/pf: No such file or directory", "kenv": host.ErrNoCommand.Error(), "dmesg": host.ErrNoCommand.Error()} {
		_, err := b.Output(ctx, host.QueryOf(fact.FreeBSD, id))
		if got := errText(err); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestReader(t *testing.T) {
	entries := []any{"manifest.tsv", head}
	for p, text := range hosttest.Files() {
		entries = append(entries, "files"+p, text)
	}
	b, err := ReadBundle(bytes.NewReader(pack(t, entries...)), "b")
	if err != nil {
		t.Fatal(err)
	}
	hosttest.Reader(t, "", b)
}

func TestHostileBundles(t *testing.T) {
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"link", "neither a file nor a directory", pack(t, tar.Header{Name: "files/etc/rc.conf", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, "")},
		{"hard link", "neither a file nor a directory", pack(t, tar.Header{Name: "x", Typeflag: tar.TypeLink, Linkname: "manifest.tsv"}, "")},
		{"device", "neither a file nor a directory", pack(t, tar.Header{Name: "x", Typeflag: tar.TypeChar}, "")},
		{"parent", "leads out of the archive", pack(t, "files/../../etc/passwd", "x")},
		{"absolute", "leads out of the archive", pack(t, "/etc/passwd", "x")},
		{"big", "larger than the limit", pack(t, "out/x", strings.Repeat("\x00", host.MaxOutput+1))},
		{"no manifest", "no manifest", pack(t, "files/etc/rc.conf", "a=1\n")},
		{"other format", "is not known here", pack(t, "manifest.tsv", "bundle\t9\nos\tlinux\n")},
		{"not gzip", "unexpected EOF", []byte("hello")},
		{"truncated", "unexpected EOF", pack(t, "manifest.tsv", head)[:60]},
		{"empty", "no manifest", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadBundle(bytes.NewReader(c.data), "b")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestManyBigEntriesAreRefused(t *testing.T) {
	piece := strings.Repeat("\x00", host.MaxOutput)
	var entries []any
	for range 128<<20/host.MaxOutput + 1 { // beyond what an archive may unpack to
		entries = append(entries, "out/x", piece)
	}
	if _, err := ReadBundle(bytes.NewReader(pack(t, entries...)), "b"); err == nil || !strings.Contains(err.Error(), "unpacked") {
		t.Errorf("a decompression bomb gave %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(pack(f, "manifest.tsv", head, "files/etc/rc.conf", "a=1\n", "trees/p", "/a\tb\n"))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		b, err := ReadBundle(bytes.NewReader(data), "b")
		if err != nil {
			return
		}
		_, _ = b.ReadFile(context.Background(), "/etc/rc.conf")
		_, _ = b.ReadDir(context.Background(), "/etc")
		_ = b.Origin()
	})
}
