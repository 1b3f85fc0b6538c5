package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"linerate/imports/netbenches"
	"linerate/imports/netbenches/nbtest"
	"linerate/internal/ledger"
	"linerate/internal/store/sqlite"
)

func newImportCmd() *cobra.Command {
	var dir string
	var scale float64
	cmd := &cobra.Command{
		Use:   "import",
		Short: "import a generated archive of the real one's size",
		Long: `Write an archive of benchmarks of the real one's size (52,000 files, 1.1 GB),
all made up, and measure: parsing alone on one core, the import into SQLite on
all cores, a second import, verification.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return benchImport(cmd, dir, scale) },
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder to work in (default: a temporary one, removed)")
	cmd.Flags().Float64Var(&scale, "scale", 1, "share of the real archive's size")
	return cmd
}

func benchImport(cmd *cobra.Command, dir string, scale float64) error {
	if dir == "" {
		tmp, err := os.MkdirTemp("", "linerate-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	root := filepath.Join(dir, "archive")
	if _, err := os.Stat(root); os.IsNotExist(err) {
		o := nbtest.Real
		o.Studies = max(1, int(float64(o.Studies)*scale))
		if err := nbtest.Write(root, o); err != nil {
			return err
		}
	}
	w := cmd.OutOrStdout()
	start, spent := time.Now(), cpuSeconds()
	t, err := netbenches.Read(cmd.Context(), root, netbenches.Options{Workers: 1})
	if err != nil {
		return err
	}
	took, cpu := time.Since(start).Seconds(), cpuSeconds()-spent
	fmt.Fprintf(w, "parse, one core      %6.2f s  %6.2f s of CPU  %5.0f MB/s of CPU (%.0f MB in %d files)\n", took, cpu, parsedMB(t)/cpu, parsedMB(t), len(t.Files))
	t = nil
	runtime.GC()
	db := filepath.Join(dir, "ledger.db")
	for _, name := range []string{"", "-wal", "-shm"} {
		os.Remove(db + name)
	}
	for _, name := range []string{"import, SQLite", "second import"} {
		start, spent = time.Now(), cpuSeconds()
		if err := benchImportOnce(cmd.Context(), root, db); err != nil {
			return err
		}
		fmt.Fprintf(w, "%-20s %6.2f s  %6.2f s of CPU\n", name, time.Since(start).Seconds(), cpuSeconds()-spent)
	}
	start, spent = time.Now(), cpuSeconds()
	err = inLedger(cmd.Context(), db, func(s ledger.Store) error {
		r, err := ledger.Verify(cmd.Context(), s, "")
		if err == nil && !r.OK {
			err = fmt.Errorf("the ledger does not verify: %s", r.Problems[0])
		}
		return err
	})
	fmt.Fprintf(w, "verify               %6.2f s  %6.2f s of CPU\n", time.Since(start).Seconds(), cpuSeconds()-spent)
	return err
}

// parsedMB is what one core parsed, in millions of bytes: profiles are only
// hashed at import, and left alone here.
func parsedMB(t *netbenches.Tree) float64 {
	sum := 0.0
	for _, f := range t.Files {
		if f.SHA256 != "" {
			sum += float64(f.Size)
		}
	}
	return sum / 1e6
}

func benchImportOnce(ctx context.Context, root, db string) error {
	return inLedger(ctx, db, func(s ledger.Store) error {
		t, err := netbenches.List(ctx, root)
		if err != nil {
			return err
		}
		_, err = netbenches.Take(ctx, s, t, false)
		return err
	})
}

// inLedger opens the ledger in a file for f and closes it.
func inLedger(ctx context.Context, db string, f func(ledger.Store) error) error {
	s, err := sqlite.Open(ctx, db, sqlite.Owner{UID: -1, GID: -1})
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

// cpuSeconds is the processor time this process has used: what a busy machine
// does not distort.
func cpuSeconds() float64 {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)/1e6
}
