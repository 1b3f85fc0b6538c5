package localhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/host"
)

// TestPipesDoNotBlock: neither reading nor listing waits for a pipe's writer.
func TestPipesDoNotBlock(t *testing.T) {
	pipe, ctx := filepath.Join(t.TempDir(), "pipe"), context.Background()
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New().ReadFile(ctx, pipe); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a FIFO is read: %v", err)
	}
	if _, err := New().ReadDir(ctx, pipe); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a FIFO is listed: %v", err)
	}
	empty := t.TempDir()
	if names, err := New().ReadDir(ctx, empty); err != nil || len(names) > 0 {
		t.Errorf("an empty directory: %q, %v", names, err)
	}
	if _, err := New().ReadFile(ctx, empty); err == nil || strings.Contains(err.Error(), empty) {
		t.Errorf("an error contains the path, which its caller adds too: %v", err)
	}
}

// TestBoundedKeepsTheFirst: a command with endless output is never blocked, and what is kept ends at the bound.
func TestBoundedKeepsTheFirst(t *testing.T) {
	for _, c := range []struct {
		writes []string
		kept   string
		cut    bool
	}{
		{[]string{"1234", "5678"}, "12345678", false}, {[]string{"12345678"}, "12345678", false}, {[]string{"123456789"}, "12345678", true}, {[]string{"1234", "56789"}, "12345678", true},
		{[]string{"12345678", "9", "0"}, "12345678", true}, {[]string{"", "1"}, "1", false}, {nil, "", false},
	} {
		b := &host.FirstBytes{Limit: 8}
		for _, w := range c.writes {
			if n, err := b.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("%q: %d bytes, %v", w, n, err)
			}
		}
		if string(b.Bytes()) != c.kept || b.Cut != c.cut {
			t.Errorf("%q: kept %q, cut %v", c.writes, string(b.Bytes()), b.Cut)
		}
	}
}

// TestAnswersOfCommands: a command's own error is shown first, a kill with its cause, and the caller's
// environment does not reach the command.
func TestAnswersOfCommands(t *testing.T) {
	_, err := New().Output(context.Background(), host.EthtoolQueries("nosuch0")[0]) // the command exists only on Linux
	if err == nil || !errors.Is(err, host.ErrNoCommand) && !strings.Contains(err.Error(), "(exit status ") {
		t.Errorf("an interface that does not exist: %v", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the user left"))
	if _, err := New().Output(ctx, host.QueryOf(fact.FreeBSD, "uname")); err == nil || err.Error() != "stopped: the user left" {
		t.Errorf("%v", err)
	}
	if _, err := look("no-such-command"); !errors.Is(err, host.ErrNoCommand) {
		t.Errorf("%v", err)
	}
	out, err := (&Runner{Env: []string{"LINERATE_TEST=set"}}).Run(t.Context(), "echo $LINERATE_TEST", nil, nil)
	if err != nil || string(out) != "set\n" {
		t.Errorf("a runner's environment: %q, %v", out, err)
	}
}

// TestManyNamesAreBounded: of a directory with more names than facts hold, the first ones are returned with
// an error.
func TestManyNamesAreBounded(t *testing.T) {
	names := make([]string, host.MaxNames+1)
	for i := range names {
		names[len(names)-1-i] = fmt.Sprintf("%06d", i)
	}
	got, err := host.BoundNames(slices.Clone(names))
	if !errors.Is(err, host.ErrTooLarge) || len(got) != host.MaxNames || got[0] != "000000" {
		t.Errorf("%d names, %v", len(got), err)
	}
	if got, err := host.BoundNames(names[:host.MaxNames]); err != nil || len(got) != host.MaxNames {
		t.Errorf("%d names, %v", len(got), err)
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]string{4: "", 5: "12345", 6: "12345"} {
		if b, err := host.ReadFile(file, limit); string(b) != want || (err == nil) != (want != "") || err != nil && !strings.Contains(err.Error(), file+": larger than the limit") {
			t.Errorf("at most %d bytes: %q, %v", limit, b, err)
		}
	}
}
