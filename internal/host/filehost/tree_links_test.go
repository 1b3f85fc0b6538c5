//go:build unix

package filehost

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/host"
)

// opened returns a tree of files and links.
func opened(t *testing.T, files, links map[string]string) *Tree {
	t.Helper()
	dir := write(t, files)
	for name, target := range links {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, p); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}

// TestLinksStayInTheTree: an absolute link to a file or directory is resolved within the tree; nothing leads
// out of it, and link loops end.
func TestLinksStayInTheTree(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{
		"etc/absolute": "/usr/x", "etc/relative": "../usr/x", "etc/out": outside, "etc/up": "../../../../../../../../etc/passwd", "etc/gone": "/nowhere", "etc/a": "/etc/b", "etc/b": "/etc/a",
		"etc/conf.d": "/usr/conf.d", "etc/l1": "/usr/x", "usr/dots": "/../../usr/x",
	}
	for i := 2; i <= maxLinks+1; i++ {
		links[fmt.Sprintf("etc/l%d", i)] = fmt.Sprintf("/etc/l%d", i-1)
	}
	tree, ctx := opened(t, map[string]string{"usr/x": "inside", "usr/conf.d/10": "a", "usr/conf.d/20": "b"}, links), context.Background()
	for name, want := range map[string]string{"/etc/absolute": "inside", "etc/relative": "inside", "/usr/dots": "inside", "/../../usr/x": "inside", fmt.Sprintf("/etc/l%d", maxLinks): "inside"} {
		if b, err := tree.ReadFile(ctx, name); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for name, want := range map[string]string{"/etc/out": "no such file", "/etc/up": "escapes", "/etc/gone": "no such file", "/etc/a": "too many symbolic links", fmt.Sprintf("/etc/l%d", maxLinks+1): "too many symbolic links", "/usr/conf.d": "not a regular file (d---------)", "/": "not a regular file"} {
		if b, err := tree.ReadFile(ctx, name); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), tree.dir) {
			t.Errorf("%s: %q, %v, want %q", name, b, err, want)
		}
	}
	if names, err := tree.ReadDir(ctx, "/etc/conf.d"); err != nil || !slices.Equal(names, []string{"10", "20"}) {
		t.Errorf("a directory behind an absolute link: %q, %v", names, err)
	}
	if _, err := tree.ReadDir(ctx, "/usr/x"); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file as a directory: %v", err)
	}
	if _, err := tree.ReadDir(ctx, "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that does not exist: %v", err)
	}
	if _, err := tree.Output(ctx, host.Query{}); !errors.Is(err, host.ErrNotLive) || tree.LeftOut() != nil {
		t.Errorf("a tree answers a command: %v", err)
	}
}

// TestPipesDoNotBlock: a tree may contain anything; neither reading nor listing waits for a pipe's writer.
func TestPipesDoNotBlock(t *testing.T) {
	tree := opened(t, map[string]string{"etc/x": "x"}, map[string]string{"etc/rc.conf.d/linked": "/etc/pipe"})
	for _, p := range []string{"etc/pipe", "etc/rc.conf.d/sshd"} {
		if err := syscall.Mkfifo(filepath.Join(tree.dir, p), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"/etc/pipe", "/etc/rc.conf.d/sshd", "/etc/rc.conf.d/linked"} {
		if _, err := tree.ReadFile(context.Background(), p); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s is read: %v", p, err)
		}
		if _, err := tree.ReadDir(context.Background(), p); err == nil || !strings.Contains(err.Error(), "not a directory") {
			t.Errorf("%s is listed: %v", p, err)
		}
	}
}

// TestNamesAreBounded: an empty directory has no names, a full one at most the bound.
func TestNamesAreBounded(t *testing.T) {
	tree := opened(t, map[string]string{"etc/b": "", "etc/a": ""}, map[string]string{"empty/x": "y"})
	if err := os.Remove(filepath.Join(tree.dir, "empty/x")); err != nil {
		t.Fatal(err)
	}
	if names, err := tree.ReadDir(context.Background(), "empty"); err != nil || len(names) > 0 {
		t.Errorf("%q, %v", names, err)
	}
	if names, err := tree.ReadDir(context.Background(), "/etc/"); err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("%q, %v", names, err)
	}
}

// TestWhatTellsItsRelease: a copy of a running Linux and an appliance reveal their release, other trees do not.
func TestWhatTellsItsRelease(t *testing.T) {
	for file, want := range map[string]bool{"proc/sys/kernel/osrelease": true, "conf/config.xml": true, "config/config.boot": true, "etc/openwrt_release": true, "etc/rc.conf": false, "etc/sysctl.d/x.conf": false} {
		if got := opened(t, map[string]string{file: "x"}, nil).Tells(); got != want {
			t.Errorf("%s tells its release: %v", file, got)
		}
	}
	_, err := OpenTree("/nowhere/at/all")
	if err == nil || !strings.Contains(err.Error(), "open tree /nowhere/at/all: no such file or directory") || strings.Count(err.Error(), "/nowhere") != 1 {
		t.Errorf("%v", err)
	}
}
