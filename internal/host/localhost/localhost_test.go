package localhost

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"linerate/internal/fact"
	"linerate/internal/host"
	"linerate/internal/host/hosttest"
)

func TestReads(t *testing.T) {
	h, ctx := New(), context.Background()
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	if err := os.WriteFile(file, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := h.ReadFile(ctx, file); err != nil || string(b) != "x\n" {
		t.Errorf("%q, %v", b, err)
	}
	if names, err := h.ReadDir(ctx, dir); err != nil || len(names) != 1 {
		t.Errorf("%q, %v", names, err)
	}
	if _, err := h.ReadFile(ctx, file+"x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := h.ReadFile(ctx, dir); err == nil {
		t.Error("a directory is read as a file")
	}
	if _, err := h.ReadDir(ctx, file); err == nil {
		t.Error("a file is read as a directory")
	}
	if _, err := h.ReadFile(ctx, "/dev/zero"); err == nil {
		t.Error("a device is read as a file")
	}
}

func TestReader(t *testing.T) {
	dir := t.TempDir()
	for p, text := range hosttest.Files() {
		p = filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hosttest.Reader(t, dir, New())
}

func TestOutput(t *testing.T) {
	if runtime.GOOS != fact.Linux {
		t.Skip("asks Linux's commands")
	}
	h := New()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if _, err := h.Output(ctx, host.QueryOf(fact.FreeBSD, "pciconf")); !errors.Is(err, host.ErrNoCommand) {
		t.Errorf("a missing command: %v", err)
	}
	if b, err := h.Output(ctx, host.QueryOf(fact.FreeBSD, "uname")); err != nil || len(b) == 0 {
		t.Errorf("uname: %q, %v", b, err)
	}
	if _, err := h.Output(ctx, host.EthtoolQueries("nosuch0")[0]); err == nil {
		t.Error("a command that fails gives no error")
	}
	if host.EthtoolQueries("../x") != nil || host.EthtoolQueries("-h") != nil || len(host.EthtoolQueries("eth0.100")) != 5 {
		t.Error("names of interfaces are not checked")
	}
}

func TestPiper(t *testing.T) { hosttest.Piper(t, &Runner{}, true) }

// What a command writes beyond the limit is read and dropped.
func TestOutputIsBounded(t *testing.T) {
	b := &bounded{limit: 1000}
	if n, err := io.Copy(b, io.LimitReader(rand.Reader, 1<<18)); err != nil || n != 1<<18 || b.Len() != 1000 || !b.cut {
		t.Errorf("%d bytes, %d kept, cut %v: %v", n, b.Len(), b.cut, err)
	}
}
