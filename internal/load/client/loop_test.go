package client

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"linerate/internal/load/request"
)

// The clock is fake (testing/synctest): a server's time passes at once, and every latency is exact.
func init() { nap = time.Sleep }

const ms = time.Millisecond

// server answers the n-th request, counted from 0, after a time, unless ctx ends before.
type server struct {
	takes func(n int) (time.Duration, request.Kind)
	ctx   context.Context

	mu      sync.Mutex
	asked   []int // targets
	waits   []time.Duration
	lanes   int
	open    int
	used    int
	closed  bool
	busiest int
	busy    int
}

func (s *server) start(ctx context.Context) (Source, error) {
	s.ctx = ctx
	return s, nil
}

func (s *server) Lane(i int, tell Events) Lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lanes, s.open = max(s.lanes, i+1), s.open+1
	tell.Connected(ms)
	return &lane{server: s}
}

// Used grows by 1 ms per request.
func (s *server) Used() Used {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Used{CPU: time.Duration(s.used) * ms, Negotiated: "HTTP/9"}
}

func (s *server) Close() { s.closed = s.open == 0 }

type lane struct {
	*server
	mine bool // in use
}

func (l *lane) Do(target int, deadline time.Time) Answer {
	l.mu.Lock()
	n := len(l.asked)
	l.asked, l.waits = append(l.asked, target), append(l.waits, time.Until(deadline))
	l.busy++
	l.busiest = max(l.busiest, l.busy)
	if l.mine {
		panic("two requests on one lane")
	}
	l.mine = true
	l.mu.Unlock()
	took, kind := l.takes(n)
	t := time.NewTimer(took)
	defer t.Stop()
	select {
	case <-t.C:
	case <-l.ctx.Done():
		kind = request.Reset
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy--
	l.used++
	l.mine = false
	return Answer{Kind: kind, Code: 200, Body: 7}
}

func (l *lane) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
}

func always(d time.Duration) func(int) (time.Duration, request.Kind) {
	return func(int) (time.Duration, request.Kind) { return d, request.OK }
}

// ran returns the result of a load on a server.
func ran(t *testing.T, s Spec, srv *server) (r request.Result, m request.Meter) {
	synctest.Test(t, func(t *testing.T) {
		a, meter, err := Run(t.Context(), s, srv.start)
		if err != nil {
			t.Fatal(err)
		}
		r, m = a.Result(meter), meter
	})
	if !srv.closed {
		t.Errorf("%d lanes are open when their source is closed", srv.open)
	}
	return r, m
}

// about compares a latency within a histogram's three digits.
func about(got int64, want time.Duration) bool {
	return (time.Duration(got) - want).Abs() <= want/500+1
}

func open(rate float64, lanes int, length time.Duration) Spec {
	return Spec{Targets: 1, Lanes: lanes, Load: Load{Rate: rate, Arrivals: request.Constant, Duration: length, Timeout: 200 * ms, Seed: 1}}
}

// TestOpen: requests are sent when they are due, with as few lanes as possible.
func TestOpen(t *testing.T) {
	for name, c := range map[string]struct {
		takes       time.Duration
		lanes, made int
		waited      uint64
		worst       time.Duration
	}{
		"faster than asked":       {4 * ms, 8, 2, 0, 4 * ms}, // the second waits until the next one is due
		"several at once":         {35 * ms, 8, 5, 0, 35 * ms},
		"as many as there may be": {15 * ms, 2, 2, 0, 15 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			srv := &server{takes: always(c.takes)}
			r, m := ran(t, open(100, c.lanes, time.Second), srv)
			if r.Requests != 100 || r.Answered != 100 || r.Unsent+r.Unfinished != 0 || r.Waited != c.waited || r.BodyBytes != 700 {
				t.Errorf("%+v", r)
			}
			if srv.lanes != c.made || r.Connections != uint64(c.made) {
				t.Errorf("%d lanes, %d connections, want %d", srv.lanes, r.Connections, c.made)
			}
			if !about(r.Latency.Max, c.worst) || !about(r.Service.Max, c.worst) || r.Generator.Lag.Max > 1 {
				t.Errorf("latency %s, service %s, lag %s; want %s and no lag", time.Duration(r.Latency.Max), time.Duration(r.Service.Max), time.Duration(r.Generator.Lag.Max), c.worst)
			}
			if want := max(time.Second, 990*ms+c.takes); m.Elapsed != want {
				t.Errorf("it took %s, want the schedule's second, or until the last answer: %s", m.Elapsed, want)
			}
			for _, w := range srv.waits {
				if w != 200*ms {
					t.Fatalf("a request may take %s, want its timeout", w)
				}
			}
		})
	}
}

// TestNoCoordinatedOmission: requests that were due while one answer took half a second waited for it,
// and the latencies include that; the generator itself was never late.
func TestNoCoordinatedOmission(t *testing.T) {
	srv := &server{takes: func(n int) (time.Duration, request.Kind) {
		if n == 0 {
			return 500 * ms, request.OK
		}
		return 0, request.OK
	}}
	r, _ := ran(t, open(100, 1, time.Second), srv)
	if r.Requests != 100 || r.Waited != 49 || srv.lanes != 1 {
		t.Errorf("%d requests, %d waited for a lane, %d lanes", r.Requests, r.Waited, srv.lanes)
	}
	if !about(r.Latency.Max, 500*ms) || !about(r.Latency.P75, 250*ms) || r.Service.P99 > 1 && !about(r.Service.P99, 500*ms) || r.Service.P90 > 1 {
		t.Errorf("latency %+v, service %+v", *r.Latency, *r.Service)
	}
	if r.Generator.Lag.Max > 1 {
		t.Errorf("lag %+v", *r.Generator.Lag)
	}
}

// TestUnsent: requests that are still unsent long after the end are given up, and count with their age;
// those that can be sent within a request's timeout are.
func TestUnsent(t *testing.T) {
	for hang, want := range map[time.Duration]struct{ sent, unsent uint64 }{
		1200 * ms: {10, 0}, 1201 * ms: {1, 9}, 5 * time.Second: {1, 9},
	} {
		srv := &server{takes: func(n int) (time.Duration, request.Kind) {
			if n == 0 {
				return hang, request.OK
			}
			return 0, request.OK
		}}
		r, m := ran(t, open(10, 1, time.Second), srv)
		if r.Requests != want.sent || r.Unsent != want.unsent {
			t.Errorf("hung for %s: %d sent, %d unsent, want %+v", hang, r.Requests, r.Unsent, want)
		}
		if r.Latency.N != 10 || !about(r.Latency.Max, hang) || !about(r.Latency.Min, hang-900*ms) || m.Elapsed != hang {
			t.Errorf("hung for %s: took %s, latency %+v", hang, m.Elapsed, *r.Latency)
		}
	}
}

// TestWarmup: requests that are due in the warm-up count nowhere, and neither does their CPU time, in
// either loop.
func TestWarmup(t *testing.T) {
	for name, c := range map[string]struct {
		Spec
		took time.Duration
	}{"open": {open(100, 4, time.Second), 1005 * ms}, "closed": {Spec{Targets: 1, Lanes: 1, Load: Load{Duration: time.Second, Timeout: time.Second}}, time.Second}} {
		s := c.Spec
		s.Warmup = 305 * ms
		r, m := ran(t, s, &server{takes: always(10 * ms)})
		early := uint64(31) // those due at 0 to 300 ms
		if m.Early != early || r.Requests < 99 || r.Requests > 100 || m.Elapsed != c.took {
			t.Errorf("%s: %d early, %d counted in %s", name, m.Early, r.Requests, m.Elapsed)
		}
		if ended := time.Duration(r.Requests+r.Unfinished+1) * ms; m.CPU > ended || m.CPU < ended-2*ms {
			t.Errorf("%s: used %s for %d requests", name, m.CPU, r.Requests)
		}
		if m.Negotiated != "HTTP/9" || r.Connections > 3 {
			t.Errorf("%s: spoke %q, %d connections after the warm-up", name, m.Negotiated, r.Connections)
		}
	}
}

// TestClosed: each lane sends its next request after an answer; requests in flight at the end are cut
// off, or waited for.
func TestClosed(t *testing.T) {
	for name, c := range map[string]struct {
		finish        bool
		answered, cut uint64
		took          time.Duration
	}{
		"cut off":    {false, 66, 2, time.Second},
		"waited for": {true, 68, 0, 1020 * ms},
	} {
		srv := &server{takes: always(30 * ms)}
		r, m := ran(t, Spec{Targets: 1, Lanes: 2, Load: Load{Duration: time.Second, Timeout: time.Second}, Finish: c.finish}, srv)
		if r.Answered != c.answered || r.Unfinished != c.cut || r.Failed != 0 || m.Elapsed != c.took || srv.busiest != 2 {
			t.Errorf("%s: %d answered, %d cut off, %d failed in %s, %d at once; want %+v", name, r.Answered, r.Unfinished, r.Failed, m.Elapsed, srv.busiest, c)
		}
		if !about(r.Latency.Max, 30*ms) || r.Latency.Max != r.Service.Max {
			t.Errorf("%s: latency %+v", name, *r.Latency)
		}
	}
}

// TestRefused: the speed of refusals is not measured as the server's.
func TestRefused(t *testing.T) {
	for _, kind := range request.Kinds() {
		if kind >= request.Reset {
			continue // the server answered, so its speed counts
		}
		r, _ := ran(t, Spec{Targets: 1, Lanes: 1, Load: Load{Duration: time.Second, Timeout: time.Second}}, &server{takes: func(int) (time.Duration, request.Kind) { return 0, kind }})
		if r.Failed < 100 || r.Failed > 101 || r.Answered != 0 || r.Errors[0].Kind != kind.String() {
			t.Errorf("%s: %d failed, %+v", kind, r.Failed, r.Errors)
		}
	}
}

// TestRequests: exactly the requested number is sent, and their targets do not depend on which lane is
// faster.
func TestRequests(t *testing.T) {
	var mixes [][]int
	for name, s := range map[string]Spec{
		"open": {Load: Load{Rate: 1000, Arrivals: request.Constant}, Lanes: 8}, "one lane": {Lanes: 1}, "five lanes": {Lanes: 5}, "more lanes than requests": {Lanes: 64}, "with an end far off": {Lanes: 3, Load: Load{Duration: time.Hour}, Finish: true},
	} {
		s.Targets, s.Requests, s.Seed, s.Timeout = 4, 40, 9, time.Second
		srv := &server{takes: func(n int) (time.Duration, request.Kind) { return time.Duration(1+n*n%7) * ms, request.OK }}
		r, _ := ran(t, s, srv)
		if r.Requests != 40 || r.Answered != 40 || len(srv.asked) != 40 {
			t.Errorf("%s: %d requests, %d asked", name, r.Requests, len(srv.asked))
		}
		var sum uint64
		for _, c := range r.Targets {
			sum += c.Answered
		}
		if sum != 40 || slices.ContainsFunc(r.Targets, func(c request.TargetCount) bool { return c.Answered != 10 }) {
			t.Errorf("%s: targets %+v, want ten of each", name, r.Targets)
		}
		slices.Sort(srv.asked)
		mixes = append(mixes, srv.asked)
	}
	for _, m := range mixes[1:] {
		if !slices.Equal(m, mixes[0]) {
			t.Errorf("the same seed gives the requests\n%v\nor\n%v", mixes[0], m)
		}
	}
}

// TestInterrupted: the account up to a user's interrupt is returned, with the reason.
func TestInterrupted(t *testing.T) {
	for name, s := range map[string]Spec{"open": open(100, 4, time.Hour), "closed": {Targets: 1, Lanes: 1, Load: Load{Duration: time.Hour, Timeout: time.Second}}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 505*ms)
			defer cancel()
			srv := &server{takes: always(10 * ms)}
			a, m, err := Run(ctx, s, srv.start)
			if !errors.Is(err, context.DeadlineExceeded) || a == nil {
				t.Fatalf("%s: %v", name, err)
			}
			r := a.Result(m)
			if r.Answered != 50 || r.Unfinished != 1 || m.Elapsed != 505*ms {
				t.Errorf("%s: %d answered, %d cut off in %s", name, r.Answered, r.Unfinished, m.Elapsed)
			}
			if !srv.closed {
				t.Errorf("%s: %d lanes are left", name, srv.open)
			}
		})
	}
}

func TestCannotStart(t *testing.T) {
	broken := errors.New("no such file")
	a, _, err := Run(t.Context(), open(1, 1, time.Second), func(context.Context) (Source, error) { return nil, broken })
	if a != nil || !errors.Is(err, broken) {
		t.Errorf("%v, %v", a, err)
	}
}
