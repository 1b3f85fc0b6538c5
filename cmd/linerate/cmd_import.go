package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/netbenches"
	"linerate/internal/show"
)

// importMemory is what an import keeps the heap below, if it can.
const importMemory = 640 << 20

func newImportCmd() *cobra.Command {
	cmd := newImportOutputCmd()
	cmd.AddCommand(newImportNetbenchesCmd())
	return cmd
}

// rawKept are the values of --keep-raw.
var rawKept = []string{netbenches.RawUsed, netbenches.RawAll, netbenches.RawNone}

type netbenchesFlags struct {
	ledger  string
	check   bool
	asJSON  bool
	raw     string
	workers int
}

func newImportNetbenchesCmd() *cobra.Command {
	var f netbenchesFlags
	cmd := &cobra.Command{
		Use:   "netbenches DIR",
		Short: "import an archive of FreeBSD forwarding benchmarks",
		Long: `Import an archive of FreeBSD forwarding benchmarks laid out as
github.com/ocochard/netbenches, or any folder of one: hardware, release,
workload, what each variant sets, every trial, and what could not be read.
A second import of an unchanged tree does nothing.

With --check-readmes it also checks for every README with ministat output
whether its numbers, verdicts and differences follow from the raw logs.`,
		Example: `  linerate import netbenches ~/netbenches
  linerate import netbenches ~/netbenches --check-readmes --json
  linerate explain kern.random.harvest.mask`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return importNetbenches(cmd, args[0], &f) },
	}
	addLedgerFlag(cmd, &f.ledger)
	cmd.Flags().BoolVar(&f.check, "check-readmes", false, "check every README's ministat output against the raw logs")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON document")
	cmd.Flags().StringVar(&f.raw, "keep-raw", "used", "raw bytes to keep, compressed: used (what numbers come from), all or none")
	cmd.Flags().IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "files read at once")
	return cmd
}

// imported is what the import of a tree printed as JSON says.
type imported struct {
	Version   int                     `json:"version"`
	Root      string                  `json:"root"`
	Ledger    string                  `json:"ledger"`
	Unchanged bool                    `json:"unchanged"` // the same tree was imported before: nothing was read
	Added     int                     `json:"studies_added"`
	Totals    netbenches.ImportTotals `json:"totals"`
	Pps       *netbenches.PpsTotals   `json:"pps,omitempty"`
	Unread    []unreadFile            `json:"unread"`
	Seconds   float64                 `json:"seconds"`
}

type unreadFile struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// checked is the document of --check-readmes.
type checked struct {
	*netbenches.Check
	Import *imported `json:"import"`
}

func importNetbenches(cmd *cobra.Command, dir string, f *netbenchesFlags) error {
	if !slices.Contains(rawKept, f.raw) {
		return hint.Unknown("--keep-raw", f.raw, rawKept)
	}
	if info, err := os.Stat(dir); err != nil {
		return hint.With(hint.Usage(err), "give the archive's folder, or one inside it")
	} else if !info.IsDir() {
		return hint.Usagef("%s is not a folder", dir)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(importMemory))
	ctx := cmd.Context()
	return ledgers.With(ctx, f.ledger, func(s ledger.Store) error { return importTree(ctx, cmd, dir, s, f) })
}

// importTree imports one tree into an open ledger.
func importTree(ctx context.Context, cmd *cobra.Command, dir string, s ledger.Store, f *netbenchesFlags) error {
	start := time.Now()
	t, err := netbenches.List(ctx, dir)
	if err != nil {
		return err
	}
	got, err := netbenches.Take(ctx, s, t, netbenches.TakeOptions{Raw: f.raw, Check: f.check, Workers: f.workers, Ticker: ticker(cmd.ErrOrStderr())})
	if err != nil {
		return err
	}
	if !got.Unchanged && got.Totals.Studies == 0 {
		return hint.With(fmt.Errorf("%s: none of its %s is a study's of an archive", dir, show.Plural(got.Totals.Files, "file")),
			"give the folder of an archive laid out as github.com/ocochard/netbenches, or one inside it; a study of linerate's is taken in by linerate ledger import %s", dir)
	}
	out := &imported{Version: 1, Root: t.Root, Ledger: s.Place(), Unchanged: got.Unchanged, Added: got.Added, Totals: got.Totals, Unread: []unreadFile{}}
	if got.Check != nil {
		out.Pps = &got.Check.Pps
		for _, file := range t.Unread() {
			out.Unread = append(out.Unread, unreadFile{file.Path, file.Problem})
		}
	}
	out.Seconds = time.Since(start).Seconds()
	return printImport(cmd.OutOrStdout(), f, out, got.Check)
}

// ticker shows how far the reading is, on a terminal only.
func ticker(w io.Writer) func(done, total, bytes int64) {
	live := cli.NewLive(w)
	if !live.On() {
		return nil
	}
	var mu sync.Mutex
	var last time.Time
	return func(done, total, bytes int64) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) < 200*time.Millisecond && done < total {
			return
		}
		last = time.Now()
		live.Show("%s of %s files, %s", show.Count(min(done, total)), show.Count(total), show.Bytes(float64(bytes)))
		if done >= total {
			live.End()
		}
	}
}

func printImport(w io.Writer, f *netbenchesFlags, out *imported, check *netbenches.Check) error {
	switch {
	case f.asJSON && f.check:
		return cli.PrintJSON(w, checked{check, out})
	case f.asJSON:
		return cli.PrintJSON(w, out)
	}
	if f.check {
		printCheck(w, check)
	}
	printImported(w, out)
	return nil
}

func printImported(w io.Writer, out *imported) {
	t := &out.Totals
	if out.Unchanged {
		fmt.Fprintf(w, "Nothing to do: these %d files are in %s as they are.\n", t.Files, out.Ledger)
		return
	}
	fmt.Fprintf(w, "%d files (%s) read in %.1f s; %d could not be read or understood.\n", t.Files, show.Bytes(float64(t.Bytes)), out.Seconds, t.Unread)
	fmt.Fprintf(w, "%d studies (%d new), %d series, %d trials: %d invalid, %d generator-bound, %d drifting by more than 1 %%.\n",
		t.Studies, out.Added, t.Series, t.Trials, t.Invalid, t.GeneratorBound, t.Drifting)
	fmt.Fprintf(w, "%d comparisons, each corrected within its study (Holm); %d come out otherwise than their README says.\n", t.Verdicts, t.Disagree)
	if p := out.Pps; p != nil && p.Files > 0 {
		fmt.Fprintf(w, "%d of %d stored reductions (.pps) recompute from their logs, %d of them after skipping empty iterations; %d differ, %d have no logs.\n",
			p.Exact+p.Skipped, p.WithRaw, p.Skipped, p.Differ, p.NoRaw)
	}
	for i, u := range out.Unread {
		if i == 10 {
			fmt.Fprintf(w, "  … and %d more: --json lists them all\n", len(out.Unread)-i)
			break
		}
		fmt.Fprintf(w, "  not read: %s: %s\n", u.Path, u.Reason)
	}
	fmt.Fprintf(w, "Ledger: %s\n", out.Ledger)
}

func printCheck(w io.Writer, c *netbenches.Check) {
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
}
