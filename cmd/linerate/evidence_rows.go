package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/evidence"
	"linerate/internal/ledger"
	"linerate/internal/tunable"
)

// newCatalogueEvidenceCmd makes the table of verdicts that ships with the
// program.
func newCatalogueEvidenceCmd() *cobra.Command {
	var place, source string
	cmd := &cobra.Command{
		Use:   "evidence",
		Short: "print a ledger's verdicts about known tunables, as the table that ships with linerate",
		Long: `evidence prints every verdict of a ledger about a tunable that the catalogue
knows, one a line: what catalogue/evidence holds of public archives.

    linerate import netbenches DIR --ledger eleven.db
    linerate catalogue evidence --ledger eleven.db --source github.com/ocochard/netbenches`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := catalogue.Load()
			if err != nil {
				return err
			}
			s, err := openLedger(cmd.Context(), place)
			if err != nil {
				return err
			}
			rows, err := ledgerRows(cmd.Context(), s, c)
			if err = errors.Join(err, s.Close()); err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(evidence.Format(rows, source))
			return err
		},
	}
	cmd.Flags().StringVar(&place, "ledger", "", "the `LEDGER` to read")
	cmd.Flags().StringVar(&source, "source", "", "where the studies were published, for the table's head")
	return cmd
}

// maxChanges is how many settings a variant may change at once for its verdict
// to say something about one of them: a pair (rings of both directions) does,
// a whole configuration does not.
const maxChanges = 2

// ledgerRows are a ledger's verdicts about tunables of the catalogue.
func ledgerRows(ctx context.Context, s ledger.Store, c *tunable.Catalogue) ([]evidence.Row, error) {
	names, err := s.Tunables(ctx)
	if err != nil {
		return nil, err
	}
	var rows []evidence.Row
	for _, name := range slices.Sorted(maps.Keys(names)) {
		lines, err := evidenceLines(ctx, s, ledger.Filter{Names: []string{name}})
		if err != nil {
			return nil, err
		}
		for i := range lines {
			l := &lines[i]
			// The ledger finds a setting by its other names too; a row is
			// of the one that was set.
			if r := recordOf(c, l); r != nil && strings.EqualFold(l.Tunable, name) && l.Excluded == "" && tells(r, l) {
				row := rowOf(l)
				row.Tunable = r.Name
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}

// recordOf is the catalogue's record of what a verdict is about; nil without.
func recordOf(c *tunable.Catalogue, l *ledger.Line) *tunable.Record {
	r, ok := c.Lookup(strings.ToLower(l.OS), l.Tunable)
	if !ok {
		return nil
	}
	return r
}

// tells whether a verdict says something about one tunable: it was changed
// alone or beside its pair, it is no switch of a subsystem that others were
// changed with, and the card is one that has it.
func tells(r *tunable.Record, l *ledger.Line) bool {
	if !l.Alone && (len(l.Changes) > maxChanges || r.Mechanism == tunable.RC) {
		return false
	}
	for _, driver := range []string{"em", "igb", "igc", "ix", "ixl"} {
		if strings.HasPrefix(r.Name, "hw."+driver+".") || strings.HasPrefix(r.Name, "dev."+driver+".") {
			return l.Driver == driver || driver == "em" && l.Driver == "igb"
		}
	}
	return true
}

// rowOf is a line of the ledger as evidence that travels.
func rowOf(l *ledger.Line) evidence.Row {
	return evidence.Row{ID: l.VerdictID, Tunable: l.Tunable, Before: l.Before, After: l.After, Alone: l.Alone, OS: l.OS, Release: l.Release,
		CPU: strings.TrimSpace(orElse(l.CPU, l.Hardware)), Cores: l.Cores, NIC: l.NIC, Driver: l.Driver, Workload: l.Workload, Metric: l.Metric,
		Study: l.Study, Source: l.Source, Effect: l.Effect, N: l.N, PHolm: l.PHolm, Verdict: l.Verdict, Flags: slices.Clone(l.Flags)}
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// measuredEvidence is all that is known to have been measured: the shipped
// table, and what the user's own ledger adds to it.
func measuredEvidence(cmd *cobra.Command, place string) ([]evidence.Row, error) {
	shipped, err := catalogue.Evidence()
	if err != nil {
		return nil, err
	}
	s, err := existingLedger(cmd.Context(), place)
	if err != nil {
		if place != "" {
			return nil, err
		}
		ownUnread(cmd.ErrOrStderr(), err)
		return shipped, nil
	}
	if s == nil {
		return shipped, nil
	}
	c, err := catalogue.Load()
	if err != nil {
		return nil, err
	}
	own, err := ledgerRows(cmd.Context(), s, c)
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	return unlisted(own, shipped), nil
}

func ownUnread(w io.Writer, err error) { fmt.Fprintf(w, "no evidence of your own: %v\n", err) }

// unlisted adds rows of the archive to one's own, each verdict once.
func unlisted(own, shipped []evidence.Row) []evidence.Row {
	seen := map[string]bool{}
	for _, r := range own {
		seen[r.Tunable+"\x00"+r.ID] = true
	}
	for _, r := range shipped {
		if !seen[r.Tunable+"\x00"+r.ID] {
			own = append(own, r)
		}
	}
	return own
}
