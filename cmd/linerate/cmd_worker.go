package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/assemble/testbeds"
	"linerate/internal/hint"
	"linerate/internal/queue"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/sshbed"
	"linerate/internal/worker"
)

// usualLabel is the default label of testbeds and studies.
const usualLabel = "lab"

// hereBed is the name of this machine's own lab as a testbed.
const hereBed = "here"

// workerFlags are the flags of worker.
type workerFlags struct {
	testbeds  []string
	label     string
	name      string
	ledger    string
	lab       assemble.Options // as given by flags
	untilIdle bool
}

func newWorkerCmd() *cobra.Command {
	var f workerFlags
	cmd := verb("worker", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		if err := f.check(); err != nil {
			return err
		}
		run := func() error { return f.run(cmd) }
		for _, t := range f.testbeds {
			if t == hereBed {
				return whereRun(cmd.Context(), study.Spec{}, run)
			}
		}
		return run()
	})
	cmd.Flags().StringArrayVar(&f.testbeds, "testbed", nil, "a testbed's `FILE`, or here: this machine's own lab; several run side by side")
	cmd.Flags().StringVar(&f.label, "label", usualLabel, "label shared by identical testbeds; they share the blocks of a study")
	cmd.Flags().StringVar(&f.name, "name", "", "the testbed's name in the queue (default: its file's name, or this machine's)")
	addLedgerFlag(cmd, &f.ledger)
	addLabFlags(cmd, &f.lab)
	cmd.Flags().BoolVar(&f.untilIdle, "until-idle", false, "exit when no study waits for the label")
	return cmd
}

// check rejects invalid flags.
func (f *workerFlags) check() error {
	switch {
	case len(f.testbeds) == 0:
		return hint.With(hint.Usagef("no testbed to work with"), "--testbed lab.yaml, or --testbed here")
	case f.name != "" && len(f.testbeds) > 1:
		return hint.With(hint.Usagef("--name needs exactly one testbed, and there are %d", len(f.testbeds)), "leave it out: each is named after its file")
	}
	if _, err := testbeds.EngineNamed(f.lab.Engine, io.Discard); err != nil {
		return err
	}
	return queue.CheckLabel(f.label)
}

// run works on all testbeds until ctx ends or, with untilIdle, until no study of the label is left.
func (f *workerFlags) run(cmd *cobra.Command) error {
	q, err := assemble.OpenQueue(cmd.Context(), f.ledger, queue.DefaultPatience)
	if err != nil {
		return err
	}
	defer q.Close()
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	var all []*worker.Worker
	say := saying(cmd.ErrOrStderr())
	for _, t := range f.testbeds {
		bed, err := f.testbed(t)
		if err != nil {
			return err
		}
		all = append(all, &worker.Worker{Queue: q, Testbed: bed, Say: say, Retry: queue.DefaultPatience.Beat, Keep: assemble.Keeper(f.ledger)})
	}
	errs := make([]error, len(all))
	var group sync.WaitGroup
	for i, w := range all {
		group.Go(func() { errs[i] = w.Run(ctx) })
	}
	if f.untilIdle {
		go f.whileBusy(ctx, q, stop)
	}
	group.Wait()
	return errors.Join(append(errs, cmd.Context().Err())...)
}

// saying returns a function that writes time-stamped lines; concurrent calls do not interleave.
func saying(w io.Writer) func(format string, args ...any) {
	var mu sync.Mutex
	return func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(w, time.Now().Format("15:04:05 ")+format+"\n", args...)
	}
}

// whileBusy stops the workers when the queue has no more studies of the label.
func (f *workerFlags) whileBusy(ctx context.Context, q queue.Queue, stop func()) {
	for ctx.Err() == nil {
		list, err := q.Studies(ctx, false)
		left := err != nil
		for _, s := range list {
			left = left || s.Label == f.label
		}
		if !left {
			stop()
		}
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// testbed returns the testbed that an argument of --testbed names.
func (f *workerFlags) testbed(arg string) (t worker.Testbed, err error) {
	host, err := os.Hostname()
	if err != nil {
		return t, fmt.Errorf("read this machine's name: %w", err)
	}
	t.Claim = queue.Claim{Testbed: f.name, Label: f.label, Kind: testbed.KindNetns, Holder: host + ":" + strconv.Itoa(os.Getpid())}
	if arg == hereBed {
		t.Testbed = cmp.Or(t.Testbed, host)
		t.Fit, t.Open = f.fitHere, f.opener("")
		return t, nil
	}
	err = f.machines(arg, &t)
	return t, err
}

// machines fills in t from a testbed file.
func (f *workerFlags) machines(path string, t *worker.Testbed) error {
	file, data, err := testbeds.ReadFile(path)
	if err != nil {
		return err
	}
	t.File, t.Kind = data, testbed.KindSSH
	if file.Hosts.DUT == nil {
		t.Kind = testbed.KindPorts
	}
	for _, name := range []string{file.Name, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))} {
		t.Testbed = cmp.Or(t.Testbed, name)
	}
	owner := testbeds.OwnerByName(t.Testbed)
	t.Open = f.opener(owner)
	t.Fit = func(ctx context.Context) error {
		var failed []string
		err := proveTestbed(ctx, &testbeds.Machines{File: file, Config: f.lab.SSHConfig, Talk: io.Discard}, owner, time.Second.Seconds(), func(s sshbed.Step) {
			if !s.OK {
				failed = append(failed, s.Name+": "+s.Found)
			}
		})
		if len(failed) > 0 {
			return errors.New(strings.Join(failed, "; "))
		}
		return err
	}
	return nil
}

// opener returns a function that opens a lab on a testbed.
func (f *workerFlags) opener(owner string) func(context.Context, study.Spec, string) (*worker.Lab, error) {
	return func(ctx context.Context, s study.Spec, dir string) (*worker.Lab, error) {
		o := f.lab
		o.Spec, o.Record, o.Owner = s, dir, owner
		bed, err := openLab(ctx, o)
		if err != nil {
			return nil, err
		}
		return &worker.Lab{Lab: bed.Lab, Environment: environmentOf(bed.Facts, bed.Engine, bed.Label), Facts: bed.Facts, Close: bed.Close}, nil
	}
}

// fitHere checks this machine's lab: it brings the lab up and down again.
func (f *workerFlags) fitHere(ctx context.Context) error {
	o, err := openLab(ctx, f.lab)
	if err != nil {
		return err
	}
	defer o.Close()
	bed, err := o.Lab.Up(ctx, study.Part{Mode: testbed.Cost})
	if err != nil {
		return err
	}
	return bed.Close()
}
