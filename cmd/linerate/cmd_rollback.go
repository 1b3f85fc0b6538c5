package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"linerate/internal/apply"
	"linerate/internal/cli"
	"linerate/internal/hint"
)

// newRollbackCmd returns the command that reverts changes.
func newRollbackCmd() *cobra.Command {
	var to, wave, ledger string
	var force, yes bool
	var at target
	cmd := onTarget("rollback", &at, func(cmd *cobra.Command, m apply.Machine, st apply.Status) error {
		switch {
		case st.UID != 0:
			return notRoot(m)
		case st.Live != nil:
			return st.Taken()
		case st.State != "idle":
			said, err := m.Revert(cmd.Context(), "any", "taken back by hand")
			fmt.Fprintln(cmd.OutOrStdout(), said)
			return err
		}
		if agreed, err := agreedOnTerminal(cmd, yes, "Revert what was confirmed on "+m.Where()+"?"); err != nil || !agreed {
			return err
		}
		return apply.RollBack(cmd.Context(), m, st, to, force, func(said string) { fmt.Fprintln(cmd.OutOrStdout(), said) })
	})
	single := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case wave == "" && cli.AsJSON(cmd):
			return hint.Usagef("--json needs --wave")
		case wave == "":
			return single(cmd, args)
		case to != "" || len(args) > 0:
			return hint.With(hint.Usagef("--wave takes the hosts from the wave"), "roll a single host back without it")
		}
		if agreed, err := agreedOnTerminal(cmd, yes, "Revert the hosts of wave "+wave+"?"); err != nil || !agreed {
			return err
		}
		return rollbackWave(cmd, at.Remote, ledger, wave, force)
	}
	cmd.Flags().StringVar(&wave, "wave", "", "roll back every host of the wave `ID` (linerate fleet wave)")
	cli.JSONFlag(cmd)
	addLedgerFlag(cmd, &ledger)
	cmd.Flags().StringVar(&to, "to", "", "restore the state before this `ID` of the history (linerate status)")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite values that were changed since")
	return cmd
}

// agreedOnTerminal asks the question if standard input is a terminal; scripts are not asked.
func agreedOnTerminal(cmd *cobra.Command, yes bool, question string) (bool, error) {
	if in, ok := cmd.InOrStdin().(*os.File); yes || !ok || !cli.IsTerminal(in) {
		return true, nil
	}
	return cli.Confirm(cmd, question)
}
