// Package request says when requests to a server are due, which of several
// they are, and what came of them: what workloads on real servers share. It is
// pure; implementations such as httpload dial.
//
// In an open loop a request is due at a time that the schedule alone knows,
// whatever the server does. Its latency runs from then: a client that is held
// up by one slow answer is not to forget those who would have asked meanwhile
// ("coordinated omission", G. Tene).
package request

import (
	"math/rand/v2"
	"time"
)

// Process is how an open loop's requests are spread over time.
type Process string

// The processes. Constant has one interval; Poisson's intervals are
// independent and exponential, as of many clients who know nothing of each
// other.
const (
	Constant Process = "constant"
	Poisson  Process = "poisson"
)

// Arrivals is the schedule of an open loop: the same for the same process,
// rate and seed.
type Arrivals struct {
	process Process
	gap     float64 // mean interval in ns
	n       float64
	at      float64 // ns
	rng     *rand.Rand
}

// NewArrivals schedules rate requests per second, the first of a constant
// rate at once.
func NewArrivals(p Process, rate float64, seed uint64) *Arrivals {
	return &Arrivals{process: p, gap: 1e9 / rate, rng: rand.New(rand.NewPCG(seed, 0xa221ba15))}
}

// Next is when the next request is due, from the start of the run.
func (a *Arrivals) Next() time.Duration {
	if a.process == Poisson {
		a.at += a.rng.ExpFloat64() * a.gap
	} else {
		a.at = a.n * a.gap // multiplied, so that roundings do not add up
		a.n++
	}
	return time.Duration(a.at)
}

// Mix chooses among requests, each as often as another, and keeps to that closely: it
// draws in passes of which each has every request as often, in random order (stratified
// sampling: W. Cochran, Sampling Techniques, ch. 5). Few requests so have the mix of
// many, and the median of their latencies does not jump from one object's to the next
// one's because chance asked for more small ones.
type Mix struct {
	pass []int
	next int
	rng  *rand.Rand
}

// perPass is how often a pass has each of the requests.
const perPass = 2

// NewMix chooses among n; streams of one seed are independent of each other.
func NewMix(n int, seed, stream uint64) *Mix {
	m := &Mix{rng: rand.New(rand.NewPCG(seed, stream^0x317)), pass: make([]int, perPass*n)}
	for i := range m.pass {
		m.pass[i] = i / perPass
	}
	return m
}

// Next is the index of the next request.
func (m *Mix) Next() int {
	if m.next == 0 {
		m.rng.Shuffle(len(m.pass), func(i, j int) { m.pass[i], m.pass[j] = m.pass[j], m.pass[i] })
	}
	i := m.pass[m.next]
	m.next = (m.next + 1) % len(m.pass)
	return i
}
