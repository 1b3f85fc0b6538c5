package localhost

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
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

// TestAnswersAreWhole: a truncated answer, as of a script whose output is not delivered in time, is an error;
// an empty answer of a successful script is not.
func TestAnswersAreWhole(t *testing.T) {
	for script, want := range map[string]string{"echo a; echo b": "a\nb\n", "printf 'no end of line'": "no end of line", ":": "", "cat": "input\n"} {
		if got, err := (&Runner{}).Run(t.Context(), script, nil, []byte("input")); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", script, got, err)
		}
	}
	for keep := range 10 {
		r := &Runner{Start: func(cmd *exec.Cmd) error {
			var all bytes.Buffer
			to := cmd.Stdout
			cmd.Stdout = &all
			err := cmd.Run()
			_, _ = to.Write(all.Bytes()[:min(all.Len()-1, all.Len()*keep/9)])
			return errors.Join(err, exec.ErrWaitDelay)
		}}
		if got, err := r.Run(t.Context(), "echo /etc/sysctl.d/90-linerate.conf", nil, nil); !errors.Is(err, host.ErrCut) {
			t.Errorf("%q, %v", got, err)
		}
	}
	var failed *host.ScriptError
	if got, err := (&Runner{}).Run(t.Context(), "echo said; false", nil, nil); !errors.As(err, &failed) || failed.Code != 1 || string(got) != "said\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestPiper(t *testing.T) { hosttest.Piper(t, &Runner{}, true) }

// TestOutputIsBounded: output beyond the limit is read and dropped; a background process that holds the
// output open does not delay the answer for ever.
func TestOutputIsBounded(t *testing.T) {
	for script, want := range map[string]int{"head -c 300000 /dev/zero": 1000, "printf abc; exec >&-; exit 3": 3, ":": 0} {
		b := &host.FirstBytes{Limit: 1000}
		err := outputOf(exec.Command("/bin/sh", "-c", script), b, time.Minute)
		var exit *exec.ExitError
		if len(b.Bytes()) != want || b.Cut != (want == 1000) || (want == 3) != errors.As(err, &exit) {
			t.Errorf("%s: %d bytes kept, cut %v: %v", script, len(b.Bytes()), b.Cut, err)
		}
	}
	if err := outputOf(exec.Command("/nonexistent"), &host.FirstBytes{}, time.Minute); err == nil {
		t.Error("a command that cannot start gives no error")
	}
	// The background process keeps both outputs open until this test hangs up.
	b, complaint := &host.FirstBytes{Limit: 1000}, &host.FirstBytes{Limit: 1000}
	cmd := exec.Command("/bin/sh", "-c", "printf abc; cat <&3 & exit 0")
	hold, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	defer hold.Close()
	cmd.Stderr, cmd.ExtraFiles = complaint, []*os.File{hold}
	if err := outputOf(cmd, b, 20*time.Millisecond); !errors.Is(err, exec.ErrWaitDelay) || string(b.Bytes()) != "abc" {
		t.Errorf("%q, %v", string(b.Bytes()), err)
	}
}
