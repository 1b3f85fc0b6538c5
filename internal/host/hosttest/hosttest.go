// Package hosttest holds what every host.Reader must do; each implementation
// runs it.
package hosttest

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/host"
)

// Files are on the machine that open returns, each below its prefix.
func Files() map[string]string {
	return map[string]string{
		"/etc/rc.conf":        "gateway_enable=\"YES\"\n",
		"/etc/rc.conf.d/b":    "b\n",
		"/etc/rc.conf.d/a":    "a\n",
		"/etc/empty":          "",
		"/boot/big":           strings.Repeat("x", host.MaxFile+10),
		"/boot/loader.conf.d": "a file\n",
	}
}

// Reader tests a reader of a machine that holds Files below prefix.
func Reader(t *testing.T, prefix string, r host.Reader) {
	t.Helper()
	ctx := context.Background()
	if o := r.Origin(); !slices.Contains([]string{fact.KindHost, fact.KindSSH, fact.KindBundle, fact.KindTree}, o.Kind) {
		t.Errorf("origin %+v", o)
	}
	for path, want := range map[string]string{"/etc/rc.conf": "gateway_enable=\"YES\"\n", "/etc/empty": "", "/etc/../etc//rc.conf": "gateway_enable=\"YES\"\n"} {
		if b, err := r.ReadFile(ctx, prefix+path); err != nil || string(b) != want {
			t.Errorf("ReadFile(%s) = %q, %v", path, b, err)
		}
	}
	if _, err := r.ReadFile(ctx, prefix+"/etc/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v, want fs.ErrNotExist", err)
	}
	if _, err := r.ReadFile(ctx, prefix+"/etc"); err == nil {
		t.Error("a directory is read as a file")
	}
	if b, err := r.ReadFile(ctx, prefix+"/boot/big"); !errors.Is(err, host.ErrTooLarge) || len(b) != host.MaxFile {
		t.Errorf("a file beyond the limit gives %d bytes, %v", len(b), err)
	}
	directories(t, prefix, r)
	foreign := host.QueryOf(fact.FreeBSD, "pciconf")
	if runtime.GOOS == fact.FreeBSD {
		foreign = host.EthtoolQueries("em0")[0]
	}
	_, err := r.Output(ctx, foreign)
	if status, _ := host.Status(err); status != fact.StatusMissing {
		t.Errorf("a missing command is %q (%v)", status, err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func directories(t *testing.T, prefix string, r host.Reader) {
	t.Helper()
	ctx := context.Background()
	if names, err := r.ReadDir(ctx, prefix+"/etc/rc.conf.d"); err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("ReadDir = %q, %v; want sorted names", names, err)
	}
	if _, err := r.ReadDir(ctx, prefix+"/etc/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory gives %v", err)
	}
	if names, err := r.ReadDir(ctx, prefix+"/boot/loader.conf.d"); err == nil {
		t.Errorf("a file is listed as a directory: %q", names)
	}
}
