package main

import (
	"errors"
	"os/exec"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/load/fileload"
)

// The drivers of load files and load smtp.
const (
	driverOwn      = "linerate"
	driverPostmark = "postmark"
	driverPostal   = "postal"
)

// postmarkTransactions is how many PostMark does that nobody gave a number.
const postmarkTransactions = 20_000

// drives checks the driver, and makes the load one that it can do.
func (f loadFilesFlags) drives(cmd *cobra.Command, l *fileload.Load) error {
	if !slices.Contains([]string{driverOwn, driverPostmark}, f.driver) {
		return hint.Usage(hint.Unknown("driver", f.driver, []string{driverOwn, driverPostmark}))
	}
	if f.driver == driverOwn {
		return nil
	}
	if err := hasNone(cmd, driverPostmark, "duration", "timeout", "interval", "arrivals"); err != nil {
		return err
	}
	if l.Duration = 0; l.Transactions == 0 {
		l.Transactions = postmarkTransactions
	}
	_, err := fileload.FindPostmark()
	return err
}

// hasNone refuses flags that another program knows nothing of.
func hasNone(cmd *cobra.Command, driver string, flags ...string) error {
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			return hint.With(hint.Usagef("%s knows no --%s", driver, name), "leave it out, or --driver linerate")
		}
	}
	return nil
}

func (f loadFilesFlags) validate(p fileload.Pool, l fileload.Load) error {
	if f.driver == driverPostmark {
		return (&fileload.Postmark{Pool: p}).Validate(l)
	}
	return p.Validate()
}

// runPostmarkPoint has PostMark make the files, do the transactions and remove what is
// left.
func runPostmarkPoint(cmd *cobra.Command, dir string, pool fileload.Pool, load fileload.Load, _ time.Duration) (p filesPoint, err error) {
	scratch, err := fileload.NewScratch(dir)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, scratch.Close()) }()
	live := newLoadLive(cmd.ErrOrStderr(), "tx/s")
	defer live.End()
	live.Show("postmark does %d transactions on %d files", load.Transactions, pool.Files)
	run := fileload.Postmark{Pool: pool, Dir: scratch.Path, Start: startBound}
	a, m, err := run.Account(cmd.Context(), load)
	if a == nil {
		return p, err
	}
	return filesPoint{Files: pool.Files, Result: a.Result(m), Operations: run.Operations(), CreateSeconds: run.Created.Seconds(), RemoveSeconds: run.Removed.Seconds(),
		Removed: int(run.Said.Removed), KernelSeconds: run.System.Seconds()}, err
}

// startBound starts a program that ends with this process.
func startBound(c *exec.Cmd) error {
	cli.EndsWithUs(c)
	return c.Start()
}
