package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/cli"
	"linerate/internal/evidence"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/ledger/commons"
	"linerate/internal/ledger/dump"
	"linerate/internal/show"
	"linerate/internal/study/record"
)

func newLedgerQueryCmd() *cobra.Command {
	var f ledger.Filter
	var trend bool
	cmd := reading("ledger query", cobra.NoArgs, func(cmd *cobra.Command, s ledger.Reader, _ []string) error {
		w := cmd.OutOrStdout()
		f.Primary = f.Primary || trend && f.Metric == ""
		lines, err := ledger.Lines(cmd.Context(), s, f)
		switch {
		case err != nil:
			return err
		case trend:
			return printTrends(cmd, s.Place(), ledger.Trends(lines))
		case cli.AsJSON(cmd):
			return cli.PrintJSON(w, evidenceDoc{Version: 1, Ledger: s.Place(), Evidence: lines, Pooled: evidence.Together(ledger.Rows(lines), nil)})
		case len(lines) == 0:
			return noEvidence(cmd.Context(), cmd.ErrOrStderr(), s, &f)
		}
		return printEvidence(w, lines)
	})
	addFilterFlags(cmd, &f)
	cmd.Flags().IntVar(&f.Limit, "limit", 0, "largest number of rows")
	cmd.Flags().BoolVar(&trend, "trend", false, "lasting steps between runs of the same study")
	cmd.MarkFlagsMutuallyExclusive("trend", "limit") // a series with gaps has other steps
	cmd.MarkFlagsMutuallyExclusive("trend", "verdict")
	return cmd
}

// trendDoc is the output of ledger query --trend --json.
type trendDoc struct {
	Version int            `json:"version"`
	Ledger  string         `json:"ledger"`
	Trends  []ledger.Trend `json:"trends"`
}

func printTrends(cmd *cobra.Command, place string, all []ledger.Trend) error {
	return cli.Print(cmd, trendDoc{1, place, all}, func(w io.Writer) error {
		if len(all) == 0 {
			_, err := fmt.Fprintf(w, "no study has two runs of that in %s\n", place)
			return err
		}
		page := show.NewPage(cli.StyleOf(w))
		ledger.PrintTrends(page, all)
		return page.Flush(w)
	})
}

// evidenceDoc is the output of ledger query --json.
type evidenceDoc struct {
	Version  int           `json:"version"`
	Ledger   string        `json:"ledger"`
	Evidence []ledger.Line `json:"evidence"`
	// Pooled is the evidence combined per change.
	Pooled []evidence.Change `json:"pooled"`
}

// noEvidence prints that nothing was found, and distinguishes unmeasured tunables from unknown names.
func noEvidence(ctx context.Context, w io.Writer, s ledger.Reader, f *ledger.Filter) error {
	names, err := s.Tunables(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "no evidence of that in %s\n", s.Place())
	if f.Tunable != "" && names[evidence.FoldName(f.Tunable)] == 0 {
		known := slices.Collect(maps.Keys(names))
		if near := hint.Nearest(evidence.FoldName(f.Tunable), known, 3); len(near) > 0 {
			fmt.Fprintf(w, "hint: measured were %s\n", strings.Join(near, ", "))
		}
	}
	return nil
}

func newLedgerShowCmd() *cobra.Command {
	var raw bool
	cmd := reading("ledger show", cobra.MaximumNArgs(1), func(cmd *cobra.Command, s ledger.Reader, args []string) error {
		switch {
		case len(args) == 0:
			return showOverview(cmd, s)
		case raw:
			return showRaw(cmd.Context(), cmd.OutOrStdout(), s, args[0])
		}
		return showRecord(cmd.Context(), cmd.OutOrStdout(), s, args[0])
	})
	cmd.Flags().BoolVar(&raw, "raw", false, "print the bytes kept under a SHA-256")
	return cmd
}

func showRaw(ctx context.Context, w io.Writer, s ledger.Reader, sha string) error {
	b, err := s.Blob(ctx, strings.ToLower(sha))
	if err != nil {
		return hint.With(fmt.Errorf("%s: %w", sha, err), "its hash may be known without its bytes")
	}
	data, err := b.Bytes()
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// showRecord prints a record by identifier, or a study by name.
func showRecord(ctx context.Context, w io.Writer, s ledger.Reader, id string) error {
	rows, err := s.Get(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) {
		studies, serr := s.Studies(ctx, ledger.Filter{Study: id})
		if serr != nil {
			return serr
		}
		for _, st := range studies {
			more, gerr := s.Get(ctx, string(st.ID))
			if gerr != nil {
				return gerr
			}
			rows = append(rows, more...)
		}
		if len(rows) == 0 {
			return hint.With(fmt.Errorf("%s: %w", id, err), "linerate ledger show lists the studies")
		}
	} else if err != nil {
		return err
	}
	docs := make([]shown, len(rows))
	for i, r := range rows {
		docs[i] = shown{Table: r.Table, Entry: r.Entry, Digest: r.Digest, Record: r.Doc}
		if r.Table == "studies" {
			if docs[i].Trials, err = s.Trials(ctx, r.ID); err != nil {
				return err
			}
		}
	}
	return cli.PrintJSON(w, recordsDocument{1, docs})
}

// shown is a record with its position in the chain.
type shown struct {
	Table  string          `json:"table"`
	Entry  int64           `json:"entry"`
	Digest string          `json:"digest"`
	Record json.RawMessage `json:"record"`
	Trials []ledger.Trial  `json:"trials,omitempty"`
}

// recordsDocument is the output of ledger show ID --json.
type recordsDocument struct {
	Version int     `json:"version"`
	Records []shown `json:"records"`
}

// overviewDocument is the output of ledger show --json without an ID: studies, and tunables with
// their number of verdicts.
type overviewDocument struct {
	Version  int            `json:"version"`
	Ledger   string         `json:"ledger"`
	Entries  int64          `json:"entries"`
	Head     string         `json:"head"`
	Studies  []ledger.Study `json:"studies"`
	Tunables map[string]int `json:"tunables"`
}

func showOverview(cmd *cobra.Command, s ledger.Reader) error {
	ctx := cmd.Context()
	head, ok, err := s.Head(ctx)
	if err != nil {
		return err
	}
	studies, err := s.Studies(ctx, ledger.Filter{})
	if err != nil {
		return err
	}
	names, err := s.Tunables(ctx)
	if err != nil {
		return err
	}
	doc := overviewDocument{1, s.Place(), head.Seq, head.Hash, studies, names}
	return cli.Print(cmd, doc, func(w io.Writer) error { return doc.print(w, ok) })
}

// print prints the overview as text; filled is false for an empty ledger.
func (d *overviewDocument) print(w io.Writer, filled bool) error {
	fmt.Fprintf(w, "%s: %s, %s, evidence on %s\n", d.Ledger, counted(int(d.Entries), "entry", "entries"), counted(len(d.Studies), "study", "studies"), show.Plural(len(d.Tunables), "tunable"))
	if !filled {
		fmt.Fprintln(w, "Fill it: linerate demo, or linerate import DIR")
		return nil
	}
	var t show.Table
	for _, st := range d.Studies {
		t.Add(st.ID.Short(), placeText(&st), st.Question)
	}
	return t.Write(w, cli.StyleOf(w))
}

// placeText names a study of linerate by its name and start, others by their place.
func placeText(s *ledger.Study) string {
	if s.Kind != ledger.KindStudy || s.Started == nil {
		return s.Place
	}
	return s.Name + " " + s.Started.UTC().Format("2006-01-02 15:04")
}

func newLedgerVerifyCmd() *cobra.Command {
	var head string
	cmd := reading("ledger verify", cobra.NoArgs, func(cmd *cobra.Command, s ledger.Reader, _ []string) error {
		r, err := ledger.Verify(cmd.Context(), s, head)
		if err != nil {
			return err
		}
		err = cli.Print(cmd, r, func(w io.Writer) error { printReport(w, r); return nil })
		if err == nil && !r.OK {
			return hint.Exit(cli.ExitFailed)
		}
		return err
	})
	cmd.Flags().StringVar(&head, "head", "", "hash of a head noted earlier, which must be among the entries")
	return cmd
}

func printReport(w io.Writer, r *ledger.Report) {
	for _, p := range r.Problems {
		fmt.Fprintf(w, "wrong: %s\n", p)
	}
	state := "verified"
	if !r.OK {
		state = "NOT verified"
	}
	fmt.Fprintf(w, "%s: %s: %d entries, %d records, %d raw files (%d bytes) kept; %d sources by hash only.\n", r.Place, state, r.Entries, r.Rows, r.Blobs, r.Bytes, r.Missing)
	if r.Head != "" {
		fmt.Fprintf(w, "head %s\n", r.Head)
	}
}

func newLedgerExcludeCmd() *cobra.Command {
	var at, reason string
	cmd := verb("ledger exclude", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		return assemble.ChangeLedger(cmd.Context(), at, func(s ledger.Store) error {
			err := ledger.Exclude(cmd.Context(), s, args[0], reason, operator(), time.Now())
			if errors.Is(err, ledger.ErrNotFound) {
				return hint.With(fmt.Errorf("%s: %w", args[0], err), "linerate ledger show STUDY lists the trials of a study")
			}
			return err
		})
	})
	addLedgerFlag(cmd, &at)
	cmd.Flags().StringVar(&reason, "reason", "", "why it is excluded")
	return cmd
}

// operator returns the name of the user, looking through sudo.
func operator() string {
	if name := os.Getenv("SUDO_USER"); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}

func newLedgerExportCmd() *cobra.Command {
	var at, out, source, public string
	var raw, table bool
	cmd := verb("ledger export", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		if raw && table || source != "" && !table {
			return hint.Usagef("--raw exports the whole ledger; --source needs --catalogue")
		}
		return assemble.ReadLedger(cmd.Context(), at, func(s ledger.Reader) error {
			if public != "" {
				return publish(cmd, s, public)
			}
			return toOutput(cmd.OutOrStdout(), out, func(w io.Writer) error {
				if !table {
					return dump.All(cmd.Context(), w, s, raw)
				}
				rows, err := assemble.KnownEvidence(cmd.Context(), s)
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

// publish adds this ledger's own studies to a commons.
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
