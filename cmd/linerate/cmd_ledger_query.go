package main

import (
	"context"
	"fmt"
	"io"
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
	var at, out string
	var asCSV, trials bool
	cmd := &cobra.Command{
		Use:   "query",
		Short: "list evidence or trials by tunable, hardware, release, workload …",
		Example: `  linerate ledger query --tunable kern.random.harvest.mask
  linerate ledger query --nic i210 --verdict worse --json
  linerate ledger query --csv > evidence.csv
  linerate ledger query --trials --csv --out trials.csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if trials && !asCSV {
				return hint.Usagef("--trials wants --csv")
			}
			return ledgers.Read(cmd.Context(), at, func(s ledger.Store) error {
				return toOutput(cmd.OutOrStdout(), out, func(w io.Writer) error {
					if trials {
						studies, err := s.Studies(cmd.Context(), f)
						if err != nil {
							return err
						}
						return dump.Trials(w, studies, func(id ledger.ID) ([]ledger.Trial, error) { return s.Trials(cmd.Context(), id) })
					}
					lines, err := ledger.Lines(cmd.Context(), s, f)
					switch {
					case err != nil:
						return err
					case cli.AsJSON(cmd):
						return cli.PrintJSON(w, evidenceDoc{Version: 1, Ledger: s.Place(), Evidence: nonNil(lines), Pooled: evidence.Together(ledger.Rows(lines))})
					case asCSV:
						return dump.Evidence(w, lines)
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
	cmd.Flags().BoolVar(&asCSV, "csv", false, "write rows as CSV")
	cmd.Flags().BoolVar(&trials, "trials", false, "write the trials instead of the evidence")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`FILE` to write (default: standard output)")
	cli.JSONFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("json", "csv")
	return cmd
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
