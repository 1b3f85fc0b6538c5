// Package client offers requests to a server: in an open loop (requests are due by
// a schedule, whatever the server does) or a closed one (each lane asks again when
// it has been answered). It also makes the connections and names their failures. What
// is asked, and how, is a Source's: httpload, smtpload and fileload are such.
package client

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"linerate/internal/load/request"

	"golang.org/x/sys/unix"
)

// CPUs is how many this process may use. The Go scheduler may be given more
// processors later, for threads that mostly wait.
var CPUs = runtime.GOMAXPROCS(0)

// Spec is a load of requests for several targets, over some lanes.
type Spec struct {
	Load
	Targets int // a request is of one of so many
	Lanes   int // requests at once; in an open loop as many as are needed, up to it
	// Finish lets a closed loop's last requests end, for those that are not to
	// be cut off; they count, and so does the time they take.
	Finish bool
}

// Lane sends one request after the other.
type Lane interface {
	// Do asks for a target and waits for all of the answer.
	Do(target int, deadline time.Time) Answer
	Close()
}

// Answer is what came of a request.
type Answer struct {
	Kind   request.Kind
	Code   int   // the answer's status; 0 without an answer
	Body   int64 // bytes
	Detail string
}

// Events are what a lane reports about its connections.
type Events interface {
	Connected(took time.Duration)
	Reopened()
}

// Source makes the lanes of one run.
type Source interface {
	// Lane makes the i-th, from 0.
	Lane(i int, tell Events) Lane
	// Used is what the run has used so far.
	Used() Used
	// Close ends what lanes share, after them.
	Close()
}

// Used is CPU time of the generator.
type Used struct {
	CPU        time.Duration
	Negotiated string // what the connections' ends agreed on; empty: nothing to agree on, or none made
}

// run is one load while it runs.
type run struct {
	*Spec
	source Source
	ctx    context.Context // ends what is in flight
	stop   context.CancelFunc
	t0     time.Time
	shards []*shard
	asked  atomic.Uint64
	early  atomic.Uint64 // requests due before the end of the warm-up
	base   Used          // when counting began
	ended  time.Duration // of the last answer
	mu     sync.Mutex    // of base, ended and shared
	shared *request.Mix
}

// shard is an account that some lanes share.
type shard struct {
	mu      sync.Mutex
	account *request.Account
	r       *run
}

// Run offers the load until its end or ctx's. The source is made with a
// context that ends what is in flight. The account is nil where the load could
// not begin; a run that ctx ended has an account, and ctx's error.
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
	a, m := r.sum(r.elapsed())
	return a, m, ctx.Err()
}

// now is the time since the start of the run.
func (r *run) now() time.Duration { return time.Since(r.t0) }

// one sends one request and counts what came of it.
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

// Connected and Reopened are Events.
func (s *shard) Connected(took time.Duration) {
	s.count(func(a *request.Account) { a.Connected(took) })
}
func (s *shard) Reopened() { s.count((*request.Account).Reopened) }

// count counts what happens after the warm-up.
func (s *shard) count(add func(*request.Account)) {
	if s.r.now() < s.r.Warmup {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	add(s.account)
}

// rebase begins to count what the run uses.
func (r *run) rebase() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.base = r.source.Used()
}

// finish notes how far the run has come.
func (r *run) finish(at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = max(r.ended, at)
}

func (r *run) elapsed() time.Duration { return r.ended - r.Warmup }

// sum is the account of all shards, and what was used for it.
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

// lane makes the i-th of the lanes, and the account it counts in.
func (r *run) lane(i int) (Lane, *shard) {
	sh := r.shards[i%len(r.shards)]
	return r.source.Lane(i, sh), sh
}

// CPU is the processor time of this process: its own, and the kernel's for it.
func CPU() (user, system time.Duration) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}

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
		return request.NewMix(r.Targets, r.Seed, uint64(lane)).Next
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
