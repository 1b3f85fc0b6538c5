package client

import (
	"sync"
	"time"

	"linerate/internal/load/request"
)

// backoff is how long a closed loop waits after a failure to connect: a
// server that refuses is not to be measured by how fast it does.
const backoff = 10 * time.Millisecond

// closed keeps every lane busy until the end. What is then in flight is cut
// off, as wrk does, or waited for.
func (r *run) closed() {
	if r.Duration > 0 && !r.Finish {
		defer time.AfterFunc(r.end(), r.stop).Stop()
	}
	var all sync.WaitGroup
	for i := range r.Lanes {
		all.Go(func() { r.repeat(i) })
	}
	all.Wait()
	at := r.now()
	if r.Duration > 0 && r.ctx.Err() != nil {
		at = min(at, r.end())
	}
	r.finish(at)
}

// repeat is one lane of the closed loop.
func (r *run) repeat(i int) {
	l, sh := r.lane(i)
	defer l.Close()
	next := r.mix(i)
	for r.ctx.Err() == nil && !r.enough() && r.take() {
		at := r.now()
		o := r.one(l, sh, request.Outcome{Due: at, Free: at, Target: next()})
		if o.Kind != request.OK && o.Kind < request.Reset {
			r.pause(backoff)
		}
	}
}

// mix chooses what a lane asks for. A number of requests is the same requests
// whichever lane is how fast: there all lanes draw from one mix.
func (r *run) mix(lane int) func() int {
	if r.Requests == 0 {
		return request.NewMix(r.Weights, r.Seed, uint64(lane)).Next
	}
	return func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.shared.Next()
	}
}

// enough reports that nothing more is to be begun.
func (r *run) enough() bool { return r.Finish && r.now() >= r.end() }

// take takes one of the requests that there are.
func (r *run) take() bool { return r.Requests == 0 || r.asked.Add(1) <= r.Requests }

// pause waits, no longer than the run lasts.
func (r *run) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.ctx.Done():
	}
}
