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
// request is due, hands the lead to a lane that is idle, the last one used
// first, and sends the request. Without an idle lane there is a new one, up
// to the limit; at the limit the next lane that is done leads. Requests are
// so begun in the order of the schedule, each at the later of its time and
// the first at which a connection is free, with as few connections as that
// takes, and nothing is queued but the schedule itself.
type opened struct {
	*run
	schedule *request.Arrivals
	mix      *request.Mix

	mu   sync.Mutex
	idle []chan struct{}
	led  bool // a lane leads
	made int
	over bool
	all  sync.WaitGroup
}

func (r *run) open() {
	o := &opened{run: r, schedule: request.NewArrivals(r.Arrivals, r.Rate, r.Seed), mix: request.NewMix(r.Targets, r.Seed, 0), led: true, made: 1}
	o.all.Go(func() { o.work(0) })
	o.all.Wait()
	if r.finish(r.now()); r.Duration > 0 && r.Requests == 0 && r.ctx.Err() == nil {
		r.finish(r.end()) // the schedule's last gap is part of it
	}
}

// work is one lane, which begins as the leader.
func (o *opened) work(i int) {
	l, sh := o.lane(i)
	defer l.Close()
	turn := make(chan struct{}, 1)
	var free time.Duration // 0: some lane was free all the time
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

// next waits until the next request is due. After the end the requests that
// should have been sent are, for as long as a request may take.
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

// until waits for a time; false when the run ended before.
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

// handOver gives the lead away.
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

// lead waits until it is this lane's turn to lead; false at the end. Free is
// when the lane was done, if all lanes were busy until then, else 0.
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

// conclude sends the idle lanes home.
func (o *opened) conclude() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	for _, turn := range o.idle {
		turn <- struct{}{}
	}
	o.idle = nil
}
