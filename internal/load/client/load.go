package client

import (
	"time"

	"linerate/internal/load/request"
)

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
