package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"linerate/internal/queue"
	"linerate/internal/study"
)

// Hands is a worker with a leased testbed: it keeps the lease, and processes jobs from the engine,
// one at a time.
type Hands struct {
	book  *Book
	lease queue.Lease
	do    queue.Work
	// clock and pause are supplied by the engine.
	clock func() time.Time
	pause func(context.Context, time.Duration) error
	end   context.CancelCauseFunc

	mu  sync.Mutex
	job int64            // the current job
	bed *queue.BedFailed // why the testbed is being taken out of use
}

// Hands returns a worker with a lease; end cancels its context with a reason.
func (b *Book) Hands(l queue.Lease, do queue.Work, clock func() time.Time, pause func(context.Context, time.Duration) error, end context.CancelCauseFunc) *Hands {
	return &Hands{book: b, lease: l, do: do, clock: clock, pause: pause, end: end}
}

// since returns the time between two clock readings: the monotonic clock stops while a machine
// sleeps, the wall clock may be set back, so the larger difference counts.
func since(last, now time.Time) time.Duration {
	return max(now.Sub(last), now.Round(0).Sub(last.Round(0)))
}

func (h *Hands) has(job int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.job = job
}

func (h *Hands) holds() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.job
}

// lost ends the work because the lease was lost. A quarantine also ends the lease, and a heartbeat
// may notice that first: then the testbed's failure is the reason.
func (h *Hands) lost(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.bed != nil {
		err = h.bed
	}
	h.end(err)
}

// Keep sends heartbeats until ctx ends. It ends the work with ErrLost when the lease is lost, or
// when no heartbeat has succeeded for Lost minus one beat: then the work has one beat to stop
// before another worker may get the testbed.
func (h *Hands) Keep(ctx context.Context) {
	p := h.book.Patience
	last := h.clock()
	for ctx.Err() == nil {
		sent := h.clock()
		beat, cancel := context.WithTimeout(ctx, p.Beat)
		err := h.book.Beat(beat, h.lease, h.holds)
		cancel()
		switch {
		case errors.Is(err, queue.ErrLost):
			h.lost(err)
			return
		case err == nil:
			last = sent
			sweep, cancel := context.WithTimeout(ctx, p.Beat)
			_ = h.book.Sweep(sweep) // the next heartbeat, or another worker, retries
			cancel()
		}
		silent := since(last, h.clock())
		if silent >= p.Lost-p.Beat {
			h.lost(fmt.Errorf("%w: the database was not reached for %s", queue.ErrLost, silent.Round(time.Second)))
			return
		}
		wait := p.Beat
		if err != nil { // retry soon
			wait = p.Beat / 10
		}
		_ = h.pause(ctx, min(wait, p.Lost-p.Beat-silent))
	}
}

// Serve sends heartbeats while jobs processes jobs, with a testbed that is fit or not. If parent
// ended it returns the lease; otherwise it returns the cause that ended ctx.
func (h *Hands) Serve(parent, ctx context.Context, fit func(context.Context) error, jobs func(fine bool)) error {
	kept := make(chan struct{})
	go func() { defer close(kept); h.Keep(ctx) }()
	jobs(h.Fit(ctx, fit))
	<-kept
	if cause := context.Cause(ctx); parent.Err() == nil {
		return cause
	}
	back, cancel := context.WithTimeout(context.WithoutCancel(parent), h.book.Patience.Beat)
	defer cancel()
	_ = h.book.Return(back, h.lease) // free after Patience.Lost at the latest
	return nil
}

// Again tells an engine to retry a ticket later.
type Again struct{ After time.Duration }

// Error says when to retry.
func (a *Again) Error() string { return fmt.Sprintf("not now: again in %s", a.After) }

// Fit checks whether the testbed is fit, and puts it into quarantine if not.
func (h *Hands) Fit(ctx context.Context, fit func(context.Context) error) bool {
	if fit == nil {
		return ctx.Err() == nil
	}
	err := fit(ctx)
	if err != nil && ctx.Err() == nil {
		h.quarantine(ctx, &queue.BedFailed{Reason: err.Error()})
	}
	return err == nil && ctx.Err() == nil
}

// quarantine takes the testbed out of use and ends the work with the reason.
func (h *Hands) quarantine(ctx context.Context, bed *queue.BedFailed) {
	h.mu.Lock()
	h.bed = bed
	h.mu.Unlock()
	_ = h.insist(ctx, func() error { return h.book.Quarantine(ctx, h.lease, bed.Reason) }) // a lost lease ends the work, too
	h.end(bed)
}

// Handle processes a ticket. nil ends the job: it was done, or no longer belongs to this worker. An
// Again asks for the same ticket later; after any other error the book must hand out the block
// again. ended ends the job in the transaction that records it.
func (h *Hands) Handle(ctx context.Context, t Ticket, ended func(context.Context, Tx) error) error {
	h.has(t.Job)
	defer h.has(0)
	j, err := h.book.begin(ctx, h.lease, t)
	switch {
	case errors.Is(err, errStale):
		return nil
	case errors.Is(err, errBraked):
		return &Again{h.book.Patience.Beat}
	case errors.Is(err, queue.ErrLost):
		h.lost(err)
		return err
	case err != nil:
		return &Again{h.book.Patience.Beat / 10}
	}
	var o queue.Outcome
	part, _ := j.Spec.Part(j.Unit.Part)
	if !(study.Environment{Unavailable: j.Lacks}).Lacks(part) { // else another testbed found out meanwhile
		o, err = h.do(ctx, j)
	}
	if ctx.Err() != nil { // cancelled or lost: whatever ended it handles the block
		return context.Cause(ctx)
	}
	if err == nil {
		err = h.insist(ctx, func() error { return h.book.complete(ctx, h.lease, t, o, ended) })
		switch {
		case err == nil, errors.Is(err, errStale):
			return nil
		case ctx.Err() != nil:
			return err
		}
	}
	var bed *queue.BedFailed
	if errors.As(err, &bed) {
		h.quarantine(ctx, bed)
		return err
	}
	blame := 1
	if j.Finish { // the record is safe even if the ledger's disk is full
		blame = 0
		_ = h.pause(ctx, h.book.Patience.Beat)
	}
	lost := h.insist(ctx, func() error { return h.book.failed(ctx, h.lease, t, err.Error(), blame) })
	if errors.Is(lost, errStale) {
		lost = nil
	}
	return lost // if nil, the block has a new job
}

// insist repeats f until it succeeds, the lease is lost, or it can never succeed.
func (h *Hands) insist(ctx context.Context, f func() error) error {
	for {
		err := f()
		switch {
		case err == nil, errors.Is(err, errStale):
			return err
		case errors.Is(err, queue.ErrLost):
			h.lost(err)
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case h.book.Hopeless != nil && h.book.Hopeless(err):
			return err
		}
		_ = h.pause(ctx, h.book.Patience.Beat/20)
	}
}
