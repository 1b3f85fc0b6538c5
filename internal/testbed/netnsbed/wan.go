package netnsbed

import (
	"sync"

	"linerate/internal/testbed"
)

// How is what LinkStats calls this link.
const How = "user"

// tally is the account of a link; both directions share it.
type tally struct {
	mu    sync.Mutex
	stats testbed.LinkStats
	late  lateness
}

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
		t.late.add(ns)
	}
	*b = batch{late: b.late[:0]}
}

// read is the account so far.
func (t *tally) read() testbed.LinkStats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.stats
	s.How = How
	s.LateMean = t.late.mean()
	s.LateP50, s.LateP99, s.LateMax, s.LateOver = t.late.quantile(0.5), t.late.quantile(0.99), t.late.max, t.late.over
	return s
}
