package hosts

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"linerate/internal/fleet"
	"linerate/internal/wait"
)

// Pace controls how fast many hosts are visited; zero fields mean the defaults.
type Pace struct {
	Parallel int           // concurrent hosts; 0 means 64
	Tries    int           // per host before it counts as unreachable; 0 means 4
	Pause    time.Duration // after the first try, tripled after each further one; 0 means 2 s
	Batch    int           // results stored together; 0 means 100
}

// visits is one pass over many hosts. T is the result of a visit.
type visits[T any] struct {
	Pace
	targets []fleet.Target
	// do visits a host, with its own deadline. Its errors are retried, unless final reports that
	// retrying cannot help.
	do    func(context.Context, *fleet.Target) (T, error)
	final func(error) bool
	// lost returns the result for an unreachable host.
	lost func(t *fleet.Target, at time.Time, why error) T
	// store stores results.
	store func(context.Context, []T) error
	// progress is called from one goroutine, for each completed host and each failed try.
	progress func(Progress)
}

// Progress is the progress of a pass over many hosts.
type Progress struct {
	Total, Reached, Unreachable int
	// Waiting counts hosts that failed and will be retried.
	Waiting int
	// Failed and Why describe the host that was just counted as unreachable; else "".
	Failed, Why string
}

// Done returns the number of completed hosts.
func (p Progress) Done() int { return p.Reached + p.Unreachable }

// tried is the result of a try; again means that another try follows.
type tried[T any] struct {
	target *fleet.Target
	first  bool
	again  bool
	got    T
	err    error
}

// run visits all targets. When it returns, all results are stored, or the error says why not; if
// the context ends, it stores the results so far.
func (v visits[T]) run(ctx context.Context) (p Progress, err error) {
	v.Parallel, v.Tries, v.Pause, v.Batch = cmp.Or(v.Parallel, 64), cmp.Or(v.Tries, 4), cmp.Or(v.Pause, 2*time.Second), cmp.Or(v.Batch, 100)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	news := make(chan tried[T], v.Batch)
	go v.visit(ctx, news)
	p.Total = len(v.targets)
	v.report(p)
	var batch []T
	flush := func() {
		if len(batch) > 0 && err == nil {
			if err = v.store(context.WithoutCancel(ctx), batch); err != nil {
				cancel(err)
			}
		}
		batch = batch[:0]
	}
	tick := time.NewTicker(storeEvery)
	defer tick.Stop()
	for {
		select {
		case n, more := <-news:
			if !more {
				flush()
				return p, cmp.Or(err, context.Cause(ctx))
			}
			p.count(n.target, n.first, n.again, n.err)
			v.report(p)
			if n.again {
				continue
			}
			if batch = append(batch, n.got); len(batch) >= v.Batch {
				flush()
			}
		case <-tick.C:
			flush()
		}
	}
}

// storeEvery is how long a result may wait for others.
const storeEvery = time.Second

func (p *Progress) count(t *fleet.Target, first, again bool, err error) {
	p.Failed, p.Why = "", ""
	if !first {
		p.Waiting--
	}
	switch {
	case again:
		p.Waiting++
	case err != nil:
		p.Unreachable++
		p.Failed, p.Why = t.Name, err.Error()
	default:
		p.Reached++
	}
}

func (v *visits[T]) report(p Progress) {
	if v.progress != nil {
		v.progress(p)
	}
}

// visit visits the targets, as many concurrently as there are slots, and closes news.
func (v *visits[T]) visit(ctx context.Context, news chan<- tried[T]) {
	defer close(news)
	slots := make(chan struct{}, v.Parallel)
	var hosts sync.WaitGroup
	defer hosts.Wait()
	for i := range v.targets {
		select {
		case slots <- struct{}{}:
			hosts.Go(func() { v.one(ctx, &v.targets[i], slots, news) })
		case <-ctx.Done():
			return
		}
	}
}

// one visits a host until a try succeeds or no tries are left. It holds a slot, except during
// pauses.
func (v *visits[T]) one(ctx context.Context, t *fleet.Target, slots chan struct{}, news chan<- tried[T]) {
	for try := 0; ; try++ {
		got, err := v.try(ctx, t)
		<-slots
		if ctx.Err() != nil {
			return // the end of the context may have caused the failure
		}
		again := err != nil && !v.final(err) && try+1 < v.Tries
		if err != nil && !again {
			got = v.lost(t, time.Now(), err)
		}
		news <- tried[T]{t, try == 0, again, got, err}
		if !again || wait.For(ctx, v.pause(try)) != nil {
			return
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

// pause triples with each try, and is randomised by ±25 % so that hosts which failed together are
// not retried together.
func (v *visits[T]) pause(try int) time.Duration {
	d := v.Pause
	for range try {
		d *= 3
	}
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2))
}

// try visits a host; a panic caused by one host's data does not end the whole pass.
func (v *visits[T]) try(ctx context.Context, t *fleet.Target) (got T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: a bug in linerate: %v", t.Name, p)
		}
	}()
	return v.do(ctx, t)
}
