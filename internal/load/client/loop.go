// Package client sends requests to a server: in an open loop (requests are due by a
// schedule, whatever the server does) or a closed one (each lane sends the next request
// when the last is answered). It also makes connections and classifies their failures. A
// Source defines the requests: httpload, smtpload and fileload are sources.
package client

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/load/request"
)

// CPUs is how many CPUs this process may use. The Go scheduler may later get
// more processors, for threads that mostly wait.
var CPUs = runtime.GOMAXPROCS(0)

// Spec is a load of requests for several targets, over several lanes.
type Spec struct {
	Load
	Targets int // number of targets; each request is for one of them
	Lanes   int // concurrent requests; in an open loop the maximum
	// Finish lets the last requests of a closed loop complete, where they must
	// not be cut off; they count, and so does their time.
	Finish bool
}

// Lane sends one request after another.
type Lane interface {
	// Do sends a request for a target and waits for the complete answer.
	Do(target int, deadline time.Time) Answer
	Close()
}

// Answer is the result of a request.
type Answer struct {
	Kind   request.Kind
	Code   int   // status of the answer; 0 without one
	Body   int64 // bytes
	Detail string
}

// Events receives what a lane reports about its connections.
type Events interface {
	Connected(took time.Duration)
	Reopened()
}

// Source creates the lanes of one run.
type Source interface {
	// Lane creates the i-th lane, from 0.
	Lane(i int, tell Events) Lane
	// Used returns what the run has used so far.
	Used() Used
	// Close ends what lanes share; it is called after them.
	Close()
}

// Used is the CPU time of the generator, and what its connections negotiated.
type Used struct {
	CPU        time.Duration
	Negotiated string // protocol parameters of the connections; empty if there are none
}

// run is a load in progress.
type run struct {
	*Spec
	source Source
	ctx    context.Context // cancels requests in flight
	stop   context.CancelFunc
	t0     time.Time
	shards []*shard
	asked  atomic.Uint64
	early  atomic.Uint64 // requests due during the warm-up
	base   Used          // at the start of the measurement
	ended  time.Duration // time of the last answer
	mu     sync.Mutex    // protects base, ended and shared
	shared *request.Mix
}

// shard is an account shared by some lanes.
type shard struct {
	mu      sync.Mutex
	account *request.Account
	r       *run
}

// Run sends the load until its end or until ctx is done. start gets a context
// that cancels requests in flight. The account is nil if the load could not
// begin; if ctx ended the run, Run returns the account and ctx's error.
func Run(ctx context.Context, s Spec, start func(context.Context) (Source, error)) (*request.Account, request.Meter, error) {
	r := &run{Spec: &s, shared: request.NewMix(s.Targets, s.Seed, 0)}
	r.ctx, r.stop = context.WithCancel(ctx)
	defer r.stop()
	var err error
	if r.source, err = start(r.ctx); err != nil {
		return nil, request.Meter{}, err
	}
	for range min(s.Lanes, 2*CPUs) {
		r.shards = append(r.shards, &shard{account: request.NewAccount(s.Targets), r: r})
	}
	r.t0 = time.Now()
	r.base = r.source.Used()
	if s.Warmup > 0 {
		defer time.AfterFunc(s.Warmup, r.rebase).Stop()
	}
	if s.Rate > 0 {
		r.open()
	} else {
		r.closed()
	}
	r.source.Close()
	a, m := r.sum(r.ended - r.Warmup)
	return a, m, ctx.Err()
}

// now returns the time since the start of the run.
func (r *run) now() time.Duration { return time.Since(r.t0) }

// one sends one request and counts its result.
func (r *run) one(l Lane, sh *shard, o request.Outcome) request.Outcome {
	o.Start = r.now()
	a := l.Do(o.Target, r.t0.Add(o.Start+r.Timeout))
	o.End = r.now()
	o.Kind, o.Detail, o.Code, o.Body = a.Kind, a.Detail, a.Code, a.Body
	sh.mu.Lock()
	defer sh.mu.Unlock()
	switch {
	case o.Due < r.Warmup:
		r.early.Add(1)
	case a.Kind != request.OK && a.Kind != request.Status && r.ctx.Err() != nil:
		sh.account.Unfinished()
	default:
		sh.account.Add(o)
	}
	return o
}

// Connected and Reopened implement Events.
func (s *shard) Connected(took time.Duration) {
	s.count(func(a *request.Account) { a.Connected(took) })
}
func (s *shard) Reopened() { s.count((*request.Account).Reopened) }

// count counts an event, if it is after the warm-up.
func (s *shard) count(add func(*request.Account)) {
	if s.r.now() < s.r.Warmup {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	add(s.account)
}

// rebase starts to count what the run uses.
func (r *run) rebase() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.base = r.source.Used()
}

// finish records the time of an answer.
func (r *run) finish(at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = max(r.ended, at)
}

// sum returns the account over all shards, and the resources used.
func (r *run) sum(elapsed time.Duration) (*request.Account, request.Meter) {
	sum := request.NewAccount(r.Targets)
	for _, s := range r.shards {
		s.mu.Lock()
		sum.Merge(s.account)
		s.mu.Unlock()
	}
	r.mu.Lock()
	b := r.base
	r.mu.Unlock()
	u := r.source.Used()
	return sum, request.Meter{
		Elapsed: elapsed, CPU: u.CPU - b.CPU, CPUs: CPUs,
		Rate: r.Rate, Early: r.early.Load(), Negotiated: u.Negotiated,
	}
}

// lane creates the i-th lane, and returns it with its account.
func (r *run) lane(i int) (Lane, *shard) {
	sh := r.shards[i%len(r.shards)]
	return r.source.Lane(i, sh), sh
}

// CPU returns this process's user and system CPU time.
func CPU() (user, system time.Duration) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}

// backoff is how long a closed loop waits after a failure to connect: the
// rate must not measure how fast a server refuses.
const backoff = 10 * time.Millisecond

// closed keeps every lane busy until the end. Requests in flight are then cut
// off, as in wrk, or awaited.
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

// repeat runs one lane of the closed loop.
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

// mix returns the function that chooses a lane's requests. A fixed number of requests
// must be the same whichever lane is faster: then all lanes draw from one mix.
func (r *run) mix(lane int) func() int {
	if r.Requests == 0 {
		return request.NewMix(r.Targets, r.Seed, uint64(lane)).Next
	}
	return func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.shared.Next()
	}
}

// enough reports whether no further request may begin.
func (r *run) enough() bool { return r.Finish && r.now() >= r.end() }

// take claims one of the remaining requests.
func (r *run) take() bool { return r.Requests == 0 || r.asked.Add(1) <= r.Requests }

// pause waits, at most until the end of the run.
func (r *run) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.ctx.Done():
	}
}
