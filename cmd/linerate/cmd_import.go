package main

import (
	"context"
	"errors"
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
	out := netbenches.ImportedOf(t, got, s.Place(), time.Since(start))
	if f.check {
		return cli.Print(cmd, f.asJSON, netbenches.Checked{Check: got.Check, Import: out}, func(w io.Writer) error { return errors.Join(got.Check.Write(w), out.Write(w)) })
	}
	return cli.Print(cmd, f.asJSON, out, out.Write)
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
