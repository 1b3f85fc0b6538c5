package main

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/ledger/dump"
)

func newLedgerExportCmd() *cobra.Command {
	var f ledger.Filter
	var at, format, what, out string
	var all, raw bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "write evidence or trials as JSON lines, CSV or Markdown",
		Example: `  linerate ledger export --format csv > evidence.csv
  linerate ledger export --what trials --format csv --out trials.csv
  linerate ledger export --all --raw > ledger.jsonl      # everything, for linerate import`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(dump.Formats, format) {
				return hint.Unknown("format", format, dump.Formats)
			}
			return ledgers.Read(cmd.Context(), at, func(s ledger.Store) error {
				return toOutput(cmd.OutOrStdout(), out, func(w io.Writer) error {
					if all {
						return dump.All(cmd.Context(), w, s, raw)
					}
					return export(cmd.Context(), w, s, f, what, format)
				})
			})
		},
	}
	addFilterFlags(cmd, &f)
	addLedgerFlag(cmd, &at)
	cmd.Flags().StringVar(&format, "format", "jsonl", "jsonl, csv or markdown")
	cmd.Flags().StringVar(&what, "what", "evidence", "evidence or trials")
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write (default: standard output)")
	cmd.Flags().BoolVar(&all, "all", false, "export the whole ledger as JSON lines, for import elsewhere")
	cmd.Flags().BoolVar(&raw, "raw", false, "with --all: the bytes of imported files too")
	return cmd
}

func export(ctx context.Context, w io.Writer, s ledger.Store, f ledger.Filter, what, format string) error {
	switch what {
	case "evidence":
		lines, err := ledger.Lines(ctx, s, f)
		if err != nil {
			return err
		}
		if format == "markdown" {
			return dump.Markdown(w, lines)
		}
		return dump.Write(w, format, dump.Evidence(lines))
	case "trials":
		studies, err := s.Studies(ctx, f)
		if err != nil {
			return err
		}
		var rows []dump.TrialRow
		for i := range studies {
			ts, err := s.Trials(ctx, studies[i].ID)
			if err != nil {
				return err
			}
			rows = append(rows, dump.Trials(&studies[i], ts)...)
		}
		return dump.Write(w, format, rows)
	}
	return hint.Unknown("--what", what, []string{"evidence", "trials"})
}
