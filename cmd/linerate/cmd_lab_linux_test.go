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
	labtest.Outside(t)
	out, errs, code := linerate("lab", "up", "--name", "cmdtest", "--json")
	if code != 0 {
		t.Fatalf("lab up: %d, %s", code, errs)
	}
	t.Cleanup(func() { linerate("lab", "down", "cmdtest") })
	var up labReport
	if err := json.Unmarshal([]byte(out), &up); err != nil || up.Name != "cmdtest" || len(up.Namespaces) != 3 {
		t.Fatalf("lab up printed %s (%v)", out, err)
	}
	if out, _, _ := linerate("lab", "status"); !strings.Contains(out, "cmdtest") {
		t.Errorf("lab status does not list the lab:\n%s", out)
	}
	if _, errs, code := linerate("lab", "up", "--name", "cmdtest"); code != 1 || !strings.Contains(errs, "hint: use another --name") {
		t.Errorf("a second lab of the same name: %d, %s", code, errs)
	}
	if _, errs, code := linerate("lab", "down", "cmdtset"); code != 2 || !strings.Contains(errs, "did you mean cmdtest") {
		t.Errorf("a mistyped lab: %d, %s", code, errs)
	}
	if _, errs, code := linerate("lab", "down", "cmdtest"); code != 0 {
		t.Errorf("lab down: %d, %s", code, errs)
	}
}

// TestLabScripts sends frames by hand through labs of their own.
func TestLabScripts(t *testing.T) {
	labtest.Namespaces(t)
	labtest.Outside(t)
	var scripts atomic.Int32 // they run side by side, each with a lab of its own
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/lab",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			name := fmt.Sprintf("script%dx%d", os.Getpid(), scripts.Add(1))
			e.Setenv("LAB", name)
			e.Defer(func() { linerate("lab", "down", name) }) // a script that failed half-way
			return nil
		},
	})
}
