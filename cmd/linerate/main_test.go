package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"linerate/internal/netbenches/nbtest"
)

// update rewrites golden files: go test ./... -update.
var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mkarchive": func() { makeArchive(os.Args[1]) },
		"linerate":  func() { simulate(); os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the command as its users do; each script is one behaviour.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			// No script touches its runner's ledger.
			e.Setenv("LINERATE_LEDGER", filepath.Join(e.WorkDir, ".ledger", "ledger.db"))
			return nil
		},
	})
}

// makeArchive writes a small archive of benchmarks that never ran.
func makeArchive(dir string) {
	if err := nbtest.Write(dir, nbtest.Options{Studies: 5, Variants: 3, Trials: 5, Rows: 40, Profile: 100, Seed: 11}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
