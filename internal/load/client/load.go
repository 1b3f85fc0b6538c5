package client

import (
	"time"

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
}

// end is when the last request may begin, from the start of the run.
func (l *Load) end() time.Duration {
	if l.Duration == 0 {
		return time.Duration(1<<63 - 1)
	}
	return l.Warmup + l.Duration
}
