package main

import (
	"github.com/spf13/cobra"

	"linerate/internal/assemble"
)

// helpers returns the internal commands that a lab runs inside its jails.
func helpers() []*cobra.Command {
	return []*cobra.Command{{
		Use: assemble.HelperVerb + " ORDER", Short: "open a port of a lab in its jail, and hand it out", Hidden: true,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return assemble.Help(args[0]) },
	}}
}
