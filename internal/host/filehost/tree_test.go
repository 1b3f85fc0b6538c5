package filehost

import (
	"os"
	"path/filepath"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/host/hosttest"
)

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for p, text := range files {
		p = filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTree(t *testing.T) {
	tree, err := OpenTree(write(t, hosttest.Files()))
	if err != nil {
		t.Fatal(err)
	}
	hosttest.Reader(t, "", tree)
}

func TestTreeOS(t *testing.T) {
	for file, want := range map[string]string{"boot/loader.conf": fact.FreeBSD, "etc/rc.conf": fact.FreeBSD, "etc/sysctl.d/x.conf": fact.Linux,
		"proc/sys/kernel/osrelease": fact.Linux, "etc/sysctl.conf": ""} {
		tree, err := OpenTree(write(t, map[string]string{file: "x"}))
		if err != nil {
			t.Fatal(err)
		}
		if got := tree.OS(); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
		tree.Close()
	}
	for id, want := range map[string]string{"ID=debian\n": fact.Linux, "NAME=x\nID=\"freebsd\"\n": fact.FreeBSD, "NAME=x\n": ""} {
		tree, err := OpenTree(write(t, map[string]string{"etc/os-release": id}))
		if err != nil {
			t.Fatal(err)
		}
		if got := tree.OS(); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
		tree.Close()
	}
	if _, err := OpenTree(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing directory opens")
	}
}
