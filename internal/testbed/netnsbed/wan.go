package netnsbed

import (
	"sync"
	"time"

	"linerate/internal/load"
	"linerate/internal/testbed"
)

// How is the name of linerate's own link in LinkStats.
const How = "user"

// tally is the account of a link, shared by both directions.
type tally struct {
	mu    sync.Mutex
	stats testbed.LinkStats
	late  load.Histogram
	sum   int64 // sum of late
}

// tooLate is the lateness from which LinkStats.LateOver counts, in ns.
const tooLate = int64(time.Millisecond)

// batch is what one turn of the link's thread did.
type batch struct {
	packets, bytes, lost, overflown, missed uint64
	late                                    []int64
}

func (t *tally) add(b *batch) {
	if b.packets+b.lost+b.overflown+b.missed == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Packets += b.packets
	t.stats.Bytes += b.bytes
	t.stats.Lost += b.lost
	t.stats.Overflown += b.overflown
	t.stats.Missed += b.missed
	for _, ns := range b.late {
		t.late.Count(uint64(max(0, ns)))
		t.sum += max(0, ns)
		if ns > tooLate {
			t.stats.LateOver++
		}
	}
	*b = batch{late: b.late[:0]}
}

// read returns the account so far.
func (t *tally) read() testbed.LinkStats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.stats
	s.How = How
	s.LateMean = t.sum / int64(max(1, t.late.Total()))
	s.LateP50, s.LateP99, s.LateMax = int64(t.late.Quantile(0.5)), int64(t.late.Quantile(0.99)), int64(t.late.Most)
	return s
}
