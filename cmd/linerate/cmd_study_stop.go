package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"linerate/internal/live"
)

// newStudyStopCmd ends a live study.
func newStudyStopCmd() *cobra.Command {
	t := &target{}
	cmd := verb("study stop", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		m, conn, err := t.reach(args)
		if err != nil {
			return err
		}
		defer conn.Close()
		id, err := m.Hello(cmd.Context())
		if err != nil {
			return err
		}
		if id.UID != 0 {
			return notRoot(m)
		}
		if err := live.Stop(cmd.Context(), conn, m); err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "the study of %s is over, and the host as it was\n", m.Where())
		return nil
	})
	t.addFlags(cmd)
	return cmd
}
