package client

import (
	"time"

	"linerate/internal/hint"
	"linerate/internal/load/request"
)

// Load says when and how often to ask.
type Load struct {
	Rate     float64 // requests per second of an open loop; 0: closed loop
	Arrivals request.Process
	Duration time.Duration // of what is counted
	Warmup   time.Duration // before it
	Requests uint64        // end after so many; 0: no limit
	Timeout  time.Duration // of one request, its connection included
	Seed     uint64
	Every    time.Duration        // how often Watch is called
	Watch    func(request.Result) // with the account so far
}

// MaxRate bounds the rate of an open loop.
const MaxRate = 1e7

// Validate refuses what cannot be offered; what names the requests.
func (l *Load) Validate(what string) error {
	switch {
	case !(l.Rate >= 0 && l.Rate <= MaxRate):
		return hint.Usagef("a rate of %g %s per second: at most %g", l.Rate, what, float64(MaxRate))
	case l.Duration <= 0 && l.Requests == 0:
		return hint.Usagef("a load needs a duration or a number of %s", what)
	case l.Duration < 0 || l.Warmup < 0:
		return hint.Usagef("a load cannot last less than no time")
	case l.Timeout <= 0:
		return hint.Usagef("a timeout of %v", l.Timeout)
	}
	return nil
}

// Pace is how and for how long the load is offered, for records.
func (l *Load) Pace() request.Pace {
	p := request.Pace{Loop: "closed", Rate: l.Rate, Seconds: l.Duration.Seconds(), WarmupSeconds: l.Warmup.Seconds(), TimeoutSeconds: l.Timeout.Seconds(), Seed: l.Seed}
	if l.Rate > 0 {
		p.Loop, p.Arrivals = "open", string(l.Arrivals)
	}
	return p
}

// end is when the last request may begin, from the start of the run.
func (l *Load) end() time.Duration {
	if l.Duration == 0 {
		return time.Duration(1<<63 - 1)
	}
	return l.Warmup + l.Duration
}
