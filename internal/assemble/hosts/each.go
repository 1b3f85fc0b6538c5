package hosts

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"linerate/internal/fleet"
)

// Pace is how fast many hosts are visited; zero fields are their defaults.
type Pace struct {
	Parallel int           // hosts at a time; 0: 64
	Splay    time.Duration // spreads the hosts' starts over this time; 0: at once
	Tries    int           // of a host before it counts as unreachable; 0: 4
	Pause    time.Duration // after the first try, tripled after each further one; 0: 2 s
	Batch    int           // results that are stored together; 0: 100
}

// visits is one pass over many hosts. T is what comes of a host.
type visits[T any] struct {
	Pace
	targets []fleet.Target
	// do visits a host, within its own deadline. Its errors are tried again, unless
	// final says that another try cannot help.
	do    func(context.Context, *fleet.Target) (T, error)
	final func(error) bool
	// lost is the result for a host that counts as unreachable.
	lost func(t *fleet.Target, at time.Time, why error) T
	// store keeps results.
	store func(context.Context, []T) error
	// progress is called from one goroutine, for each host that is done and each try that failed.
	progress func(Progress)
}

// Progress is how far a pass over many hosts is.
type Progress struct {
	Total, Reached, Unreachable int
	// Waiting counts hosts whose next try is due later, Tries those that failed.
	Waiting, Tries int
	// Failed and Why describe the host that just counted as unreachable; else "".
	Failed, Why string
}

// Done is the number of hosts that are done.
func (p Progress) Done() int { return p.Reached + p.Unreachable }

// job is a host's next try.
type job struct {
	target int
	try    int // from 0
	at     time.Time
}

// outcome is the result of a try.
type outcome[T any] struct {
	job
	got T
	err error
}

type run[T any] struct {
	visits[T]
	jobs     chan job
	outcomes chan outcome[T]
	got      chan T
}

// run visits all targets. When it returns, all results are stored, or the error says why
// not; a context that ends stops it after those that are there.
func (v visits[T]) run(ctx context.Context) (Progress, error) {
	v.Parallel, v.Tries, v.Pause, v.Batch = cmp.Or(v.Parallel, 64), cmp.Or(v.Tries, 4), cmp.Or(v.Pause, 2*time.Second), cmp.Or(v.Batch, 100)
	r := &run[T]{visits: v, jobs: make(chan job), outcomes: make(chan outcome[T]), got: make(chan T, v.Batch)}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stored := make(chan error, 1)
	go func() { stored <- r.keep(ctx, cancel) }()
	var workers sync.WaitGroup
	for range min(r.Parallel, len(r.targets)) {
		workers.Go(func() { r.work(ctx) })
	}
	p := r.dispatch(ctx)
	close(r.jobs)
	workers.Wait()
	close(r.got)
	if err := <-stored; err != nil {
		return p, err
	}
	return p, context.Cause(ctx)
}

// dispatch gives out jobs as they are due until every host is done.
func (r *run[T]) dispatch(ctx context.Context) Progress {
	p := Progress{Total: len(r.targets)}
	begun := time.Now()
	var due queue
	for i := range r.targets {
		due = append(due, job{target: i, at: begun.Add(time.Duration(share(r.targets[i].Name) * float64(r.Splay)))})
	}
	heap.Init(&due)
	r.report(p)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for p.Done() < p.Total {
		var jobs chan job
		var next job
		if len(due) > 0 {
			next = due[0]
			if wait := time.Until(next.at); wait <= 0 {
				jobs = r.jobs
			} else {
				timer.Reset(wait)
			}
		}
		select {
		case jobs <- next:
			heap.Pop(&due)
			if next.try > 0 {
				p.Waiting--
			}
		case o := <-r.outcomes:
			r.take(ctx, &p, &due, o)
		case <-timer.C:
		case <-ctx.Done():
			return p
		}
	}
	return p
}

// take counts an outcome, and puts the host back where it is to be tried again.
func (r *run[T]) take(ctx context.Context, p *Progress, due *queue, o outcome[T]) {
	if ctx.Err() != nil {
		return // it may have failed because of us
	}
	p.Failed, p.Why = "", ""
	t := &r.targets[o.target]
	switch {
	case o.err == nil:
		p.Reached++
	case !r.final(o.err) && o.try+1 < r.Tries:
		p.Tries++
		p.Waiting++
		heap.Push(due, job{o.target, o.try + 1, time.Now().Add(r.pause(t.Name, o.try))})
		r.report(*p)
		return
	default:
		p.Tries++
		p.Unreachable++
		p.Failed, p.Why = t.Name, o.err.Error()
		o.got = r.lost(t, time.Now(), o.err)
	}
	select {
	case r.got <- o.got:
	case <-ctx.Done():
	}
	r.report(*p)
}

func (r *run[T]) report(p Progress) {
	if r.progress != nil {
		r.progress(p)
	}
}

// share is a number from 0 to 1 that a name always has.
func share(name string) float64 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return float64(h.Sum32()) / (1 << 32)
}

// pause grows threefold with each try, and differs by a half from host to host, so that
// hosts which failed together do not come back together.
func (r *run[T]) pause(name string, try int) time.Duration {
	d := r.Pause
	for range try {
		d *= 3
	}
	return time.Duration(float64(d) * (0.75 + share(name)/2))
}

// work does jobs.
func (r *run[T]) work(ctx context.Context) {
	for j := range r.jobs {
		got, err := r.try(ctx, &r.targets[j.target])
		select {
		case r.outcomes <- outcome[T]{j, got, err}:
		case <-ctx.Done():
		}
	}
}

// try visits a host; a panic over one host's data does not end the pass over all.
func (r *run[T]) try(ctx context.Context, t *fleet.Target) (got T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: a bug in linerate: %v", t.Name, p)
		}
	}()
	return r.do(ctx, t)
}

// storeEvery is how long a result may wait for others.
const storeEvery = time.Second

// keep stores results in batches, those from before the context ended too.
func (r *run[T]) keep(ctx context.Context, cancel context.CancelCauseFunc) error {
	tick := time.NewTicker(storeEvery)
	defer tick.Stop()
	var batch []T
	var failure error
	flush := func() {
		if len(batch) == 0 || failure != nil {
			return
		}
		if failure = r.store(context.WithoutCancel(ctx), batch); failure != nil {
			cancel(failure)
		}
		batch = batch[:0]
	}
	for {
		select {
		case o, more := <-r.got:
			if !more {
				flush()
				return failure
			}
			if batch = append(batch, o); len(batch) >= r.Batch {
				flush()
			}
		case <-tick.C:
			flush()
		}
	}
}

// queue is a heap of jobs by when they are due.
type queue []job

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(job)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// Interrupted reports that a pass was stopped, and may go on.
func Interrupted(err error) bool { return errors.Is(err, context.Canceled) }
