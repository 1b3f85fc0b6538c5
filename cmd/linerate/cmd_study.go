package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"linerate/internal/show"
	"linerate/internal/study"
)

func newStudyCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "study",
		Short: "prove a setting with packets: compare variants in random order",
		Long: `A study compares variants of a router, a firewall or a server with a control, in
randomised blocks on a testbed that is rebuilt between trials, and gives each a
verdict.`,
	}
	cmd.AddCommand(newStudyListCmd(), newStudyShowCmd(), newStudyRunCmd(), newStudyResumeCmd(), newStudyStopCmd(), newStudyQueueCmd())
	return cmd
}

func newStudyShowCmd() *cobra.Command {
	var resolved bool
	cmd := &cobra.Command{
		Use:   "show NAME|FILE.yaml",
		Short: "print a study's YAML, to read or to start your own from",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, data, err := readStudy(args[0])
			if err != nil {
				return err
			}
			s, err := study.Parse(file, data)
			if err != nil {
				return err
			}
			if resolved {
				if data, err = study.Format(s); err != nil {
					return err
				}
			}
			if _, err = cmd.OutOrStdout().Write(data); err != nil {
				return err
			}
			full, quick := lengths(s)
			fmt.Fprintf(cmd.ErrOrStderr(), "takes about %s on an idle machine, with --quick %s\n", show.Clock(full), show.Clock(quick))
			return nil
		},
	}
	cmd.Flags().BoolVar(&resolved, "resolved", false, "include all defaults")
	return cmd
}
