// Package hosttest is the test suite for host.Reader and host.Piper; each
// implementation runs it.
package hosttest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/host"
)

// Files returns the files that the tested machine must have, each below its prefix.
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
		t.Errorf("a file above the limit returns %d bytes, %v", len(b), err)
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

// Piper tests an implementation of host.Piper; kills says that it can kill a program that ignores
// everything.
func Piper(t *testing.T, p host.Piper, kills bool) {
	t.Helper()
	open := func(script string, args ...string) io.ReadWriteCloser {
		t.Helper()
		pipe, err := p.Pipe(t.Context(), script, args...)
		if err != nil {
			t.Fatal(err)
		}
		return pipe
	}
	talk := open(`read a; echo $1 $a; read b; echo $b`, "x y")
	answers := bufio.NewReader(talk)
	for _, c := range [][2]string{{"one\n", "x y one\n"}, {"two\n", "two\n"}} {
		if _, err := io.WriteString(talk, c[0]); err != nil {
			t.Fatal(err)
		}
		if got, err := answers.ReadString('\n'); got != c[1] {
			t.Errorf("%q was answered by %q, %v", c[0], got, err)
		}
	}
	if _, err := answers.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("a program that exited with 0: %v", err)
	}
	if err := talk.Close(); err != nil {
		t.Error(err)
	}

	fails := open("echo out; i=0; while [ $i -lt 2000 ]; do echo complaint >&2; i=$((i+1)); done; exit 7")
	out, err := io.ReadAll(fails)
	var failed *host.ScriptError
	if string(out) != "out\n" || !errors.As(err, &failed) || failed.Code != 7 || !strings.HasPrefix(failed.Stderr, "complaint\n") || len(failed.Stderr) > 8<<10 {
		t.Errorf("a program that fails: %q, %.80v", out, err)
	}
	fails.Close()

	stays := open("trap true HUP TERM PIPE; echo $$; i=0; while [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done")
	pid, err := bufio.NewReader(stays).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := stays.Close(); err != nil { // it must return
		t.Error(err)
	}
	gone := open("for i in 1 2 3 4 5; do kill -0 $1 2>/dev/null || exec echo gone; sleep 0.1; done", strings.TrimSpace(pid))
	if out, err := io.ReadAll(gone); kills && string(out) != "gone\n" {
		t.Errorf("a program outlives its pipe (%v)", err)
	}
	gone.Close()
	if _, err := p.Pipe(t.Context(), "echo 'x'"); err == nil {
		t.Error("a script with quotes was taken")
	}
}
