package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/schemas"
)

// newSchemaCmd returns the command that prints the built-in JSON Schemas.
func newSchemaCmd() *cobra.Command {
	return verb("schema", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return listSchemas(cmd)
		}
		text, err := schemas.Read(args[0])
		if errors.Is(err, os.ErrNotExist) {
			return hint.Unknown("schema", args[0], schemas.Names())
		} else if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(text)
		return err
	})
}

func listSchemas(cmd *cobra.Command) error {
	t := show.Table{Header: []string{"NAME", "OF"}}
	for _, name := range schemas.Names() {
		t.Add(name, schemas.Title(name))
	}
	return t.Write(cmd.OutOrStdout(), cli.StyleOf(cmd.OutOrStdout()))
}
