package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"linerate/internal/labtest"
)

// TestTrafficByHand sends frames over a link between namespaces.
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
