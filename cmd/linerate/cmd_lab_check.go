package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/testbeds"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/study"
	"linerate/internal/testbed/sshbed"
)

func newLabCheckCmd() *cobra.Command {
	var config string
	var long time.Duration
	cmd := verb("lab check", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		if long < 100*time.Millisecond || long > time.Hour {
			return hint.Usagef("--time %s: from 100ms to 1h", long)
		}
		file, _, err := testbeds.ReadFile(args[0])
		if err != nil {
			return err
		}
		m := &testbeds.Machines{File: file, Config: config, Talk: cmd.ErrOrStderr()}
		steps, err := checkTestbed(cmd, m, long.Seconds())
		if cli.AsJSON(cmd) {
			err = errors.Join(cli.PrintJSON(cmd.OutOrStdout(), checkDocument{1, args[0], err == nil, steps}), err)
		}
		return err
	})
	addSSHConfig(cmd, &config)
	cmd.Flags().DurationVar(&long, "time", time.Second, "how long a step offers traffic through the DUT")
	cli.JSONFlag(cmd)
	return cmd
}

// checkDocument is the output of lab check --json.
type checkDocument struct {
	Version int           `json:"version"`
	Testbed string        `json:"testbed"`
	Ready   bool          `json:"ready"`
	Steps   []sshbed.Step `json:"steps"`
}

// checkTestbed checks a testbed and prints each step when it ends.
func checkTestbed(cmd *cobra.Command, m *testbeds.Machines, seconds float64) ([]sshbed.Step, error) {
	steps := []sshbed.Step{}
	tell := func(s sshbed.Step) {
		steps = append(steps, s)
		if cli.AsJSON(cmd) {
			return
		}
		mark := map[bool]string{true: "ok    ", false: "FAILED"}[s.OK]
		fmt.Fprintf(cmd.OutOrStdout(), "%s  %s: %s\n        %s\n", mark, s.Name, s.Found, s.Proves)
		if s.Hint != "" {
			fmt.Fprintf(cmd.OutOrStdout(), "        hint: %s\n", s.Hint)
		}
	}
	err := proveTestbed(cmd.Context(), m, testbeds.OwnerOf("lab check "+fmt.Sprint(os.Getpid())), seconds, tell)
	if errors.Is(err, sshbed.ErrCheck) {
		err = hint.With(err, "fix what FAILED, then check again: each step needs those before")
	}
	return steps, err
}

// proveTestbed locks a testbed of machines for owner and checks it step by step, with traffic for
// the given seconds.
func proveTestbed(ctx context.Context, m *testbeds.Machines, owner string, seconds float64, tell func(sshbed.Step)) error {
	engine, err := m.Engine()
	if err != nil {
		return err
	}
	defer func() { _ = engine.Close() }()
	o, err := m.Options(sshbed.Options{Owner: owner, Window: testbeds.WindowOf(study.Spec{}, m.File)})
	if err != nil {
		return err
	}
	return sshbed.Check(ctx, o, sshbed.Traffic{Ready: engine.Ready, Shout: testbeds.Shout(engine), Through: testbeds.Through(engine), Seconds: seconds,
		Headroom: study.DefaultGates().Headroom}, tell)
}
