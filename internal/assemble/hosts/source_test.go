package hosts

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fleet"
	"linerate/internal/hint"
)

func written(t *testing.T, dir, name, text string) string {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// refused checks an error's words and its hint's.
func refused(t *testing.T, what string, err error, want, advice string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(hint.Of(err), advice) {
		t.Errorf("%s: %v (hint: %s), want %q and %q", what, err, hint.Of(err), want, advice)
	}
}

// TestFiles: several files are one host's, each at its place; their system is theirs, or the one
// that was said.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	sysctl := written(t, dir, "mine/sysctl.conf", "vm.swappiness=10\nnet.ipv4.ip_forward=1\n")
	limits := written(t, dir, "limits.conf", "* soft nofile 65536\n")
	tuned := written(t, dir, "tuned.conf", "[main]\nsummary=x\n[sysctl]\nvm.swappiness=5\n")
	s := &Source{Stdin: func() io.Reader { return strings.NewReader("net.core.somaxconn=1024\n") }}
	o, err := s.Open(t.Context(), []string{sysctl, limits, tuned})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	f, err := o.Facts(t.Context())
	if err != nil || f.OS != fact.Linux {
		t.Fatalf("%s, %v", f.OS, err)
	}
	if o.Given["/etc/sysctl.conf"] != sysctl && !slices.Contains([]string{"/etc/sysctl.d/sysctl.conf"}, keyOf(o.Given, sysctl)) {
		t.Errorf("%v", o.Given)
	}
	if keyOf(o.Given, tuned) == "" || len(o.Given) != 3 {
		t.Errorf("%v", o.Given)
	}
	lines := 0
	for _, set := range f.Settings {
		if set.Name == "vm.swappiness" {
			lines = len(set.Lines)
		}
	}
	if lines != 2 {
		t.Errorf("vm.swappiness is set by %d lines, want sysctl's and tuned's, whose profile is the active one", lines)
	}
	o, err = s.Open(t.Context(), []string{Stdin})
	if err != nil || o.Given[keyOf(o.Given, Stdin)] != Stdin {
		t.Errorf("standard input: %+v, %v", o, err)
	}
}

func keyOf(given map[string]string, name string) string {
	for place, n := range given {
		if n == name {
			return place
		}
	}
	return ""
}

// TestTreesTellTheirRelease: a tree without a kernel has the one that its distribution ships, FreeBSD's the one
// of its userland; a stated release counts before both.
func TestTreesTellTheirRelease(t *testing.T) {
	for _, c := range []struct{ file, text, stated, release, shipped string }{
		{"etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n", "", "6.1", "debian 12"},
		{"etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n", "6.12", "6.12", ""},
		{"bin/freebsd-version", "#!/bin/sh\nUSERLAND_VERSION=\"14.2-RELEASE-p1\"\n", "", "14.2", ""},
	} {
		dir := t.TempDir()
		written(t, dir, c.file, c.text)
		written(t, dir, map[bool]string{true: "etc/sysctl.d/x.conf", false: "etc/rc.conf"}[c.file == "etc/os-release"], "\n")
		o, err := (&Source{Root: dir, Release: c.stated}).Open(t.Context(), nil)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		f, err := o.Facts(t.Context())
		if err != nil || f.Release.Short() != c.release || f.From.Shipped != c.shipped {
			t.Errorf("%s, %q stated: release %s, of %q, %v", c.file, c.stated, f.Release.Short(), f.From.Shipped, err)
		}
	}
}

// TestFilesRefused says what a file is not, and what to do.
func TestFilesRefused(t *testing.T) {
	dir := t.TempDir()
	sysctl := written(t, dir, "a/sysctl.conf", "vm.swappiness=10\n")
	for what, c := range map[string]struct {
		args         []string
		want, advice string
	}{
		"an empty file":       {[]string{written(t, dir, "empty.conf", " \n\n")}, "nothing to read", ""},
		"a picture":           {[]string{written(t, dir, "x.png", "\x89PNG\r\n")}, "not a configuration that linerate knows", "which system's it is"},
		"an encrypted backup": {[]string{written(t, dir, "config.xml", sealed+"\nU2Fs\n")}, "encrypted backup", "without encryption"},
		"UTF-16":              {[]string{written(t, dir, "u.conf", "\xff\xfev\x00m\x00")}, "not a configuration", "iconv"},
		"two of one place":    {[]string{sysctl, written(t, dir, "b/sysctl.conf", "vm.swappiness=20\n")}, "are both a host's", "one by one"},
		"no file":             {[]string{filepath.Join(dir, "none.conf")}, "no such file", ""},
	} {
		_, err := (&Source{}).Open(t.Context(), c.args)
		refused(t, what, err, c.want, c.advice)
	}
	_, err := (&Source{Root: dir}).Open(t.Context(), []string{"ssh://h"})
	refused(t, "a tree and a host", err, "both SOURCE", "one host at a time")
	_, err = (&Source{Root: dir}).Open(t.Context(), nil)
	refused(t, "a tree without a release", err, "needs --release", "14.3")
	_, err = (&Source{OS: "plan9"}).Open(t.Context(), nil)
	refused(t, "another system", err, "plan9", "")
	_, err = (&Source{Root: dir, Release: "new"}).Open(t.Context(), nil)
	refused(t, "no release", err, "new", "uname -r")
	_, err = (&Source{}).Open(t.Context(), []string{dir, sysctl})
	refused(t, "a directory and a file", err, "cannot be read together", "files of one host's")
}

// TestTell: memory and CPUs are told of sources that do not tell them, and of no others.
func TestTell(t *testing.T) {
	var f fact.Facts
	s := &Source{Memory: 8 << 30, CPUs: 4}
	if err := s.complete(&f); err != nil || f.Memory.Physical != 8<<30 || f.CPU.Count != 4 || !slices.Equal(f.From.Told, []string{"memory", "cpus"}) {
		t.Errorf("%+v, %v", f.From, err)
	}
	err := (&Source{Memory: 1}).complete(&f)
	refused(t, "memory", err, "states its memory", "memory")
	err = (&Source{CPUs: 1}).complete(&f)
	refused(t, "CPUs", err, "states its CPUs: 4", "cpus")
	if err := (&Source{}).complete(&f); err != nil {
		t.Error(err)
	}
}

// TestProductsBackup: an archive that is no capture, but a router's own backup, is a host's files;
// one of anything else is refused as no bundle.
func TestProductsBackup(t *testing.T) {
	pack := func(files map[string]string) string {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for name, text := range files {
			if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		return written(t, t.TempDir(), "backup.tar", b.String())
	}
	router := pack(map[string]string{"etc/config/network": "config interface 'lan'\n\toption proto 'static'\n", "etc/sysctl.conf": "net.netfilter.nf_conntrack_max=16384\n", "README": "hello\n"})
	o, err := (&Source{}).Open(t.Context(), []string{router})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if text, err := o.ReadFile(t.Context(), "/etc/sysctl.conf"); err != nil || !strings.Contains(string(text), "16384") {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := o.ReadFile(t.Context(), "/README"); err == nil {
		t.Error("what is no file of a host's is one")
	}
	if _, err := (&Source{}).Open(t.Context(), []string{pack(map[string]string{"holiday.txt": "sun\n"})}); err == nil {
		t.Error("holidays are a host")
	}
}

// TestList: a list that is not there, and one of Ansible's.
func TestList(t *testing.T) {
	_, err := List(filepath.Join(t.TempDir(), "none"), fleet.ParseLines)
	refused(t, "no list", err, "read the list of hosts", "one ssh://")
	if all, err := List(written(t, t.TempDir(), "inventory", `{"web": {"hosts": ["w1", "w2", "w3"]}}`), fleet.ParseAnsible); err != nil || len(all) != 3 {
		t.Errorf("an inventory: %v, %v", all, err)
	}
}

// TestNonsenseIsRefused: a file that only its name makes a configuration is refused with what
// it is; a configuration with mistakes is not.
func TestNonsenseIsRefused(t *testing.T) {
	const prose = "The quick brown fox jumps\nover the lazy dog and then\n"
	for _, c := range []struct{ name, text, want string }{
		{"pf.conf", prose, "does not look like a pf.conf"}, {"rc.conf", prose, "does not look like a rc.conf"}, {"loader.conf", prose, "does not look like a loader.conf"}, {"grub", prose, "does not look like a grub"},
		{"rc.conf", "<html><body>x</body></html>", "does not look like a rc.conf"}, {"rc.conf", "set viewmode miller\nmap =  chmod\nmap \"<any> tag_toggle tag=%any\n", "does not look like a rc.conf"}, {"rc.conf", "pf_enable = YES\n", ""},
		{"config.xml", "<?xml version=\"1.0\"?>\n<!DOCTYPE opnsense [<!ENTITY a \"b\">]>\n<opnsense><system></system></opnsense>\n", "document type"},
		{"config.xml", "<?xml version=\"1.0\"?>\n<opnsense><system><hostname>&nosuch;</hostname></system></opnsense>\n", "entities"},
		{"freenas-v1.db", "SQLite format 3\x00 and then nothing", "cut off"},
		{"freenas-v1.db", "SQLite format 3\x00" + strings.Repeat("nothing of a database\x00", 300), "not a database"},
		{"pf.conf", "set limit table-entires 5\npas in all\n", ""}, {"rc.conf", "hostname=x\nprose and more\n", ""}, {"loader.conf", "kern.hz 100\n", ""}, {"rc.conf", "# a comment\n", ""},
		{"config.xml", "<?xml version=\"1.0\"?>\n<opnsense><system><hostname>a&amp;b</hostname></system></opnsense>\n", ""},
	} {
		s := Source{Release: "14.3"}
		_, err := s.Facts(context.Background(), []string{written(t, t.TempDir(), c.name, c.text)})
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %.40q: %v, want %q", c.name, c.text, err, c.want)
		}
	}
}
