package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"linerate/internal/show"
	"linerate/internal/study"
)

func newStudyShowCmd() *cobra.Command {
	var resolved bool
	cmd := verb("study show", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
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
	})
	cmd.Flags().BoolVar(&resolved, "resolved", false, "include all defaults")
	return cmd
}
