// Command linerate-dist makes a release of linerate from its working tree, for
// `make dist`. The same commit gives the same bytes in any directory.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/dist"
	"linerate/internal/show"
)

func main() { os.Exit(cli.Run(newRootCmd(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// options are the flags of the command.
type options struct{ out, version, maintainer string }

func newRootCmd() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use: "linerate-dist", Short: "make a release of linerate", Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.make(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "dist", "write the files to this `DIR`")
	f.StringVar(&o.version, "version", "", "the `VERSION` (default: of the newest tag, v1.2.3)")
	f.StringVar(&o.maintainer, "maintainer", "linerate <linerate@localhost>", "who packages name as `NAME <ADDRESS>`")
	return cmd
}

func (o *options) make(cmd *cobra.Command) error {
	t, err := readTree(cmd.Context(), o.version)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "linerate-dist")
	if err != nil {
		return fmt.Errorf("make a temporary directory: %w", err)
	}
	defer os.RemoveAll(temp)
	r, err := t.release(cmd, temp)
	if err != nil {
		return err
	}
	r.Maintainer = o.maintainer
	files, err := r.Files()
	if err != nil {
		return err
	}
	return write(cmd, o.out, files)
}

// write writes the files to the directory and prints their sizes.
func write(cmd *cobra.Command, out string, files []dist.File) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("make the directory of the release: %w", err)
	}
	t := show.Table{Header: []string{"FILE", "BYTES"}}
	for _, f := range files {
		mode := os.FileMode(0o644)
		if strings.HasSuffix(f.Name, "64") { // the binary of a platform
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(out, f.Name), f.Data, mode); err != nil {
			return fmt.Errorf("write the release: %w", err)
		}
		t.Add(f.Name, show.Count(len(f.Data)))
	}
	return t.Write(cmd.OutOrStdout(), cli.StyleOf(cmd.OutOrStdout()))
}
