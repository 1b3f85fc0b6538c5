package main

import (
	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/fact"
	"linerate/internal/fact/page"
	"linerate/internal/role"
)

// inspected is the document of inspect --json: the facts, and what was made
// of them. docs/reference/facts.md describes it.
type inspected struct {
	*fact.Facts
	role.Guess
	Drops []fact.Drop `json:"drops"`
}

// newInspectCmd shows what is known of a host.
func newInspectCmd() *cobra.Command {
	var src source
	var asJSON bool
	var hosts string
	cmd := &cobra.Command{
		Use:   "inspect " + sourceUse + " …",
		Short: "show what a host is, how it is set up, and where it drops",
		Long: `Inspect reads a host and shows what it is made of, how it is set up and where
its counters show drops. It only looks; it needs no privileges, and says what
it could not read.

` + sourceHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			named, err := sources(args, hosts)
			if err != nil {
				return err
			}
			if len(named) > 1 {
				return inspectMany(cmd, &src, named, asJSON)
			}
			f, err := src.Facts(cmd.Context(), named)
			if err != nil {
				return err
			}
			guess, err := role.Of(f)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), inspected{f.Shortened(), guess, f.Drops()})
			}
			return page.Write(cmd.OutOrStdout(), f, guess, cli.StyleOf(cmd.OutOrStdout()))
		},
	}
	src.addFlags(cmd)
	cmd.Flags().StringVar(&hosts, "hosts", "", "show the hosts that `FILE` names, one ssh://[user@]host[:port] a line")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the facts as one JSON document")
	return cmd
}
