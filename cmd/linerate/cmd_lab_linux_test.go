package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"linerate/internal/labtest"
)

// linerate runs a command and returns its output and exit code.
func linerate(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = run(args, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), code
}

func TestLabUpStatusDown(t *testing.T) {
	labtest.Namespaces(t)
	// Of this process alone: a run that was killed left its own.
	name := fmt.Sprintf("%s%d", labtest.Prefix, os.Getpid())
	out, errs, code := linerate("lab", "up", "--name", name, "--json")
	if code != 0 {
		t.Fatalf("lab up: %d, %s", code, errs)
	}
	t.Cleanup(func() { linerate("lab", "down", name) })
	var up labReport
	if err := json.Unmarshal([]byte(out), &up); err != nil || up.Name != name || len(up.Namespaces) != 3 {
		t.Fatalf("lab up printed %s (%v)", out, err)
	}
	if out, _, _ := linerate("lab", "status"); !strings.Contains(out, name) {
		t.Errorf("lab status does not list the lab:\n%s", out)
	}
	if _, errs, code := linerate("lab", "up", "--name", name); code != 1 || !strings.Contains(errs, "hint: use another --name") {
		t.Errorf("a second lab of the same name: %d, %s", code, errs)
	}
	if _, errs, code := linerate("lab", "down", name+"x"); code != 2 || !strings.Contains(errs, "did you mean "+name) {
		t.Errorf("a mistyped lab: %d, %s", code, errs)
	}
	if _, errs, code := linerate("lab", "down", name); code != 0 {
		t.Errorf("lab down: %d, %s", code, errs)
	}
}

// TestLabScripts sends frames by hand through labs of their own.
func TestLabScripts(t *testing.T) {
	t.Parallel()
	labtest.Namespaces(t)
	var scripts atomic.Int32 // they run side by side, each with a lab of its own
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/lab",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			fitSchemas(t, e)
			name := fmt.Sprintf("%s%dx%d", labtest.Prefix, os.Getpid(), scripts.Add(1))
			e.Setenv("LAB", name)
			e.Defer(func() { linerate("lab", "down", name) }) // a script that failed half-way
			return nil
		},
	})
}

// TestLabDownPutsBackWhatKilledLabsLeft: --all does, with and without labs; one
// lab's end is no reason to touch others' settings.
func TestLabDownPutsBackWhatKilledLabsLeft(t *testing.T) {
	for _, c := range []struct {
		args []string
		want int
	}{{[]string{"--all"}, 1}, {[]string{"one"}, 0}} {
		swept := 0
		cmd := newLabDownCmd(func() ([]namedLab, error) { return nil, nil }, func(string) error { return nil }, func() error { swept++; return nil })
		cmd.SetArgs(c.args)
		cmd.SetOut(&bytes.Buffer{})
		if err := cmd.Execute(); err != nil || swept != c.want {
			t.Errorf("lab down %v swept %d times, want %d (%v)", c.args, swept, c.want, err)
		}
	}
}
