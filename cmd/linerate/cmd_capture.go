package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"linerate/internal/capture"
	"linerate/internal/hint"
)

// newCaptureCmd collects a host into a bundle.
func newCaptureCmd() *cobra.Command {
	var out string
	var script bool
	cmd := &cobra.Command{
		Use:   "capture",
		Short: "collect what an audit needs of this host into one file",
		Long: `Capture collects this host's settings, hardware and counters into a bundle
that inspect and audit read elsewhere, later. It runs one POSIX shell script of
the base system's commands, changes nothing and needs no privileges (as root it
sees more). Secrets are left out, and the bundle lists what was.

Print the script, to read it or to run it by hand where linerate is not:
    linerate capture --script > capture.sh
    sh capture.sh -o bundle.tar.gz`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if script {
				_, err := fmt.Fprint(cmd.OutOrStdout(), capture.Script())
				return err
			}
			if out == "-" && isTerminal(cmd.OutOrStdout()) {
				return hint.With(hint.Usagef("-o - would write the bundle to the terminal"), "name a file: -o bundle.tar.gz")
			}
			return capture.Run(cmd.Context(), out, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the bundle to `FILE`, - for stdout (default linerate-HOST-TIME.tar.gz)")
	cmd.Flags().BoolVar(&script, "script", false, "print the script instead of running it")
	return cmd
}
