package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/labtest"
)

func TestMain(m *testing.M) {
	labtest.SideBySide()
	testscript.Main(m, map[string]func(){"linerate-bench": main})
}

// TestScripts runs the command as users do; each script is one bench.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true})
}

// TestEveryBenchRefusesUnknownFlags: every bench exits with code 2, names the flag and where to find help, and
// writes nothing to stdout.
func TestEveryBenchRefusesUnknownFlags(t *testing.T) {
	for _, g := range benches() {
		for _, c := range g.Verbs {
			var out, errs bytes.Buffer
			code := run([]string{c.Name(), "--no-such-flag"}, strings.NewReader(""), &out, &errs)
			if code != cli.ExitUsage || out.Len() > 0 || !strings.Contains(errs.String(), "--no-such-flag") || !strings.Contains(errs.String(), "hint: see linerate-bench "+c.Name()) {
				t.Errorf("linerate-bench %s --no-such-flag: exit %d, stdout %q, stderr %q", c.Name(), code, out.String(), errs.String())
			}
		}
	}
}

// TestEveryCommandSaysWhatItDoes: every command has a short help.
func TestEveryCommandSaysWhatItDoes(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" {
			t.Errorf("%s: no help", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCmd())
}
