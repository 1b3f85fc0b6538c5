package dist

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// goBinary is the least ELF file that tells what it is made of as the go command writes
// it (debug/buildinfo): one writable segment with version and modules.
func goBinary(name string) []byte {
	const head, segment, at = 64, 56, 0x1000
	modules := "path\tlinerate/cmd/linerate\nmod\tlinerate\t(devel)\t\ndep\texample.org/" + name + "\tv1.2.0\th1:x=\ndep\texample.org/old\tv0.1.0\th1:y=\n=>\texample.org/new\tv0.2.0\th1:z=\n"
	modules = strings.Repeat("\x30", 16) + modules + strings.Repeat("\x31", 16)
	info := append([]byte("\xff Go buildinf:\x08\x02"), make([]byte, 16)...)
	for _, text := range []string{"go1.25.0", modules} {
		info = append(binary.AppendUvarint(info, uint64(len(text))), text...)
	}
	b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	put := func(fields ...any) {
		for _, f := range fields {
			b, _ = binary.Append(b, binary.LittleEndian, f)
		}
	}
	put(uint16(2), uint16(62), uint32(1), uint64(at), uint64(head), uint64(0), uint32(0), uint16(head), uint16(segment), uint16(1), uint16(0), uint16(0), uint16(0))
	put(uint32(1), uint32(6), uint64(head+segment), uint64(at), uint64(at), uint64(len(info)), uint64(len(info)), uint64(16))
	return append(b, info...)
}

// released is a release of two platforms, with little in it.
func released() *Release {
	return &Release{
		Version: "1.2.3", At: sample().At, Maintainer: "A <a@example.org>", License: []byte("BSD\n"), Others: []byte("MIT\n"), Readme: []byte("read me\n"), Changes: []byte("changes\n"),
		Binaries: map[Platform][]byte{{"linux", "amd64"}: goBinary("linux"), {"freebsd", "arm64"}: goBinary("freebsd")},
		Manual:   map[string][]byte{"man1/linerate.1": []byte("page"), "man7/linerate-facts.7": []byte("facts")}, Completion: map[string][]byte{"bash": []byte("b"), "zsh": []byte("z"), "fish": []byte("f")},
		SourceName: "linerate-1.2.3.tar.gz", Source: []byte("source"),
	}
}

func filesOf(t *testing.T, r *Release) map[string][]byte {
	t.Helper()
	all, err := r.Files()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range all {
		files[f.Name] = f.Data
	}
	if all[len(all)-1].Name != "SHA256SUMS" {
		t.Errorf("the sums are not last: %s", all[len(all)-1].Name)
	}
	return files
}

// TestReleaseHasAllFiles: of each platform with a binary, and of none without; every file
// but the sums has a sum.
func TestReleaseHasAllFiles(t *testing.T) {
	files := filesOf(t, released())
	want := []string{"SHA256SUMS", "linerate-1.2.3-1.x86_64.rpm", "linerate-1.2.3-freebsd-arm64", "linerate-1.2.3-freebsd-arm64.pkg", "linerate-1.2.3-freebsd-arm64.tar.gz", "linerate-1.2.3-linux-amd64", "linerate-1.2.3-linux-amd64.tar.gz",
		"linerate-1.2.3.cdx.json", "linerate-1.2.3.tar.gz", "linerate_1.2.3_amd64.deb"}
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	lines := strings.Split(strings.TrimSpace(string(files["SHA256SUMS"])), "\n")
	if len(lines) != len(files)-1 {
		t.Errorf("%d sums of %d files", len(lines), len(files)-1)
	}
	for _, l := range lines {
		digest, name, _ := strings.Cut(l, "  ")
		if data, ok := files[name]; !ok || sum(data) != digest {
			t.Errorf("%s has no file, or another sum", l)
		}
	}
	bare := released()
	bare.Source, bare.Binaries = nil, map[Platform][]byte{{"freebsd", "arm64"}: goBinary("x")}
	if got := slices.Sorted(maps.Keys(filesOf(t, bare))); !slices.Equal(got, []string{"SHA256SUMS", "linerate-1.2.3-freebsd-arm64", "linerate-1.2.3-freebsd-arm64.pkg", "linerate-1.2.3-freebsd-arm64.tar.gz", "linerate-1.2.3.cdx.json"}) {
		t.Errorf("without a source and Linux: %q", got)
	}
}

// TestSameRelease: made twice, every file is the same bytes.
func TestSameRelease(t *testing.T) {
	a, b := filesOf(t, released()), filesOf(t, released())
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s differs", name)
		}
	}
	later := released()
	later.At = later.At.Add(time.Hour)
	if c, _ := later.Files(); len(c) == len(a) && bytes.Equal(c[1].Data, a[c[1].Name]) {
		t.Errorf("%s has no time of the sources", c[1].Name)
	}
}

// TestWhatPackagesInstall: each system's places for the binary, the manual, completions,
// services and licences; nothing runs by itself.
func TestWhatPackagesInstall(t *testing.T) {
	files := filesOf(t, released())
	deb := unar(t, files["linerate_1.2.3_amd64.deb"])
	_, data := untar(t, gunzip(t, deb["data.tar.gz"]))
	has := func(what string, data map[string][]byte, want map[string]string) {
		t.Helper()
		for path, text := range want {
			if got, ok := data[path]; !ok || text != "" && string(got) != text {
				t.Errorf("%s: %s is %q, want %q", what, path, got, text)
			}
		}
	}
	has("deb", data, map[string]string{"./usr/bin/linerate": string(goBinary("linux")), "./usr/share/doc/linerate/copyright": "BSD\nMIT\n", "./usr/share/doc/linerate/changelog.gz": "", "./usr/share/man/man1/linerate.1.gz": "", "./usr/share/man/man7/linerate-facts.7.gz": "",
		"./usr/share/bash-completion/completions/linerate": "b", "./usr/share/zsh/vendor-completions/_linerate": "z", "./usr/share/fish/vendor_completions.d/linerate.fish": "f",
		"./usr/lib/systemd/system/linerate-audit.timer": "", "./usr/lib/systemd/system/linerate-audit.service": "", "./usr/lib/systemd/system/linerate-sweep.timer": "", "./usr/lib/systemd/system/linerate-sweep.service": "", "./usr/lib/systemd/system/linerate-serve.service": ""})
	for path := range data {
		if strings.Contains(path, ".wants") || strings.Contains(path, "/usr/local/") {
			t.Errorf("the deb installs %s", path)
		}
	}
	_, control := untar(t, gunzip(t, deb["control.tar.gz"]))
	if control["./postinst"] != nil {
		t.Errorf("control: %s", control["./control"])
	}
	z, err := zstd.NewReader(bytes.NewReader(files["linerate-1.2.3-freebsd-arm64.pkg"]))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	_, data = untar(t, z)
	has("pkg", data, map[string]string{"/usr/local/bin/linerate": string(goBinary("freebsd")), "/usr/local/etc/periodic/daily/480.linerate": "", "/usr/local/etc/periodic/daily/481.linerate-sweep": "", "/usr/local/etc/rc.d/linerate_serve": "",
		"/usr/local/share/man/man1/linerate.1.gz": "", "/usr/local/share/doc/linerate/copyright": "BSD\nMIT\n", "/usr/local/share/zsh/site-functions/_linerate": "z"})
	for path := range data {
		if strings.Contains(path, "systemd") || strings.HasPrefix(path, "/usr/bin") {
			t.Errorf("the FreeBSD package installs %s", path)
		}
	}
	_, data = untar(t, gunzip(t, files["linerate-1.2.3-linux-amd64.tar.gz"]))
	has("archive", data, map[string]string{"linerate-1.2.3-linux-amd64/linerate": string(goBinary("linux")), "linerate-1.2.3-linux-amd64/LICENSE": "BSD\n", "linerate-1.2.3-linux-amd64/LICENSES.others": "MIT\n", "linerate-1.2.3-linux-amd64/README.md": "read me\n",
		"linerate-1.2.3-linux-amd64/CHANGELOG.md": "changes\n", "linerate-1.2.3-linux-amd64/man/man1/linerate.1": "page", "linerate-1.2.3-linux-amd64/completion/linerate.fish": "f"})
}

// TestBill: every module of every binary once, as it was replaced, and Go itself.
func TestBill(t *testing.T) {
	bill := string(filesOf(t, released())["linerate-1.2.3.cdx.json"])
	for _, want := range []string{"example.org/linux", "example.org/freebsd", "example.org/new", "v0.2.0", "1.25.0"} {
		if !strings.Contains(bill, want) {
			t.Errorf("the bill lacks %s:\n%s", want, bill)
		}
	}
	if strings.Contains(bill, "example.org/old") || strings.Count(bill, `"name": "example.org/new"`)+strings.Count(bill, `"name":"example.org/new"`) != 1 {
		t.Errorf("what was replaced is in the bill, or a module twice:\n%s", bill)
	}
	if _, err := Bill(sample(), [][]byte{[]byte("no binary")}, ""); err == nil || !strings.Contains(err.Error(), "what a binary is made of") {
		t.Errorf("%v", err)
	}
}

// TestLicences: a module's licence is known by its text, and its sum is a hash.
func TestLicences(t *testing.T) {
	others := ""
	for path, text := range map[string]string{"example.org/a": "Permission is hereby granted, free of charge", "example.org/b/v2": "Redistribution and use\n... to endorse or\n   promote products", "example.org/c": "Redistribution and use", "example.org/d": "Apache License\nVersion 2.0", "example.org/e": "all rights"} {
		others += "\n\n" + strings.Repeat("-", 72) + "\n" + path + "/LICENSE.txt\n\n" + text
	}
	for module, want := range map[string]string{"example.org/a": "MIT", "example.org/b/v2": "BSD-3-Clause", "example.org/c": "BSD-2-Clause", "example.org/d": "Apache-2.0", "example.org/e": "", "example.org/b": ""} {
		got := fmt.Sprint(licence(module, others))
		if want == "" && got != "[]" || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", module, got, want)
		}
	}
	if h := hashes("h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="); len(h) != 1 || h[0]["content"] != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" || hashes("x") != nil {
		t.Errorf("%v", h)
	}
}
