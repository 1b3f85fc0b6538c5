package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/cli"
	"linerate/internal/evidence"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/ledger/dump"
)

func newLedgerQueryCmd() *cobra.Command {
	var f ledger.Filter
	var at, format, out string
	var asJSON, trials bool
	cmd := &cobra.Command{
		Use:   "query",
		Short: "list evidence or trials by tunable, hardware, release, workload …",
		Example: `  linerate ledger query --tunable kern.random.harvest.mask
  linerate ledger query --nic i210 --verdict worse --json
  linerate ledger query --format csv > evidence.csv
  linerate ledger query --trials --format csv --out trials.csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case format != "" && !slices.Contains(dump.Formats, format):
				return hint.Unknown("format", format, dump.Formats)
			case asJSON && format != "":
				return hint.Usagef("--json and --format are two documents: choose one")
			case trials && (format == "" || format == "markdown"):
				return hint.Usagef("--trials wants --format csv or jsonl")
			}
			return ledgers.Read(cmd.Context(), at, func(s ledger.Store) error {
				return toOutput(cmd.OutOrStdout(), out, func(w io.Writer) error {
					if trials {
						return writeTrials(cmd.Context(), w, s, f, format)
					}
					lines, err := ledger.Lines(cmd.Context(), s, f)
					switch {
					case err != nil:
						return err
					case asJSON:
						return cli.PrintJSON(w, evidenceDoc{Version: 1, Ledger: s.Place(), Evidence: nonNil(lines), Pooled: evidence.Together(ledger.Rows(lines))})
					case format == "markdown":
						return dump.Markdown(w, lines)
					case format != "":
						return dump.Write(w, format, dump.Evidence(lines))
					case len(lines) == 0:
						return noEvidence(cmd.Context(), cmd.ErrOrStderr(), s, &f)
					}
					return printEvidence(w, lines)
				})
			})
		},
	}
	addFilterFlags(cmd, &f)
	addLedgerFlag(cmd, &at)
	cmd.Flags().IntVar(&f.Limit, "limit", 0, "largest number of rows")
	cmd.Flags().StringVar(&format, "format", "", "write rows as `FORM`: "+strings.Join(dump.Formats, ", "))
	cmd.Flags().BoolVar(&trials, "trials", false, "write the trials instead of the evidence")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`FILE` to write (default: standard output)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// writeTrials writes the trials of the studies that a filter lets through.
func writeTrials(ctx context.Context, w io.Writer, s ledger.Store, f ledger.Filter, format string) error {
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

// evidenceDoc is the document of ledger query --json.
type evidenceDoc struct {
	Version  int           `json:"version"`
	Ledger   string        `json:"ledger"`
	Evidence []ledger.Line `json:"evidence"`
	// Pooled is what they say together, change by change.
	Pooled []evidence.Change `json:"pooled"`
}

func nonNil(l []ledger.Line) []ledger.Line {
	if l == nil {
		return []ledger.Line{}
	}
	return l
}

// noEvidence tells a tunable that was not measured from a name that is unknown.
func noEvidence(ctx context.Context, w io.Writer, s ledger.Store, f *ledger.Filter) error {
	names, err := s.Tunables(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "no evidence of that in %s\n", s.Place())
	if f.Tunable != "" && names[evidence.FoldName(f.Tunable)] == 0 {
		var known []string
		for n := range names {
			known = append(known, n)
		}
		if near := hint.Nearest(evidence.FoldName(f.Tunable), known, 3); len(near) > 0 {
			fmt.Fprintf(w, "hint: measured were %s\n", strings.Join(near, ", "))
		}
	}
	return nil
}
