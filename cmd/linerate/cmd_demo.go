package main

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/lab"
	"linerate/internal/show"
)

// demoStudy is the study that demo runs.
const demoStudy = "demo"

func newDemoCmd() *cobra.Command {
	var f runFlags
	cmd := verb("demo", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		return assemble.Inside(cmd.Context(), func() error { return runDemo(cmd, &f) })
	})
	f.addNew(cmd)
	return cmd
}

func runDemo(cmd *cobra.Command, f *runFlags) error {
	s, err := findStudy(demoStudy)
	if err != nil {
		return err
	}
	if err := f.shape(cmd, &s); err != nil {
		return err
	}
	fmt.Fprintf(cli.Talk(cmd), "%s\n%d variants and the control once more, about %s on an idle machine. Ctrl-C stops at any time.\n\n",
		s.Question, len(s.Variants), show.Clock(lab.Estimate(lab.Task{Spec: s, Seed: *s.Seed})))
	path, err := f.runNew(cmd, s)
	var code hint.Exit
	if err != nil && !errors.As(err, &code) || cli.AsJSON(cmd) {
		return err
	}
	fmt.Fprint(cmd.OutOrStdout(), nextSteps(path), moreRights())
	return err
}

// moreRights says what the demo would add if run as root; it is empty for root.
func moreRights() string {
	if cli.Root() || runtime.GOOS != "linux" {
		return ""
	}
	return `
You are not root. As root the traffic comes from eBPF, with many times the packets and
narrower intervals; the report says why packets were dropped, and what happens under
overload:
  sudo linerate demo
`
}

// nextSteps suggests further commands and names the record.
func nextSteps(record string) string {
	return fmt.Sprintf(`
Next:
  linerate study list                   other questions to put to this kernel
  linerate study run jail-hop           one of them
  linerate study show %s > my.yaml    a study of your own: edit it, then
                                        linerate study run my.yaml
The record is in %s
`, demoStudy, record)
}
