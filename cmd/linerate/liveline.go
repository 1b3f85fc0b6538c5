package main

import (
	"io"
	"time"

	"linerate/internal/cli"
	"linerate/internal/load"
	"linerate/internal/show"
)

// liveLine shows counters on a terminal while traffic runs.
type liveLine struct{ *show.Live }

func newLiveLine(w io.Writer) *liveLine { return &liveLine{cli.NewLive(w)} }

func (l *liveLine) received(r load.Received, since time.Duration) {
	p50 := uint64(0)
	if r.Latency != nil {
		p50 = r.Latency.P50
	}
	l.Show("%6.1f s  received %s frames  %s  duplicated %s  reordered %s  flows %s  foreign %s  p50 %s",
		since.Seconds(), show.Count(r.RxPackets), show.Rate(r.RxPPS), show.Count(r.Duplicated), show.Count(r.Reordered), show.Count(r.FlowsSeen), show.Count(r.Foreign), show.Nanos(float64(p50)))
}
