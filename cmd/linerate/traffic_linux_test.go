package main

import (
	"bytes"
	"strings"
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

// TestTrafficByHand sends frames over a wire between namespaces.
func TestTrafficByHand(t *testing.T) {
	t.Parallel()
	labtest.Namespaces(t)
	b := labtest.NewBench(t)
	testscript.RunT(inPlace{t}, testscript.Params{
		Dir:                 "testdata/traffic",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GEN", b.Generator)
			e.Setenv("RX", b.Receiver)
			return nil
		},
	})
}
