package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/ledger/dump"
	"linerate/internal/netbenches"
	"linerate/internal/stats"
)

func newLedgerCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "what has been measured: query, verify, export",
		Long: `The ledger keeps studies, trials, verdicts and the raw bytes they come from,
append-only and chained by hashes. It can be made again from the studies'
directories. It lies where --ledger or LINERATE_LEDGER say, else in your state
directory (~/.local/state/linerate/ledger.db).`,
		Args: unknownVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLedgerQueryCmd(), newLedgerShowCmd(), newLedgerVerifyCmd(), newLedgerExportCmd(),
		newLedgerImportCmd(), newLedgerRebuildCmd(), newLedgerExcludeCmd())
	return cmd
}

// addFilterFlags gives a command the flags that narrow a query.
func addFilterFlags(cmd *cobra.Command, f *ledger.Filter) {
	fs := cmd.Flags()
	fs.StringVar(&f.Tunable, "tunable", "", "setting that was changed, any unit number (dev.igb.0.fc)")
	fs.StringVar(&f.Hardware, "hardware", "", "CPU or machine, a part of its name")
	fs.StringVar(&f.NIC, "nic", "", "network card, a part of its name")
	fs.StringVar(&f.Driver, "driver", "", "driver of the network card")
	fs.StringVar(&f.OS, "os", "", "operating system")
	fs.StringVar(&f.Release, "release", "", "beginning of the release")
	fs.StringVar(&f.Workload, "workload", "", "workload, a part of its description")
	fs.StringVar(&f.Study, "study", "", "study: name, part of its place, or beginning of its identifier")
	fs.StringVar(&f.Metric, "metric", "", "metric")
	fs.StringVar((*string)(&f.Verdict), "verdict", "", "one of "+strings.Join(stats.VerdictNames(), ", "))
	fs.BoolVar(&f.Primary, "primary", false, "primary metrics only")
	fs.BoolVar(&f.Superseded, "superseded", false, "also studies that a later import of the same place replaced")
}

// evidenceLines reads what a filter admits.
func evidenceLines(ctx context.Context, s ledger.Store, f ledger.Filter) ([]ledger.Line, error) {
	if f.Verdict != "" {
		if _, err := stats.ParseVerdict(string(f.Verdict)); err != nil {
			return nil, err
		}
	}
	ev, err := ledger.Evaluate(ctx, s, f)
	if err != nil {
		return nil, err
	}
	names := f.Names
	if f.Tunable != "" {
		names = append(names, f.Tunable)
	}
	lines := make([]ledger.Line, len(ev))
	for i := range ev {
		lines[i] = ledger.Flatten(&ev[i], names)
	}
	ledger.Sort(lines)
	return lines, nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func newLedgerQueryCmd() *cobra.Command {
	var f ledger.Filter
	var at string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "query",
		Short: "list evidence by tunable, hardware, release, workload …",
		Example: `  linerate ledger query --tunable kern.random.harvest.mask
  linerate ledger query --nic i210 --verdict worse --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return readLedger(cmd.Context(), at, func(s ledger.Store) error {
				lines, err := evidenceLines(cmd.Context(), s, f)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), evidenceDoc{Version: 1, Ledger: s.Place(), Evidence: nonNil(lines), Conflict: ledger.Disagreement(lines)})
				}
				if len(lines) == 0 {
					return noEvidence(cmd.Context(), cmd.ErrOrStderr(), s, &f)
				}
				return printEvidence(cmd.OutOrStdout(), lines)
			})
		},
	}
	addFilterFlags(cmd, &f)
	addLedgerFlag(cmd, &at)
	cmd.Flags().IntVar(&f.Limit, "limit", 0, "at most so many")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// evidenceDoc is the document of ledger query --json.
type evidenceDoc struct {
	Version  int           `json:"version"`
	Ledger   string        `json:"ledger"`
	Conflict bool          `json:"conflict"` // some evidence shows a gain and some a loss
	Evidence []ledger.Line `json:"evidence"`
}

func nonNil(l []ledger.Line) []ledger.Line {
	if l == nil {
		return []ledger.Line{}
	}
	return l
}

// noEvidence tells a tunable nobody measured from a name nobody knows.
func noEvidence(ctx context.Context, w io.Writer, s ledger.Store, f *ledger.Filter) error {
	names, err := s.Tunables(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "no evidence of that in %s\n", s.Place())
	if f.Tunable != "" && names[ledger.FoldName(f.Tunable)] == 0 {
		var known []string
		for n := range names {
			known = append(known, n)
		}
		if near := hint.Nearest(ledger.FoldName(f.Tunable), known, 3); len(near) > 0 {
			fmt.Fprintf(w, "hint: measured were %s\n", strings.Join(near, ", "))
		}
	}
	return nil
}

func newLedgerVerifyCmd() *cobra.Command {
	var at, head string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "recompute the whole chain of hashes",
		Long: `Recompute every record's digest, every link of the chain and the hash of all
raw bytes. Note the head it prints elsewhere: --head then shows whether
entries were cut off since. Exit code 1 when anything is wrong.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return readLedger(cmd.Context(), at, func(s ledger.Store) error {
				r, err := ledger.Verify(cmd.Context(), s, head)
				if err != nil {
					return err
				}
				if asJSON {
					err = printJSON(cmd.OutOrStdout(), r)
				} else {
					printReport(cmd.OutOrStdout(), r)
				}
				if err == nil && !r.OK {
					return exitWith(exitFailed)
				}
				return err
			})
		},
	}
	addLedgerFlag(cmd, &at)
	cmd.Flags().StringVar(&head, "head", "", "hash of a head noted earlier, which must be among the entries")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
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
	cmd := &cobra.Command{
		Use:     "exclude ID --reason TEXT",
		Short:   "take a trial, verdict or study out of what is concluded",
		Long:    "Nothing is removed: results are shown with and without it from then on.",
		Example: `  linerate ledger exclude 3fa92c --reason "the fan had failed"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), at, func(s ledger.Store) error {
				err := ledger.Exclude(cmd.Context(), s, args[0], reason, operator(), time.Now())
				if errors.Is(err, ledger.ErrNotFound) {
					return hint.With(fmt.Errorf("%s: %w", args[0], err), "linerate ledger show STUDY lists the trials of a study")
				}
				return err
			})
		},
	}
	addLedgerFlag(cmd, &at)
	cmd.Flags().StringVar(&reason, "reason", "", "what is wrong with it")
	return cmd
}

func newLedgerExportCmd() *cobra.Command {
	var f ledger.Filter
	var at, format, what, out string
	var all, raw bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "write evidence or trials as JSON lines, CSV, Parquet or Markdown",
		Example: `  linerate ledger export --format csv > evidence.csv
  linerate ledger export --what trials --format parquet --out trials.parquet
  linerate ledger export --all --raw > ledger.jsonl      # everything, for ledger import`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !contains(dump.Formats, format) {
				return hint.Unknown("format", format, dump.Formats)
			}
			if format == "parquet" && out == "" && isTerminal(cmd.OutOrStdout()) {
				return hint.With(hint.Usagef("Parquet is not for a terminal"), "--out FILE")
			}
			return readLedger(cmd.Context(), at, func(s ledger.Store) error {
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
	cmd.Flags().StringVar(&format, "format", "jsonl", "jsonl, csv, parquet or markdown")
	cmd.Flags().StringVar(&what, "what", "evidence", "evidence or trials")
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write (default: standard output)")
	cmd.Flags().BoolVar(&all, "all", false, "the whole ledger as JSON lines, to be imported elsewhere")
	cmd.Flags().BoolVar(&raw, "raw", false, "with --all: raw bytes too")
	return cmd
}

// toOutput writes to a file, whole or not at all, or to w.
func toOutput(w io.Writer, path string, write func(io.Writer) error) error {
	if path == "" {
		return write(w)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".export-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(write(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func export(ctx context.Context, w io.Writer, s ledger.Store, f ledger.Filter, what, format string) error {
	switch what {
	case "evidence":
		lines, err := evidenceLines(ctx, s, f)
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

func newLedgerImportCmd() *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "import DIR|FILE…",
		Short: "take in study directories, or another ledger's export --all",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), at, func(s ledger.Store) error {
				for _, a := range args {
					if err := importInto(cmd, s, a); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	addLedgerFlag(cmd, &at)
	return cmd
}

func importInto(cmd *cobra.Command, s ledger.Store, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return hint.Usage(err)
	}
	if info.IsDir() {
		added, err := addStudyDir(cmd.Context(), s, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", path, addedText(added))
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := dump.Load(cmd.Context(), f, s)
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d entries added\n", path, n)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func addedText(added int) string {
	if added == 0 {
		return "is in the ledger already"
	}
	return "added"
}

// addStudyDir takes one of linerate's own studies into a ledger.
func addStudyDir(ctx context.Context, s ledger.Store, dir string) (added int, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	b, err := ledger.ReadStudyDir(abs)
	switch {
	case errors.Is(err, ledger.ErrNoStudy):
		return 0, hint.With(err, "a study's directory holds study.yaml, trials.jsonl and results.json; an archive is taken in by: linerate import netbenches DIR")
	case errors.Is(err, fs.ErrNotExist):
		return 0, hint.With(err, "the study is not finished: linerate study resume %s", dir)
	case err != nil:
		return 0, err
	}
	return s.Append(ctx, b)
}

func newLedgerRebuildCmd() *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "rebuild DIR…",
		Short: "make the ledger again from the studies and archives below DIR",
		Long: `Look for studies' directories and archives of benchmarks below each DIR and
take in, by content, what the ledger lacks. Into an empty ledger this makes
the whole of it again, but for exclusions, which exist nowhere else: keep
them with ledger export --all.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), at, func(s ledger.Store) error {
				for _, dir := range args {
					if err := rebuild(cmd, s, dir); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	addLedgerFlag(cmd, &at)
	return cmd
}

// rebuild takes in everything below dir.
func rebuild(cmd *cobra.Command, s ledger.Store, dir string) error {
	var studies, archives []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if _, err := os.Stat(filepath.Join(p, "study.yaml")); err == nil {
			studies = append(studies, p)
			return filepath.SkipDir
		}
		if netbenches.IsArchive(p) {
			archives = append(archives, p)
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		return hint.Usage(err)
	}
	added := 0
	for _, p := range studies {
		n, err := addStudyDir(cmd.Context(), s, p)
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "left out: %v\n", err)
		}
		added += n
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d studies found, %d added\n", dir, len(studies), added)
	for _, p := range archives {
		if err := importTree(cmd.Context(), cmd, p, s, &netbenchesFlags{raw: "used"}); err != nil {
			return err
		}
	}
	return nil
}

func newLedgerShowCmd() *cobra.Command {
	var at string
	var asJSON, raw bool
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "show a study, trial, verdict or file, down to its raw bytes",
		Example: `  linerate ledger show                    # what is in the ledger
  linerate ledger show STUDY
  linerate ledger show --raw SHA256       # the bytes a number came from`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return readLedger(cmd.Context(), at, func(s ledger.Store) error {
				switch {
				case len(args) == 0:
					return showOverview(cmd.Context(), cmd.OutOrStdout(), s, asJSON)
				case raw:
					return showRaw(cmd.Context(), cmd.OutOrStdout(), s, args[0])
				}
				return showRecord(cmd.Context(), cmd.OutOrStdout(), s, args[0], asJSON)
			})
		},
	}
	addLedgerFlag(cmd, &at)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	cmd.Flags().BoolVar(&raw, "raw", false, "print the bytes kept under a SHA-256")
	return cmd
}

func showRaw(ctx context.Context, w io.Writer, s ledger.Store, sha string) error {
	b, err := s.Blob(ctx, strings.ToLower(sha))
	if err != nil {
		return hint.With(fmt.Errorf("%s: %w", sha, err), "its hash may be known without its bytes: import with --keep-raw all")
	}
	data, err := b.Bytes()
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// showRecord prints a record by its identifier, or a study by its name.
func showRecord(ctx context.Context, w io.Writer, s ledger.Store, id string, asJSON bool) error {
	rows, err := s.Get(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) {
		studies, serr := s.Studies(ctx, ledger.Filter{Study: id})
		if serr != nil {
			return serr
		}
		for _, st := range studies {
			more, gerr := s.Get(ctx, st.ID)
			if gerr != nil {
				return gerr
			}
			rows = append(rows, more...)
		}
		if len(rows) == 0 {
			return fmt.Errorf("%s: %w", id, err)
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
	if asJSON {
		return printJSON(w, map[string]any{"version": 1, "records": docs})
	}
	for i := range docs {
		if err := printShown(w, &docs[i]); err != nil {
			return err
		}
	}
	return nil
}

// shown is a record as ledger show prints it.
type shown struct {
	Table  string          `json:"table"`
	Entry  int64           `json:"entry"`
	Digest string          `json:"digest"`
	Record json.RawMessage `json:"record"`
	Trials []ledger.Trial  `json:"trials,omitempty"`
}
