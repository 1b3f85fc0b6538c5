package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linerate/bench/fault"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/localhost"
	"linerate/internal/list"
)

// newApplyCmd strikes at apply, and counts what is left of the host.
func newApplyCmd() *cobra.Command {
	var o fault.Options
	var sabotage string
	var kinds []string
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "inject faults at every step of apply, confirm and rollback",
		Long: `Applies, confirms and rolls back on sandboxed hosts (files in a root and on a
file system of their own, sysctls in network namespaces), and at every step of
it kills the agent, cuts the connection, fills the disk, makes it read-only,
fails a command, lies on reading back, moves the clock, applies something else,
boots, or cuts the power and loses what was not synced. After recovery each host must be exactly as it was, or exactly as it
was confirmed. Exits with 1 if one is not.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Sabotage = fault.Sabotage(sabotage); sabotage != "" && !slices.Contains(fault.Sabotages(), o.Sabotage) {
				return hint.Unknown("value of --break", sabotage, []string{string(fault.BreakRevert), string(fault.BreakSync)})
			}
			if o.Faults < 1 {
				return hint.Usagef("--faults is at least 1")
			}
			for _, k := range kinds {
				if !slices.Contains(fault.Kinds(), fault.Kind(k)) {
					return hint.Unknown("kind of fault", k, kindNames())
				}
				o.Kinds = append(o.Kinds, fault.Kind(k))
			}
			return benchApply(cmd, o)
		},
	}
	cmd.Flags().IntVar(&o.Faults, "faults", 500, "how many")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "order of the faults")
	cmd.Flags().IntVar(&o.Workers, "workers", 4, "hosts struck at the same time")
	cmd.Flags().StringSliceVar(&kinds, "kind", nil, "only faults of this kind: "+strings.Join(kindNames(), ", "))
	cmd.Flags().StringVar(&sabotage, "break", "", "sabotage the agent, to see the check fail: `revert` or sync")
	cli.JSONFlag(cmd)
	return cmd
}

func kindNames() []string {
	return list.Map(fault.Kinds(), func(k fault.Kind) string { return string(k) })
}

func benchApply(cmd *cobra.Command, o fault.Options) error {
	if os.Getuid() != 0 {
		return hint.With(fmt.Errorf("bench apply makes namespaces and file systems, which needs root"), "run it with sudo")
	}
	dir, err := os.MkdirTemp("", "linerate-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	o.Runner = func(r *fault.Sandbox, env []string) host.Runner { return &localhost.Runner{Env: env, Start: r.Start} }
	live := cli.NewLive(cmd.ErrOrStderr())
	o.Progress = func(done int) { live.Show("%d of %d faults", done, o.Faults) }
	r, err := fault.Run(cmd.Context(), dir, o)
	live.End()
	if err != nil {
		return err
	}
	if cli.AsJSON(cmd) {
		if err := cli.PrintJSON(cmd.OutOrStdout(), r); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(cmd.OutOrStdout(), "%d faults: %d hosts as they were, %d as confirmed, %d mixed, %d lost\n", r.Faults, r.Old, r.New, r.Mixed, r.Lost)
	}
	for _, b := range r.Bad {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s\n", b)
	}
	if r.Mixed+r.Lost > 0 {
		return hint.Exit(cli.ExitFailed)
	}
	return nil
}
