package main

import (
	"io"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/fact/page"
	"linerate/internal/role"
)

// newInspectCmd shows what is known of a host.
func newInspectCmd() *cobra.Command {
	var src source
	var w sysctlWatch
	cmd := verb("inspect", cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
		if w != (sysctlWatch{}) {
			return w.run(cmd, &src, args)
		}
		f, err := src.Facts(cmd.Context(), args)
		if err != nil {
			return err
		}
		guess, err := role.Of(f)
		if err != nil {
			return err
		}
		return cli.Print(cmd, hosts.Inspected{Facts: f.Shortened(), Guess: guess, Drops: f.Drops()}, func(w io.Writer) error { return page.Write(w, f, guess, cli.StyleOf(w)) })
	})
	src.addFlags(cmd)
	w.addFlags(cmd)
	cli.JSONFlag(cmd)
	return cmd
}
