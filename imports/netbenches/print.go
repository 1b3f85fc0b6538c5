package netbenches

import (
	"fmt"
	"io"
	"strings"
	"time"

	"linerate/internal/show"
)

// Imported is the JSON output of the import of an archive.
type Imported struct {
	Version int      `json:"version"`
	Root    string   `json:"root"`
	Ledger  string   `json:"ledger"`
	Added   int      `json:"studies_added"`
	Totals  Totals   `json:"totals"`
	Unread  []Unread `json:"unread"`
	Seconds float64  `json:"seconds"`
}

// Unread is a file that could not be read or parsed, and the reason.
type Unread struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// ImportedOf describes the import of a tree into a ledger.
func ImportedOf(t *Tree, added int, of Totals, ledger string, took time.Duration) *Imported {
	i := &Imported{Version: 1, Root: t.Root, Ledger: ledger, Added: added, Totals: of, Unread: []Unread{}, Seconds: took.Seconds()}
	for _, file := range t.Unread() {
		i.Unread = append(i.Unread, Unread{file.Path, file.Problem})
	}
	return i
}

// Write prints the import as text.
func (i *Imported) Write(to io.Writer) error {
	w := &strings.Builder{}
	t := &i.Totals
	fmt.Fprintf(w, "%s (%s) read in %.1f s; %d could not be read or understood.\n", show.Plural(t.Files, "file"), show.Bytes(float64(t.Bytes)), i.Seconds, t.Unread)
	studies := show.Count(t.Studies) + " studies"
	if t.Studies == 1 {
		studies = "1 study"
	}
	fmt.Fprintf(w, "%s (%d new), %d series, %s: %d invalid, %d generator-bound, %d drifting by more than 1 %%.\n",
		studies, i.Added, t.Series, show.Plural(t.Trials, "trial"), t.Invalid, t.GeneratorBound, t.Drifting)
	fmt.Fprintf(w, "%s, each corrected within its study (Holm); %d come out otherwise than their README says.\n", show.Plural(t.Verdicts, "comparison"), t.Disagree)
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
