package client

import (
	"sync"
	"time"

	"linerate/internal/load/request"
	"linerate/internal/wait"
)

// nap sleeps for a short time; tests replace it.
var nap = wait.Nap

// opened is an open loop. One of its lanes leads: it waits until the next
// request is due, passes the lead to an idle lane, the most recently used
// first, and sends the request. If no lane is idle it creates one, up to the
// limit; at the limit the next lane to finish leads. So requests begin in the
// order of the schedule, each at its due time or as soon as a connection is
// free, with as few connections as possible, and nothing is queued except the
// schedule itself.
type opened struct {
	*run
	schedule *request.Arrivals
	mix      *request.Mix

	mu   sync.Mutex
	idle []chan struct{}
	led  bool // whether a lane leads
	made int
	over bool
	all  sync.WaitGroup
}

func (r *run) open() {
	o := &opened{run: r, schedule: request.NewArrivals(r.Arrivals, r.Rate, r.Seed), mix: request.NewMix(r.Targets, r.Seed, 0), led: true, made: 1}
	o.all.Go(func() { o.work(0) })
	o.all.Wait()
	if r.finish(r.now()); r.Duration > 0 && r.Requests == 0 && r.ctx.Err() == nil {
		r.finish(r.end()) // the schedule's last gap counts
	}
}

// work runs one lane, which begins as the leader.
func (o *opened) work(i int) {
	l, sh := o.lane(i)
	defer l.Close()
	turn := make(chan struct{}, 1)
	var free time.Duration // 0: some lane was always free
	for {
		out, ok := o.next(sh)
		if !ok {
			o.conclude()
			return
		}
		o.handOver()
		out.Free = free
		ended := o.one(l, sh, out).End
		at, ok := o.lead(turn, ended)
		if !ok {
			return
		}
		free = at
	}
}

// next waits until the next request is due. Requests still due when the
// timeout after the end has passed count as unsent.
func (o *opened) next(sh *shard) (out request.Outcome, ok bool) {
	out = request.Outcome{Due: o.schedule.Next(), Target: o.mix.Next()}
	if out.Due >= o.end() || !o.take() || !o.until(out.Due) {
		return out, false
	}
	for now := o.now(); o.Duration > 0 && now > o.end()+o.Timeout; {
		if out.Due >= o.end() {
			return out, false
		}
		if out.Due >= o.Warmup {
			sh.count(func(a *request.Account) { a.Unsent(now - out.Due) })
		}
		out.Due = o.schedule.Next()
	}
	return out, true
}

// until waits for a time; false if the run ended first.
func (o *opened) until(due time.Duration) bool {
	for {
		d := due - o.now()
		switch {
		case o.ctx.Err() != nil:
			return false
		case d <= 0:
			return true
		case d > 3*time.Millisecond:
			o.pause(d - 2*time.Millisecond)
		default:
			nap(d)
		}
	}
}

// handOver passes the lead on.
func (o *opened) handOver() {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch n := len(o.idle); {
	case n > 0:
		o.idle[n-1] <- struct{}{}
		o.idle = o.idle[:n-1]
	case o.made < o.Lanes:
		i := o.made
		o.made++
		o.all.Go(func() { o.work(i) })
	default:
		o.led = false
	}
}

// lead waits until it is this lane's turn to lead; false at the end. free is
// when this lane finished, if all lanes were busy until then, else 0.
func (o *opened) lead(turn chan struct{}, done time.Duration) (free time.Duration, ok bool) {
	o.mu.Lock()
	if o.over || !o.led {
		o.led = true
		defer o.mu.Unlock()
		return done, !o.over
	}
	o.idle = append(o.idle, turn)
	o.mu.Unlock()
	<-turn
	o.mu.Lock()
	defer o.mu.Unlock()
	return 0, !o.over
}

// conclude wakes the idle lanes so that they end.
func (o *opened) conclude() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	for _, turn := range o.idle {
		turn <- struct{}{}
	}
	o.idle = nil
}

// Load says when and how many requests to send.
type Load struct {
	Rate     float64 // requests per second in an open loop; 0: closed loop
	Arrivals request.Process
	Duration time.Duration // of the measurement
	Warmup   time.Duration // before the measurement
	Requests uint64        // end after this number; 0: no limit
	Timeout  time.Duration // of one request, including its connection
	Seed     uint64
}

// end returns the time, since the start of the run, after which no request begins.
func (l *Load) end() time.Duration {
	if l.Duration == 0 {
		return time.Duration(1<<63 - 1)
	}
	return l.Warmup + l.Duration
}
