package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"linerate/internal/live"
)

// newStudyStopCmd ends a live study.
func newStudyStopCmd() *cobra.Command {
	t := &target{}
	cmd := &cobra.Command{
		Use:   "stop " + targetUse,
		Short: "stop the live study of a host and restore the host",
		Long: `Stop ends the live study that uses a host (linerate prove), wherever it runs, and
restores the host. The study ends at its next poll and keeps its measurements;
linerate study resume continues it.

` + targetHelp,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
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
		},
	}
	t.addFlags(cmd)
	return cmd
}
