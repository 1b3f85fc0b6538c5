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

// Pace is how fast many hosts are visited; zero fields are their defaults.
type Pace struct {
	Parallel int           // hosts at a time; 0: 64
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
	// Waiting counts hosts that failed and are to be tried again.
	Waiting int
	// Failed and Why describe the host that just counted as unreachable; else "".
	Failed, Why string
}

// Done is the number of hosts that are done.
func (p Progress) Done() int { return p.Reached + p.Unreachable }

// tried is the result of a try; again: another follows.
type tried[T any] struct {
	target *fleet.Target
	first  bool
	again  bool
	got    T
	err    error
}

// run visits all targets. When it returns, all results are stored, or the error says why
// not; a context that ends stops it after those that are there.
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

// visit visits the targets, as many at a time as there are slots, and closes news.
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

// one visits a host until a try succeeds or there are no more. It has a slot, and gives it
// to others while it pauses.
func (v *visits[T]) one(ctx context.Context, t *fleet.Target, slots chan struct{}, news chan<- tried[T]) {
	for try := 0; ; try++ {
		got, err := v.try(ctx, t)
		<-slots
		if ctx.Err() != nil {
			return // it may have failed because of us
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

// pause grows threefold with each try, and differs by a half from host to host, so that
// hosts which failed together do not come back together.
func (v *visits[T]) pause(try int) time.Duration {
	d := v.Pause
	for range try {
		d *= 3
	}
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2))
}

// try visits a host; a panic over one host's data does not end the pass over all.
func (v *visits[T]) try(ctx context.Context, t *fleet.Target) (got T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: a bug in linerate: %v", t.Name, p)
		}
	}()
	return v.do(ctx, t)
}
