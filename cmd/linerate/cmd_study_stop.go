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
		Short: "end the live study of a host and put the host back",
		Long: `Stop takes the host away from the live study that has it (linerate prove), wherever that
runs, and puts the host back. The study ends at its next look; what it measured is
kept, and linerate study resume goes on with it.

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
