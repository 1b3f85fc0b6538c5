package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/apply"
	"linerate/internal/hint"
	"linerate/internal/show"
)

// newRollbackCmd takes changes back.
func newRollbackCmd() *cobra.Command {
	var to string
	var force bool
	cmd := onTarget("rollback", "take an applied plan back, pending or confirmed",
		`Rollback puts a host back to before the pending plan, else to before the one
that was confirmed last, else to before an older one (--to). It refuses what
changed since, unless --force is given.`,
		func(cmd *cobra.Command, m apply.Machine, st apply.Status) error {
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
	last, ok := st.Current()
	if !ok {
		return hint.With(fmt.Errorf("nothing that was confirmed is in force on %s", m.Where()), "linerate status shows the history")
	}
	to, err := inForce(st, cmp.Or(to, last.ID))
	if err != nil {
		return err
	}
	for {
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
		last, _ = st.Current()
	}
}

// inForce completes an id of the history that is confirmed.
func inForce(st apply.Status, id string) (string, error) {
	var known []string
	for _, p := range st.History {
		if p.Outcome != string(apply.Confirmed) {
			continue
		}
		if p.ID == id || strings.HasPrefix(p.ID, id+"-") {
			return p.ID, nil
		}
		known = append(known, p.ID)
	}
	return "", hint.Unknown("confirmed change", id, known)
}
