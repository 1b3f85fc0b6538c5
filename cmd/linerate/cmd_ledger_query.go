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
)

func newLedgerQueryCmd() *cobra.Command {
	var f ledger.Filter
	var at string
	cmd := verb("ledger query", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		return ledgers.Read(cmd.Context(), at, func(s ledger.Store) error {
			w := cmd.OutOrStdout()
			lines, err := ledger.Lines(cmd.Context(), s, f)
			switch {
			case err != nil:
				return err
			case cli.AsJSON(cmd):
				return cli.PrintJSON(w, evidenceDoc{Version: 1, Ledger: s.Place(), Evidence: nonNil(lines), Pooled: evidence.Together(ledger.Rows(lines), nil)})
			case len(lines) == 0:
				return noEvidence(cmd.Context(), cmd.ErrOrStderr(), s, &f)
			}
			return printEvidence(w, lines)
		})
	})
	addFilterFlags(cmd, &f)
	addLedgerFlag(cmd, &at)
	cmd.Flags().IntVar(&f.Limit, "limit", 0, "largest number of rows")
	cli.JSONFlag(cmd)
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
