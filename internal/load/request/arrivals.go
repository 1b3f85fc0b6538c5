// Package request determines when requests to a server are due and which of a
// mix they are, and counts their outcomes: it is common to all workloads on
// real servers. It is pure; implementations such as httpload dial.
//
// In an open loop a request is due at a time given by the schedule alone,
// whatever the server does. Its latency counts from then: a client held up by
// a slow answer must not hide the requests that others would have sent
// meanwhile ("coordinated omission", G. Tene).
package request

import (
	"math/rand/v2"
	"time"
)

// Process is the distribution of an open loop's requests over time.
type Process string

// Constant has equal intervals; Poisson's intervals are independent and
// exponential, as with many independent clients.
const (
	Constant Process = "constant"
	Poisson  Process = "poisson"
)

// Arrivals is the schedule of an open loop, determined by process, rate and
// seed.
type Arrivals struct {
	process Process
	gap     float64 // mean interval in ns
	n       float64
	at      float64 // time in ns
	rng     *rand.Rand
}

// NewArrivals returns a schedule of rate requests per second; at a constant
// rate the first is due at once.
func NewArrivals(p Process, rate float64, seed uint64) *Arrivals {
	return &Arrivals{process: p, gap: 1e9 / rate, rng: rand.New(rand.NewPCG(seed, 0xa221ba15))}
}

// Next returns when the next request is due, since the start of the run.
func (a *Arrivals) Next() time.Duration {
	if a.process == Poisson {
		a.at += a.rng.ExpFloat64() * a.gap
	} else {
		a.at = a.n * a.gap // multiplied, to avoid accumulating rounding errors
		a.n++
	}
	return time.Duration(a.at)
}

// Mix chooses among requests with equal frequency, and keeps the frequencies close: it
// draws in passes, each of which contains every request equally often, in random order
// (stratified sampling: W. Cochran, Sampling Techniques, ch. 5). So even few requests
// have the intended mix, and the median latency does not jump between objects because
// more small ones happened to be drawn.
type Mix struct {
	pass []int
	next int
	rng  *rand.Rand
}

// perPass is how often each request occurs in a pass.
const perPass = 2

// NewMix returns a mix of n requests; streams with the same seed are independent.
func NewMix(n int, seed, stream uint64) *Mix {
	m := &Mix{rng: rand.New(rand.NewPCG(seed, stream^0x317)), pass: make([]int, perPass*n)}
	for i := range m.pass {
		m.pass[i] = i / perPass
	}
	return m
}

// Next returns the index of the next request.
func (m *Mix) Next() int {
	if m.next == 0 {
		m.rng.Shuffle(len(m.pass), func(i, j int) { m.pass[i], m.pass[j] = m.pass[j], m.pass[i] })
	}
	i := m.pass[m.next]
	m.next = (m.next + 1) % len(m.pass)
	return i
}
