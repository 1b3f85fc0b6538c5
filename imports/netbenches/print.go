package netbenches

import (
	"fmt"
	"io"
	"strings"
	"time"

	"linerate/internal/show"
)

// Imported is what import netbenches --json prints.
type Imported struct {
	Version   int          `json:"version"`
	Root      string       `json:"root"`
	Ledger    string       `json:"ledger"`
	Unchanged bool         `json:"unchanged"` // the same tree was imported before: nothing was read
	Added     int          `json:"studies_added"`
	Totals    ImportTotals `json:"totals"`
	Pps       *PpsTotals   `json:"pps,omitempty"`
	Unread    []Unread     `json:"unread"`
	Seconds   float64      `json:"seconds"`
}

// Unread is a file that could not be read or understood, and why.
type Unread struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Checked is what import netbenches --check-readmes --json prints.
type Checked struct {
	*Check
	Import *Imported `json:"import"`
}

// ImportedOf is what an import of a tree did, in a ledger, in how much time.
func ImportedOf(t *Tree, got Taken, ledger string, took time.Duration) *Imported {
	i := &Imported{Version: 1, Root: t.Root, Ledger: ledger, Unchanged: got.Unchanged, Added: got.Added, Totals: got.Totals, Unread: []Unread{}, Seconds: took.Seconds()}
	if got.Check != nil {
		i.Pps = &got.Check.Pps
		for _, file := range t.Unread() {
			i.Unread = append(i.Unread, Unread{file.Path, file.Problem})
		}
	}
	return i
}

// Write prints an import for people.
func (i *Imported) Write(to io.Writer) error {
	w := &strings.Builder{}
	t := &i.Totals
	if i.Unchanged {
		fmt.Fprintf(w, "Nothing to do: %s as before in %s.\n", show.Plural(t.Files, "file"), i.Ledger)
		_, err := io.WriteString(to, w.String())
		return err
	}
	fmt.Fprintf(w, "%s (%s) read in %.1f s; %d could not be read or understood.\n", show.Plural(t.Files, "file"), show.Bytes(float64(t.Bytes)), i.Seconds, t.Unread)
	fmt.Fprintf(w, "%s (%d new), %d series, %s: %d invalid, %d generator-bound, %d drifting by more than 1 %%.\n",
		studies(t.Studies), i.Added, t.Series, show.Plural(t.Trials, "trial"), t.Invalid, t.GeneratorBound, t.Drifting)
	fmt.Fprintf(w, "%s, each corrected within its study (Holm); %d come out otherwise than their README says.\n", show.Plural(t.Verdicts, "comparison"), t.Disagree)
	if p := i.Pps; p != nil && p.Files > 0 {
		fmt.Fprintf(w, "%d of %d stored reductions (.pps) recompute from their logs, %d of them after skipping empty iterations; %d differ, %d have no logs.\n",
			p.Exact+p.Skipped, p.WithRaw, p.Skipped, p.Differ, p.NoRaw)
	}
	for n, u := range i.Unread {
		if n == 10 {
			fmt.Fprintf(w, "  … and %d more, in the JSON\n", len(i.Unread)-n)
			break
		}
		fmt.Fprintf(w, "  not read: %s: %s\n", u.Path, u.Reason)
	}
	fmt.Fprintf(w, "Ledger: %s\n", i.Ledger)
	_, err := io.WriteString(to, w.String())
	return err
}

// studies is a number of studies in words.
func studies(n int) string {
	if n == 1 {
		return "1 study"
	}
	return show.Count(n) + " studies"
}

// Write prints a check for people: READMEs that do not follow from the raw logs, and counts.
func (c *Check) Write(to io.Writer) error {
	w := &strings.Builder{}
	t := &c.Totals
	for _, r := range c.Readmes {
		if r.Reproduced {
			continue
		}
		fmt.Fprintf(w, "%s\n", r.Path)
		for _, reason := range r.Reasons {
			fmt.Fprintf(w, "    %s\n", reason)
		}
	}
	fmt.Fprintf(w, "%d of %d READMEs with ministat output are reproduced from raw logs (%d from logs in their own folder).\n", t.Reproduced, t.Readmes, t.ReproducedInFolder)
	fmt.Fprintf(w, "%d of %d blocks; %d of %d rows from raw logs, %d match a stored file; %d of %d verdicts, %d of %d differences.\n\n",
		t.BlocksReproduced, t.Blocks, t.RowsFromRaw, t.Rows, t.RowsStored, t.VerdictsRecomputed, t.Verdicts, t.DifferencesComputed, t.Differences)
	_, err := io.WriteString(to, w.String())
	return err
}
