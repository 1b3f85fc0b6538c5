//go:build unix

package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/ledger"
	"linerate/internal/store/sqlite"
	"linerate/internal/store/storetest"
)

// Environment of a process that appends until it is stopped: the ledger, a name for its studies, and the
// largest file size that it may write.
const (
	envWriter = "LINERATE_TEST_WRITER"
	envName   = "LINERATE_TEST_WRITER_NAME"
	envLimit  = "LINERATE_TEST_WRITER_LIMIT"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(envWriter); path != "" {
		write(path, os.Getenv(envName))
		return
	}
	os.Exit(m.Run())
}

// write appends studies one after the other and prints each when the ledger has acknowledged it.
func write(path, name string) {
	if os.Getenv(envLimit) != "" {
		signal.Ignore(syscall.SIGXFSZ)
		limit := unix.Rlimit{Cur: 400 << 10, Max: 400 << 10}
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			fmt.Println("fail", err)
			return
		}
	}
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path, nobody)
	if err != nil {
		fmt.Println("fail", err)
		return
	}
	for i := 0; ; i++ {
		study := fmt.Sprintf("%s %d", name, i)
		_, err := s.Append(ctx, storetest.Sample(study))
		if err != nil {
			fmt.Println("fail", errors.Is(err, ledger.ErrFull), err)
			return
		}
		fmt.Println("ack", study)
	}
}

// writer is such a process; wait returns what it printed until its end.
type writer struct {
	cmd  *exec.Cmd
	acks chan []string
	last chan string
}

func start(t *testing.T, path, name string, env ...string) *writer {
	t.Helper()
	w := &writer{cmd: exec.Command(os.Args[0]), acks: make(chan []string, 1), last: make(chan string, 1)}
	w.cmd.Env = append(os.Environ(), append(env, envWriter+"="+path, envName+"="+name)...)
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		var acks []string
		failed := ""
		in := bufio.NewScanner(out)
		for in.Scan() {
			if a, ok := strings.CutPrefix(in.Text(), "ack "); ok {
				acks = append(acks, a)
			} else {
				failed = in.Text()
			}
		}
		w.acks <- acks
		w.last <- failed
	}()
	return w
}

func (w *writer) wait() (acks []string, failed string) {
	acks, failed = <-w.acks, <-w.last
	w.cmd.Wait()
	return acks, failed
}

func reopen(t *testing.T, path string) ledger.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, nobody)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// whole checks that the ledger verifies and contains every acknowledged study completely.
func whole(t *testing.T, path string, acks []string) {
	t.Helper()
	s := reopen(t, path)
	r, err := ledger.Verify(t.Context(), s, "")
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK {
		t.Fatalf("the ledger does not verify: %q", r.Problems)
	}
	for _, a := range acks {
		if _, err := s.Get(t.Context(), storetest.Sample(a).Ref); err != nil {
			t.Errorf("study %q was acknowledged and is lost (%v)", a, err)
		}
	}
	if want := 9*r.Entries + min(1, r.Entries); r.Rows != want {
		t.Errorf("%d rows in %d entries, want %d: something is half-written", r.Rows, r.Entries, want)
	}
	if r.Entries < int64(len(acks)) {
		t.Errorf("%d entries, %d were acknowledged", r.Entries, len(acks))
	}
}

// TestKill: writers that are killed at any moment lose nothing that was acknowledged, and leave nothing
// half-written.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	var acks []string
	for round := range 6 {
		a := start(t, path, fmt.Sprintf("a%d", round))
		b := start(t, path, fmt.Sprintf("b%d", round))
		time.Sleep(time.Duration(60+37*round) * time.Millisecond)
		a.cmd.Process.Kill()
		b.cmd.Process.Kill()
		for _, w := range []*writer{a, b} {
			got, failed := w.wait()
			if failed != "" {
				t.Errorf("a writer failed on its own: %s", failed)
			}
			acks = append(acks, got...)
		}
		whole(t, path, acks)
	}
	t.Logf("%d studies acknowledged before 12 kills, all stored", len(acks))
}

// TestFileLimit: if the file may not grow, appending fails and leaves the ledger unchanged.
func TestFileLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	w := start(t, path, "limited", envLimit+"=1")
	acks, failed := w.wait()
	if len(acks) == 0 || failed == "" {
		t.Fatalf("%d studies, then %q: the limit was not met", len(acks), failed)
	}
	whole(t, path, acks)
	if _, err := reopen(t, path).Append(t.Context(), storetest.Sample("after")); err != nil {
		t.Errorf("with room again: %v", err)
	}
	whole(t, path, append(acks, "after"))
}
