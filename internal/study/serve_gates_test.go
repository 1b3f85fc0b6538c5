package study

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"linerate/internal/load/request"
	"linerate/internal/testbed"
)

const ms = time.Millisecond

// asked returns what an arm's clients observe in ten seconds of 100 requests per second: request
// i takes took(i) and is sent late(i) after it was due.
func asked(how Interleaving, took, late func(i int) time.Duration) Observation {
	a := request.NewAccount(1)
	for i := range 1000 {
		due := time.Duration(i) * 10 * ms
		start := due + late(i)
		a.Add(request.Outcome{Due: due, Start: start, End: start + took(i), Kind: request.OK, Code: 200, Body: 1000})
	}
	v := &Served{RoundTrip: 0.08, Turns: 1}
	v.Condense(a, request.Meter{Elapsed: 10 * time.Second, CPU: time.Second, CPUs: 2, Rate: 100})
	return Observation{Served: v, Interleaved: &Interleaved{How: how}}
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// TestLateness: the gates refuse a trial whose clients or link were late; a slow server is a
// valid result.
func TestLateness(t *testing.T) {
	link := func(mean, tail time.Duration) Observation {
		o := asked(Together, always(250*ms), always(0))
		o.Served.Link = testbed.LinkStats{LateMean: int64(mean), LateP99: int64(tail)}
		return o
	}
	every := func(n int, d time.Duration) func(int) time.Duration {
		return func(i int) time.Duration {
			if i%n == 0 {
				return d
			}
			return 0
		}
	}
	for _, c := range []struct {
		name            string
		o               Observation
		together, alone string // what the reasons say
	}{
		{"punctual", asked(Together, always(250*ms), always(ms)), "", ""},
		// It can send only 90 of the 100 requests due each second.
		{"a generator that is too slow", asked(Together, always(250*ms), func(i int) time.Duration { return time.Duration(i) * ms }), "lag: the clients sent requests 499.5 ms late on average", "one request in a hundred"},
		// It is stopped for 40 ms of every 100: six of ten requests are on time.
		{"a generator that halts often", asked(Together, always(60*ms), func(i int) time.Duration { return max(0, time.Duration(4-i%10)*10*ms) }), "lag:", "lag:"},
		{"four of ten sent very late", asked(Together, always(250*ms), func(i int) time.Duration { return every(5, 300*ms)(i) + every(5, 300*ms)(i+2) }), "lag:", "lag:"},
		{"one of eight late, by little on average", asked(Together, always(250*ms), every(8, 60*ms)), "one request in ten 60.0 ms late", "lag:"},
		// The machine stops once for 300 ms in ten seconds: 30 requests.
		{"a machine that halts once", asked(Together, always(250*ms), func(i int) time.Duration {
			if i < 500 || i >= 530 {
				return 0
			}
			return time.Duration(530-i) * 10 * ms
		}), "", "one request in a hundred"},
		{"a link that is late in one packet of three", link(10*ms, 30*ms), "link: packets left 10.0 ms late on average", "one packet in a hundred left 30.0 ms late"},
		{"a link that is always late", link(5*ms, 6*ms), "link: packets left 5.0 ms late", ""},
		{"a link that was late once", link(ms, 90*ms), "", "one packet in a hundred left 90.0 ms late"},
		{"a server that is slow", asked(Together, always(4*time.Second), always(0)), "", ""},
		{"a server that stands still", asked(Together, func(i int) time.Duration { return max(50*ms, time.Duration(500-i)*10*ms) }, always(0)), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, want := range map[Interleaving]string{Together: c.together, Alternating: c.alone} {
				o := c.o
				o.Interleaved = &Interleaved{How: how}
				m, why := serveJudge(Part{Mode: testbed.Serve}, DefaultGates(), o, 0)
				if text := strings.Join(why, "; "); want == "" && text != "" || !strings.Contains(text, want) {
					t.Errorf("%s: %q, want %q", how, text, want)
				}
				if _, claimed := m[RequestP99]; claimed != (c.alone == "") {
					t.Errorf("%s: 99th percentile claimed: %v", how, claimed)
				}
			}
		})
	}
}

// TestStolen: CPU time that the hypervisor steals while several arms run affects all of them; in
// a sequential trial it affects that arm alone.
func TestStolen(t *testing.T) {
	for _, c := range []struct {
		how   Interleaving
		steal float64
		valid bool
	}{
		{Together, 0.15, true}, {Alternating, 0.15, true}, {Together, 0.25, false}, {Alternating, 0.25, false},
		{InSequence, 0.015, true}, {InSequence, 0.05, false},
	} {
		o := asked(c.how, always(250*ms), always(0))
		if c.how == InSequence {
			o.Interleaved = nil
		}
		o.CPUs = []CPUCheck{{CPU: -1, SpinBefore: 1, SpinAfter: 1, Steal: c.steal}}
		if _, why := serveJudge(Part{Mode: testbed.Serve}, DefaultGates(), o, 0); len(why) == 0 != c.valid {
			t.Errorf("%s, %g of the CPU stolen: %q", c.how, c.steal, why)
		}
	}
}

// TestStalledServer: requests due while a server stalls are timed from when they were due, even if
// no connection was free to send them.
func TestStalledServer(t *testing.T) {
	a := request.NewAccount(1)
	for i := range 1000 {
		due := time.Duration(i) * 10 * ms
		free := due
		if i >= 200 && i < 300 { // the server answers again at 3 s
			free = 3 * time.Second
		}
		a.Add(request.Outcome{Due: due, Free: free, Start: free, End: free + 20*ms, Kind: request.OK})
	}
	v := &Served{RoundTrip: 0.01}
	v.Condense(a, request.Meter{Elapsed: 10 * time.Second, CPUs: 2, Rate: 100})
	m, why := serveJudge(Part{Mode: testbed.Serve}, DefaultGates(), Observation{Served: v, Interleaved: &Interleaved{How: Together}}, 0)
	// 100 of 1000 waited 505 ms on average.
	if len(why) > 0 || !(math.Abs(m[RequestMean]-70.5e6) <= 1e6) || m[RequestP99] < 900e6 {
		t.Errorf("mean %v, 99 %% within %v, %q", time.Duration(m[RequestMean]), time.Duration(m[RequestP99]), why)
	}
}

// TestLatenessLeavesTheEffect: if two arms share the same lateness and it passes the gate, at
// least nine tenths of the effect on the mean remain. Some of the patterns must pass, and some
// must not.
func TestLatenessLeavesTheEffect(t *testing.T) {
	const faster = 0.65 // 35 % faster
	rng := rand.New(rand.NewPCG(20, 26))
	passed, least := 0, 1.0
	for range 60 {
		share, most := rng.Float64(), time.Duration(rng.ExpFloat64()*float64(150*ms))
		seed := rng.Uint64()
		arm := func(speed float64) Observation {
			own := rand.New(rand.NewPCG(seed, 0)) // same lateness and requests for both arms
			took := func(int) time.Duration { return time.Duration(speed * float64(200*ms) * (1 + own.Float64())) }
			return asked(Together, took, func(int) time.Duration {
				if own.Float64() < share {
					return time.Duration(own.Float64() * float64(most))
				}
				return 0
			})
		}
		means := [2]float64{}
		valid := true
		for i, speed := range []float64{1, faster} {
			m, why := serveJudge(Part{Mode: testbed.Serve}, DefaultGates(), arm(speed), 0)
			means[i], valid = m[RequestMean], valid && len(why) == 0
		}
		if !valid {
			continue
		}
		passed++
		if left := math.Log(means[1]/means[0]) / math.Log(faster); left < least {
			least = left
		}
	}
	if passed < 5 || passed > 55 || least < 0.9 {
		t.Errorf("%d of 60 patterns passed the gate, and the least share of the effect was %.2f", passed, least)
	}
}
