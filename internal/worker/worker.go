// Package worker runs queued studies on a testbed with the code for any study: it leases
// the testbed, checks that it is fit, runs blocks in a lab, and sends the results.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"linerate/internal/wait"

	"linerate/internal/fact"
	"linerate/internal/lab"
	"linerate/internal/queue"
	"linerate/internal/study"
	"linerate/internal/studydir"
)

// Testbed is the testbed that a worker uses.
type Testbed struct {
	queue.Claim
	// File is the testbed file, which is part of the record of a study on machines.
	File []byte
	// Fit checks the testbed and returns what is wrong; nil if it cannot be checked.
	Fit func(ctx context.Context) error
	// Open opens the testbed's lab for a study with its record in dir.
	Open func(ctx context.Context, s study.Spec, dir string) (*Lab, error)
}

// Lab is an open lab.
type Lab struct {
	*lab.Lab
	Environment study.Environment // without facts, testbeds and unavailable variants
	Facts       *fact.Facts
	Close       func()
}

// Worker runs queued blocks on a testbed.
type Worker struct {
	Queue   queue.Queue
	Testbed Testbed
	// Keep adds a complete record to the ledger, and returns the study's ID there; it may be called
	// twice for the same record.
	Keep func(ctx context.Context, id string, files []queue.File) (string, error)
	// Say prints progress messages.
	Say func(format string, args ...any)
	// Retry is the interval of attempts to lease an unavailable testbed (Patience.Beat).
	Retry time.Duration
	// Scratch is a directory for records of running studies.
	Scratch string
}

// Run works until ctx ends. It waits for a testbed that is leased by others, or in quarantine.
func (w *Worker) Run(ctx context.Context) error {
	said := ""
	once := func(format string, args ...any) {
		if s := fmt.Sprintf(format, args...); s != said {
			said = s
			w.Say("%s", s)
		}
	}
	for ctx.Err() == nil {
		l, err := w.Queue.Lease(ctx, w.Testbed.Claim)
		var not *queue.NotAvailable
		switch {
		case errors.As(err, &not) && errors.Is(err, queue.ErrQuarantined):
			once("testbed %s is in quarantine until it is freed: %s", w.Testbed.Testbed, not.Why)
			_ = wait.For(ctx, w.Retry)
			continue
		case errors.As(err, &not):
			once("testbed %s is held by %s; waiting", w.Testbed.Testbed, not.Holder)
			_ = wait.For(ctx, min(w.Retry, max(not.Wait, time.Millisecond)))
			continue
		case err != nil:
			if ctx.Err() == nil {
				once("testbed %s: %v; trying again", w.Testbed.Testbed, err)
				_ = wait.For(ctx, w.Retry/10)
			}
			continue
		}
		once("testbed %s (%s) is ours, lease %d", w.Testbed.Testbed, w.Testbed.Label, l.Epoch)
		b := &bench{Worker: w}
		err = w.Queue.Work(ctx, l, w.fit, b.do)
		b.busy.Lock() // a job may outlast the patience of the queue
		b.clear()
		b.busy.Unlock()
		if err != nil && ctx.Err() == nil {
			once("testbed %s: %v", w.Testbed.Testbed, err)
		}
	}
	return nil
}

// fit checks the testbed.
func (w *Worker) fit(ctx context.Context) error {
	if w.Testbed.Fit == nil {
		return nil
	}
	return w.Testbed.Fit(ctx)
}

// bench is a testbed under one lease: the lab stays open between blocks of a study.
type bench struct {
	*Worker
	study string
	path  string // of the study's record here
	dir   *studydir.Dir
	lab   *Lab
	files []queue.File
	busy  sync.Mutex // held during a job: the next lease waits for the last job of the previous one
}

// do processes a job.
func (b *bench) do(ctx context.Context, j queue.Job) (queue.Outcome, error) {
	b.busy.Lock()
	defer b.busy.Unlock()
	if j.Finish {
		return b.finish(ctx, j)
	}
	b.Say("study %s (%s): part %s, block %s, try %d", j.Spec.Name, j.Study, j.Unit.Part, numbers(j.Unit.Blocks), j.Try)
	o, err := b.block(ctx, j)
	if err == nil || ctx.Err() != nil {
		return o, err
	}
	b.clear() // the open lab may be the problem
	var bed *queue.BedFailed
	if errors.As(err, &bed) {
		return o, err
	}
	b.Say("study %s: %v; is it the testbed?", j.Study, err)
	if unfit := b.fit(ctx); unfit != nil && ctx.Err() == nil {
		return o, &queue.BedFailed{Reason: fmt.Sprintf("%v, after: %v", unfit, err)}
	}
	return o, err
}

// block runs the blocks of a unit.
func (b *bench) block(ctx context.Context, j queue.Job) (queue.Outcome, error) {
	if j.Spec.Testbed.Kind != b.Testbed.Kind {
		return queue.Outcome{}, fmt.Errorf("the study needs a testbed of kind %s, and %s is one of kind %s", j.Spec.Testbed.Kind, b.Testbed.Testbed, b.Testbed.Kind)
	}
	if err := b.open(ctx, j); err != nil {
		return queue.Outcome{}, err
	}
	var o queue.Outcome
	b.files = nil
	b.lab.Keep = func(name string, data []byte) error {
		b.files = append(b.files, queue.File{Name: name, Data: data})
		return nil
	}
	out, err := b.lab.Run(ctx, lab.Task{Spec: j.Spec, Seed: j.Seed, Done: j.Before, Blocks: j.Unit.Blocks}, func(t study.Trial) error {
		o.Trials = append(o.Trials, t)
		return nil
	}, nil)
	if err != nil {
		return queue.Outcome{}, err
	}
	o.Files, o.Environment = b.files, b.lab.Environment
	o.Environment.Testbeds, o.Environment.Unavailable = out.Testbeds, out.Unavailable
	if b.lab.Facts != nil {
		if o.Facts, err = json.Marshal(b.lab.Facts); err != nil {
			return queue.Outcome{}, fmt.Errorf("write the facts: %w", err)
		}
		o.Facts = append(o.Facts, '\n')
	}
	return o, nil
}

// open opens the lab for a job's study.
func (b *bench) open(ctx context.Context, j queue.Job) error {
	if b.study == j.Study && b.lab != nil {
		return nil
	}
	b.clear()
	path, err := os.MkdirTemp(b.Scratch, "study-"+j.Study+"-")
	if err != nil {
		return err
	}
	b.path = path
	if b.dir, err = studydir.Create(filepath.Join(path, "record"), j.Spec); err != nil {
		return err
	}
	sets := map[string][]studydir.SetFile{}
	if len(j.Sets) > 0 {
		if err := json.Unmarshal(j.Sets, &sets); err != nil {
			return fmt.Errorf("the study's configuration sets: %w", err)
		}
	}
	if j.Spec.OnMachines() {
		if err := errors.Join(b.dir.Keep(studydir.TestbedFile, b.Testbed.File), b.dir.KeepSets(sets)); err != nil {
			return err
		}
	}
	b.lab, err = b.Testbed.Open(ctx, j.Spec, b.dir.Path)
	if err == nil {
		b.study = j.Study
	}
	return err
}

// clear closes and removes what is open.
func (b *bench) clear() {
	if b.lab != nil {
		b.lab.Close()
	}
	if b.dir != nil {
		_ = b.dir.Close() // not read again
	}
	if b.path != "" {
		_ = os.RemoveAll(b.path) // temporary data
	}
	b.lab, b.dir, b.path, b.study = nil, nil, "", ""
}

// finish adds a study's record to the ledger.
func (b *bench) finish(ctx context.Context, j queue.Job) (queue.Outcome, error) {
	files, err := b.Queue.Record(ctx, j.Study)
	if err != nil {
		return queue.Outcome{}, err
	}
	id, err := b.Keep(ctx, j.Study, files)
	if err != nil {
		b.Say("study %s is not in the ledger yet: %v", j.Study, err)
		return queue.Outcome{}, err
	}
	b.Say("study %s (%s) is complete and in the ledger", j.Spec.Name, j.Study)
	return queue.Outcome{Ledger: id}, nil
}

// numbers formats the blocks of a unit.
func numbers(blocks []int) string {
	switch n := len(blocks); n {
	case 0:
		return "none"
	case 1:
		return fmt.Sprint(blocks[0])
	default:
		return fmt.Sprintf("%d to %d", blocks[0], blocks[n-1])
	}
}
