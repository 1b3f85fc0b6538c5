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

// newSchemaCmd prints the JSON Schemas that are built in.
func newSchemaCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "print the JSON Schema of a file or a document",
		Long: `Schema prints the JSON Schema (draft 7) of a file that linerate reads, for
completion and checks in an editor, or of a document that it prints with --json.
Without a name it lists them.

For editors with the YAML language server, name it in a study's first line:

    # yaml-language-server: $schema=./study.schema.json`,
		Example: `    linerate schema
    linerate schema study > study.schema.json`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return schemas.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
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
		},
	}
}

func listSchemas(cmd *cobra.Command) error {
	t := show.Table{Header: []string{"NAME", "OF"}}
	for _, name := range schemas.Names() {
		t.Add(name, schemas.Title(name))
	}
	return t.Write(cmd.OutOrStdout(), cli.StyleOf(cmd.OutOrStdout()))
}
