package httpload

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/load/request"
)

// run is one load while it runs.
type run struct {
	*Spec
	d      *dialer
	ctx    context.Context // ends what is in flight
	stop   context.CancelFunc
	t0     time.Time
	shards []*shard
	heads  [][]byte        // HTTP/1.1
	gets   []*http.Request // HTTP/2
	h2     []*http2Conn
	asked  atomic.Uint64
	early  atomic.Uint64 // requests due before the end of the warm-up
	base   base
	ended  time.Duration // of the last answer
	mu     sync.Mutex    // of base and ended
}

// base is what had been used when counting began.
type base struct {
	cpu     time.Duration
	in, out uint64
}

// shard is an account that some lanes share.
type shard struct {
	mu      sync.Mutex
	account *request.Account
	r       *run
}

// Run offers the load until its end or ctx's, and returns its account. A run
// that ctx ended has an account too, and ctx's error.
func Run(ctx context.Context, s Spec) (request.Result, error) {
	a, m, err := Account(ctx, s)
	if a == nil {
		return request.Result{}, err
	}
	return a.Result(m), err
}

// Account is Run for whoever adds several loads up (request.Account.Merge,
// request.Meter.Plus). The account is nil where the load could not begin.
func Account(ctx context.Context, s Spec) (*request.Account, request.Meter, error) {
	if err := s.Validate(); err != nil {
		return nil, request.Meter{}, err
	}
	r, err := newRun(ctx, &s)
	if err != nil {
		return nil, request.Meter{}, err
	}
	defer r.stop()
	r.t0 = time.Now()
	r.base.cpu = usedCPU()
	if s.Warmup > 0 {
		defer time.AfterFunc(s.Warmup, r.rebase).Stop()
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	if s.Watch != nil && s.Every > 0 {
		watching.Go(func() { r.watch(done) })
	}
	if s.Rate > 0 {
		r.open()
	} else {
		r.closed()
	}
	for _, c := range r.h2 {
		c.drop()
	}
	close(done)
	watching.Wait()
	a, m := r.sum(r.elapsed())
	return a, m, ctx.Err()
}

func newRun(ctx context.Context, s *Spec) (*run, error) {
	r := &run{Spec: s}
	r.ctx, r.stop = context.WithCancel(ctx)
	var err error
	if r.d, err = newDialer(r.ctx, s); err != nil {
		r.stop()
		return nil, err
	}
	for range min(s.Connections*s.Streams, 2*runtime.GOMAXPROCS(0)) {
		r.shards = append(r.shards, &shard{account: request.NewAccount(len(s.Targets)), r: r})
	}
	if s.HTTP2 {
		r.prepare2()
		return r, nil
	}
	for _, t := range s.Targets {
		head, err := headOf(s, t)
		if err != nil {
			r.stop()
			return nil, err
		}
		r.heads = append(r.heads, head)
	}
	return r, nil
}

// now is the time since the start of the run.
func (r *run) now() time.Duration { return time.Since(r.t0) }

// one sends one request and counts what came of it.
func (r *run) one(l lane, sh *shard, o request.Outcome) request.Outcome {
	o.Start = r.now()
	a, f := l.do(o.Target, r.t0.Add(o.Start+r.Timeout))
	o.End = r.now()
	o.Kind, o.Detail = kindOf(a, f)
	o.Code, o.Body = a.code, a.body
	sh.mu.Lock()
	defer sh.mu.Unlock()
	switch {
	case o.Due < r.Warmup:
		r.early.Add(1)
	case f != nil && r.ctx.Err() != nil:
		sh.account.Unfinished()
	default:
		sh.account.Add(o)
	}
	return o
}

func (s *shard) connected(took time.Duration) {
	s.count(func(a *request.Account) { a.Connected(took) })
}
func (s *shard) reopened() { s.count((*request.Account).Reopened) }

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
	r.base = base{usedCPU(), r.d.in.Load(), r.d.out.Load()}
}

// finish notes how far the run has come.
func (r *run) finish(at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = max(r.ended, at)
}

func (r *run) elapsed() time.Duration { return r.ended - r.Warmup }

func (r *run) result(elapsed time.Duration) request.Result {
	a, m := r.sum(elapsed)
	return a.Result(m)
}

// sum is the account of all shards, and what was used for it.
func (r *run) sum(elapsed time.Duration) (*request.Account, request.Meter) {
	sum := request.NewAccount(len(r.Targets))
	for _, s := range r.shards {
		s.mu.Lock()
		sum.Merge(s.account)
		s.mu.Unlock()
	}
	r.mu.Lock()
	b := r.base
	r.mu.Unlock()
	return sum, request.Meter{
		Elapsed: elapsed, CPU: usedCPU() - b.cpu, CPUs: runtime.GOMAXPROCS(0),
		WireIn: r.d.in.Load() - b.in, WireOut: r.d.out.Load() - b.out, Rate: r.Rate, Early: r.early.Load(),
	}
}

// watch tells of the account so far.
func (r *run) watch(done <-chan struct{}) {
	tick := time.NewTicker(r.Every)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if at := r.now(); at > r.Warmup {
				r.Watch(r.result(at - r.Warmup))
			}
		}
	}
}

// lane makes the i-th of the lanes, and the account it counts in.
func (r *run) lane(i int) (lane, *shard) {
	sh := r.shards[i%len(r.shards)]
	if r.HTTP2 {
		return &http2{conn: r.h2[i/r.Streams], requests: r.gets, newEach: r.NewEach, scratch: make([]byte, r.bufferSize())}, sh
	}
	return newHTTP1(r.d, sh, r.heads, r.NewEach, r.bufferSize()), sh
}

// bufferSize is of each of a lane's buffers: large ones save system calls,
// and all together are to take no more than some 64 MB until there are
// thousands of lanes.
func (r *run) bufferSize() int {
	return min(max(32<<20/(r.Connections*r.Streams), 4<<10), 64<<10)
}

// usedCPU is the processor time of this process.
func usedCPU() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
