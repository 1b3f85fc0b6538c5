package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"linerate/internal/apply"
	"linerate/internal/hint"
	"linerate/internal/show"
)

// newRollbackCmd takes changes back.
func newRollbackCmd() *cobra.Command {
	var to string
	var force bool
	cmd, _ := onTarget("rollback", "take an applied plan back, pending or confirmed",
		`Rollback puts a host back to before the pending plan, else to before the one
that was confirmed last, else to before an older one (--to). It refuses what
somebody changed since, unless told otherwise.`,
		func(cmd *cobra.Command, m apply.Machine) error {
			st, err := m.Status(cmd.Context())
			if err != nil {
				return err
			}
			switch {
			case st.UID != 0:
				return notRoot(m)
			case st.State != "idle":
				said, err := m.Revert(cmd.Context(), "any", "taken back by hand")
				fmt.Fprintln(cmd.OutOrStdout(), said)
				return err
			}
			return rollback(cmd, m, st, to, force)
		})
	cmd.Flags().StringVar(&to, "to", "", "back to before this `ID` of the history (linerate status)")
	cmd.Flags().BoolVar(&force, "force", false, "even where somebody changed a value since")
	return cmd
}

// rollback takes confirmed transactions back, the last first.
func rollback(cmd *cobra.Command, m apply.Machine, st apply.Status, to string, force bool) error {
	for {
		last, ok := st.Current()
		if !ok {
			return hint.With(fmt.Errorf("nothing that was confirmed is in force on %s", m.Where()), "linerate status shows the history")
		}
		if to == "" {
			to = last.ID
		}
		if last.ID < to {
			return hint.With(fmt.Errorf("%s is not in force on %s", to, m.Where()), "the last that was confirmed is %s", last.ID)
		}
		if len(st.Drift) > 0 && !force {
			d := st.Drift[0]
			return hint.With(fmt.Errorf("%s was changed since %s was confirmed: it is %q, was %q (%d such)", show.Clean(d.What), last.ID, show.Clean(d.Now), show.Clean(d.Confirmed), len(st.Drift)),
				"--force puts back what was before %s all the same", last.ID)
		}
		said, err := m.Rollback(cmd.Context(), last.ID)
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), said)
		if last.ID == to {
			return nil
		}
		if st, err = m.Status(cmd.Context()); err != nil {
			return err
		}
	}
}
