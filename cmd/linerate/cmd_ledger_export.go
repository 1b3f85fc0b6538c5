package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/evidence"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/ledger/commons"
	"linerate/internal/ledger/dump"
	"linerate/internal/study/record"
)

func newLedgerExportCmd() *cobra.Command {
	var at, out, source, public string
	var raw, table bool
	cmd := verb("ledger export", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		if raw && table || source != "" && !table {
			return hint.Usagef("--raw is of the whole ledger, --source of --catalogue")
		}
		return ledgers.Read(cmd.Context(), at, func(s ledger.Store) error {
			if public != "" {
				return publish(cmd, s, public)
			}
			return toOutput(cmd.OutOrStdout(), out, func(w io.Writer) error {
				if !table {
					return dump.All(cmd.Context(), w, s, raw)
				}
				rows, err := ledgers.Known(cmd.Context(), s)
				if err == nil {
					_, err = w.Write(evidence.Format(rows, source))
				}
				return err
			})
		})
	})
	addLedgerFlag(cmd, &at)
	cmd.Flags().StringVarP(&out, "out", "o", "", "`FILE` to write (default: standard output)")
	cmd.Flags().BoolVar(&raw, "raw", false, "include the bytes of imported files")
	cmd.Flags().BoolVar(&table, "catalogue", false, "write the table of verdicts that ships with linerate")
	cmd.Flags().StringVar(&public, "public", "", "`DIR` of studies that anybody may read, to add to")
	cmd.Flags().StringVar(&source, "source", "", "where the studies were published, for the table's head")
	return cmd
}

// publish adds the ledger's own studies to a commons.
func publish(cmd *cobra.Command, s ledger.Reader, dir string) error {
	all, err := s.Studies(cmd.Context(), ledger.Filter{})
	if err != nil {
		return err
	}
	added := 0
	for i := range all {
		r, err := ledger.OpenRecord(cmd.Context(), s, &all[i])
		if errors.Is(err, ledger.ErrNotFound) {
			continue
		}
		name := string(all[i].ID)
		if _, is := os.Stat(filepath.Join(dir, name)); err == nil && is == nil {
			continue
		}
		var public record.Memory
		if err == nil {
			public, err = commons.Public(r)
		}
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "left out: %s: %v\n", all[i].Name, err)
			continue
		}
		if err := commons.Write(dir, name, public); err != nil {
			return err
		}
		added++
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s added\n", dir, counted(added, "study", "studies"))
	return nil
}
