// Package sweep goes through a fleet: a bounded number of connections at a time, tries
// that are repeated with growing pauses before a host counts as unreachable, and what
// was seen handed on in batches. It holds no more than the hosts it is at, and knows
// neither how a host is reached nor what is done with what it tells.
package sweep

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"runtime"
	"sync"
	"time"

	"linerate/internal/fleet/inventory"
)

// Options of a sweep; zero fields are their defaults.
type Options struct {
	Parallel int           // connections at a time; 0: 200
	Splay    time.Duration // hosts begin within so long, each at its own time; 0: at once
	Tries    int           // of a host before it counts as unreachable; 0: 4
	Pause    time.Duration // after the first try; each next one is three times as long; 0: 2 s
	Timeout  time.Duration // of one try; 0: 2 min
	Batch    int           // of observations that are stored at a time; 0: 100
}

func (o *Options) defaults() {
	set := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	set(&o.Parallel, 200)
	set(&o.Tries, 4)
	set(&o.Batch, 100)
	if o.Pause <= 0 {
		o.Pause = 2 * time.Second
	}
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Minute
	}
}

// Task is what to do. T is what is seen of a host.
type Task[T any] struct {
	Options
	Targets []inventory.Target
	// Fetch reaches a host and returns what Examine reads. Its errors are tried
	// again, but for those that Final reports.
	Fetch func(context.Context, *inventory.Target) ([]byte, error)
	Final func(error) bool
	// Examine makes an observation of what was fetched; it works on CPU alone.
	// Done hears when the bytes are no longer needed.
	Examine func(context.Context, *inventory.Target, []byte) (T, error)
	Done    func([]byte)
	// Lost is what is kept of a host that counts as unreachable.
	Lost func(t *inventory.Target, at time.Time, why error) T
	// Store keeps what was seen.
	Store func(context.Context, []T) error
	// Progress hears of every host that is through, and every try that failed; it
	// is called from one goroutine.
	Progress func(Progress)
}

// Progress is how far a sweep is.
type Progress struct {
	Total, Reached, Unreachable int
	// Waiting counts hosts whose next try is due later, Tries those that failed.
	Waiting, Tries int
	// Failed and Why are of the host that just counted as unreachable; "" of others.
	Failed, Why string
}

// Done is how many hosts are through.
func (p Progress) Done() int { return p.Reached + p.Unreachable }

// job is a host's next try.
type job struct {
	target int
	try    int // from 0
	at     time.Time
}

// outcome is what became of a try.
type outcome[T any] struct {
	job
	seen T
	err  error
}

type run[T any] struct {
	Task[T]
	jobs     chan job
	fetched  chan fetchedBytes
	outcomes chan outcome[T]
	seen     chan T
	begun    time.Time
}

type fetchedBytes struct {
	job
	data []byte
}

// Run goes through the targets. When it returns, all observations that were made are
// stored, or the error says why not; a context that ends stops it after those.
func Run[T any](ctx context.Context, t Task[T]) (Progress, error) {
	t.defaults()
	r := &run[T]{Task: t, jobs: make(chan job), fetched: make(chan fetchedBytes), outcomes: make(chan outcome[T]), seen: make(chan T, t.Batch), begun: time.Now()}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stored := make(chan error, 1)
	go func() { stored <- r.store(ctx, cancel) }()
	var fetching, examining sync.WaitGroup
	for range min(r.Parallel, len(r.Targets)) {
		fetching.Go(func() { r.fetch(ctx) })
	}
	for range max(1, runtime.GOMAXPROCS(0)) {
		examining.Go(func() { r.examine(ctx) })
	}
	p := r.dispatch(ctx)
	close(r.jobs)
	fetching.Wait()
	close(r.fetched)
	examining.Wait()
	close(r.seen)
	if err := <-stored; err != nil {
		return p, err
	}
	return p, context.Cause(ctx)
}

// dispatch gives out jobs as they are due until every host is through.
func (r *run[T]) dispatch(ctx context.Context) Progress {
	p := Progress{Total: len(r.Targets)}
	var due queue
	for i := range r.Targets {
		due = append(due, job{target: i, at: r.begun.Add(r.splay(&r.Targets[i]))})
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
		return // what failed now failed because of us
	}
	p.Failed, p.Why = "", ""
	name := r.Targets[o.target].Name
	switch final := r.Final != nil && o.err != nil && r.Final(o.err); {
	case o.err == nil:
		p.Reached++
	case !final && o.try+1 < r.Tries:
		p.Tries++
		p.Waiting++
		heap.Push(due, job{o.target, o.try + 1, time.Now().Add(r.pause(name, o.try))})
		r.report(*p)
		return
	default:
		p.Tries++
		p.Unreachable++
		p.Failed, p.Why = name, o.err.Error()
		o.seen = r.Lost(&r.Targets[o.target], time.Now(), o.err)
	}
	select {
	case r.seen <- o.seen:
	case <-ctx.Done():
	}
	r.report(*p)
}

func (r *run[T]) report(p Progress) {
	if r.Progress != nil {
		r.Progress(p)
	}
}

// share is a number from 0 to 1 that belongs to a name: the same every night.
func share(name string) float64 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return float64(h.Sum32()) / (1 << 32)
}

func (r *run[T]) splay(t *inventory.Target) time.Duration {
	return time.Duration(share(t.Name) * float64(r.Splay))
}

// pause grows threefold with each try, and differs by a half from host to host, so that
// those which failed together do not come back together.
func (r *run[T]) pause(name string, try int) time.Duration {
	d := r.Pause
	for range try {
		d *= 3
	}
	return time.Duration(float64(d) * (0.75 + share(name)/2))
}

// fetch reaches hosts.
func (r *run[T]) fetch(ctx context.Context) {
	for j := range r.jobs {
		t := &r.Targets[j.target]
		data, err := r.try(ctx, t)
		if err != nil {
			r.tell(ctx, outcome[T]{job: j, err: err})
			continue
		}
		select {
		case r.fetched <- fetchedBytes{j, data}:
		case <-ctx.Done():
			r.done(data)
		}
	}
}

func (r *run[T]) try(ctx context.Context, t *inventory.Target) (data []byte, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("not done in %v", r.Timeout))
	defer cancel()
	return r.Fetch(ctx, t)
}

func (r *run[T]) done(data []byte) {
	if r.Done != nil {
		r.Done(data)
	}
}

func (r *run[T]) tell(ctx context.Context, o outcome[T]) {
	select {
	case r.outcomes <- o:
	case <-ctx.Done():
	}
}

// examine makes observations of what was fetched.
func (r *run[T]) examine(ctx context.Context) {
	for f := range r.fetched {
		seen, err := r.look(ctx, f)
		r.done(f.data)
		r.tell(ctx, outcome[T]{job: f.job, seen: seen, err: err})
	}
}

// look keeps one host's nonsense from ending the sweep of all.
func (r *run[T]) look(ctx context.Context, f fetchedBytes) (seen T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("examine %s: a mistake of linerate's: %v", r.Targets[f.target].Name, p)
		}
	}()
	return r.Examine(ctx, &r.Targets[f.target], f.data)
}

// storeEvery is how long an observation may wait for others.
const storeEvery = time.Second

// store keeps observations in batches. A context that ended does not keep it from
// storing what was seen before.
func (r *run[T]) store(ctx context.Context, cancel context.CancelCauseFunc) error {
	tick := time.NewTicker(storeEvery)
	defer tick.Stop()
	var batch []T
	var failure error
	flush := func() {
		if len(batch) == 0 || failure != nil {
			return
		}
		if failure = r.Store(context.WithoutCancel(ctx), batch); failure != nil {
			cancel(failure)
		}
		batch = batch[:0]
	}
	for {
		select {
		case o, more := <-r.seen:
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

func (q *queue) Push(x any) { *q = append(*q, x.(job)) }

func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// Interrupted reports that a sweep was stopped, and may go on.
func Interrupted(err error) bool { return errors.Is(err, context.Canceled) }
