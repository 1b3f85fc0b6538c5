package dist

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// released is a release of two platforms, with little in it.
func released() *Release {
	return &Release{
		Version: "1.2.3", At: sample().At, Maintainer: "A <a@example.org>", License: []byte("BSD\n"), Others: []byte("MIT\n"), Readme: []byte("read me\n"), Changes: []byte("changes\n"),
		Binaries: map[Platform][]byte{{"linux", "amd64"}: []byte("for linux"), {"freebsd", "arm64"}: []byte("for freebsd")},
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
		"linerate-1.2.3.tar.gz", "linerate_1.2.3_amd64.deb"}
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
	bare.Source, bare.Binaries = nil, map[Platform][]byte{{"freebsd", "arm64"}: []byte("x")}
	if got := slices.Sorted(maps.Keys(filesOf(t, bare))); !slices.Equal(got, []string{"SHA256SUMS", "linerate-1.2.3-freebsd-arm64", "linerate-1.2.3-freebsd-arm64.pkg", "linerate-1.2.3-freebsd-arm64.tar.gz"}) {
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
	has("deb", data, map[string]string{"./usr/bin/linerate": string([]byte("for linux")), "./usr/share/doc/linerate/copyright": "BSD\nMIT\n", "./usr/share/doc/linerate/changelog.gz": "", "./usr/share/man/man1/linerate.1.gz": "", "./usr/share/man/man7/linerate-facts.7.gz": "",
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
	has("pkg", data, map[string]string{"/usr/local/bin/linerate": string([]byte("for freebsd")), "/usr/local/etc/periodic/daily/480.linerate": "", "/usr/local/etc/periodic/daily/481.linerate-sweep": "", "/usr/local/etc/rc.d/linerate_serve": "",
		"/usr/local/share/man/man1/linerate.1.gz": "", "/usr/local/share/doc/linerate/copyright": "BSD\nMIT\n", "/usr/local/share/zsh/site-functions/_linerate": "z"})
	for path := range data {
		if strings.Contains(path, "systemd") || strings.HasPrefix(path, "/usr/bin") {
			t.Errorf("the FreeBSD package installs %s", path)
		}
	}
	_, data = untar(t, gunzip(t, files["linerate-1.2.3-linux-amd64.tar.gz"]))
	has("archive", data, map[string]string{"linerate-1.2.3-linux-amd64/linerate": string([]byte("for linux")), "linerate-1.2.3-linux-amd64/LICENSE": "BSD\n", "linerate-1.2.3-linux-amd64/LICENSES.others": "MIT\n", "linerate-1.2.3-linux-amd64/README.md": "read me\n",
		"linerate-1.2.3-linux-amd64/CHANGELOG.md": "changes\n", "linerate-1.2.3-linux-amd64/man/man1/linerate.1": "page", "linerate-1.2.3-linux-amd64/completion/linerate.fish": "f"})
}
