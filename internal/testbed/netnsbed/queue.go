package netnsbed

import (
	"math/rand/v2"
	"sync"
	"time"

	"linerate/internal/load"
	"linerate/internal/testbed"
)

// mtu is the MTU of a link, and so the size of its buffers.
const mtu = 1500

// maxQueued bounds the packets in one direction: a second at a gigabit per second.
const maxQueued = 1 << 17

// packet waits until it is due, in ns of the link's clock.
type packet struct {
	due  int64
	data []byte
}

// queue is one direction of a link: first in, first out. It is pure; the
// caller passes the time.
type queue struct {
	link    testbed.Link
	rng     *rand.Rand
	ring    []packet
	head, n int
	free    int64 // when the rate allows the next packet
	last    int64 // when the last queued packet is due
	spare   [][]byte
}

func newQueue(l testbed.Link, seed, stream uint64) *queue {
	return &queue{link: l, rng: rand.New(rand.NewPCG(seed, stream)), ring: make([]packet, 1024)}
}

// fate is what happens to an arriving packet.
type fate int

const (
	queued fate = iota
	lost
	overflown
)

// buffer returns a buffer for the next packet.
func (q *queue) buffer() []byte {
	if n := len(q.spare); n > 0 {
		b := q.spare[n-1]
		q.spare = q.spare[:n-1]
		return b[:cap(b)]
	}
	return make([]byte, mtu+4)
}

func (q *queue) giveBack(b []byte) { q.spare = append(q.spare, b) }

// arrive handles a packet that arrives at a time, and takes ownership of its buffer.
func (q *queue) arrive(now int64, data []byte) fate {
	if q.link.Loss > 0 && q.rng.Float64() < q.link.Loss {
		q.giveBack(data)
		return lost
	}
	if q.n == maxQueued || q.link.Rate > 0 && float64(max(0, q.free-now))*q.link.Rate/8e9 > float64(q.link.Queue()) {
		q.giveBack(data)
		return overflown
	}
	leaves := now
	if q.link.Rate > 0 {
		leaves = max(now, q.free) + int64(8e9*float64(len(data))/q.link.Rate)
		q.free = leaves
	}
	due := leaves + int64(q.link.Delay)
	if j := int64(q.link.Jitter); j > 0 {
		due += q.rng.Int64N(2*j+1) - j
	}
	q.last = max(due, q.last)
	q.push(packet{q.last, data})
	return queued
}

func (q *queue) push(p packet) {
	if q.n == len(q.ring) {
		bigger := make([]packet, 2*len(q.ring))
		for i := range q.n {
			bigger[i] = q.ring[(q.head+i)%len(q.ring)]
		}
		q.ring, q.head = bigger, 0
	}
	q.ring[(q.head+q.n)%len(q.ring)] = p
	q.n++
}

// next returns when the first packet is due; ok is false if there is none.
func (q *queue) next() (due int64, ok bool) {
	if q.n == 0 {
		return 0, false
	}
	return q.ring[q.head].due, true
}

// pop removes the first packet.
func (q *queue) pop() packet {
	p := q.ring[q.head]
	q.ring[q.head] = packet{}
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	return p
}

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
