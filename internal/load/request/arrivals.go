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

	"linerate/internal/hint"
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

// ParseProcess reads the name of a process.
func ParseProcess(s string) (Process, error) {
	switch p := Process(s); p {
	case Constant, Poisson:
		return p, nil
	}
	return "", hint.Unknown("arrivals", s, []string{string(Constant), string(Poisson)})
}

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

// Mix chooses among requests by their weights, and keeps to them closely: it
// draws in passes, one number from each of the pass's strata, the strata in
// random order (stratified sampling: W. Cochran, Sampling Techniques, ch. 5).
// Few requests so have the mix of many, and the median of their latencies does
// not jump from one object's to the next one's because chance asked for more
// small ones.
type Mix struct {
	upTo []float64
	pass []int
	next int
	rng  *rand.Rand
}

// strataPerRequest is how many of a pass's strata there are for each of the
// requests: with equal weights each is drawn so often in every pass.
const strataPerRequest = 2

// NewMix chooses index i with a probability of weights[i] over their sum;
// streams of one seed are independent of each other.
func NewMix(weights []float64, seed, stream uint64) *Mix {
	m := &Mix{rng: rand.New(rand.NewPCG(seed, stream^0x317)), pass: make([]int, strataPerRequest*len(weights))}
	sum := 0.0
	for _, w := range weights {
		sum += w
		m.upTo = append(m.upTo, sum)
	}
	for i := range m.pass {
		m.pass[i] = i
	}
	return m
}

// Next is the index of the next request.
func (m *Mix) Next() int {
	last := len(m.upTo) - 1
	if last <= 0 {
		return 0
	}
	if m.next == 0 {
		m.rng.Shuffle(len(m.pass), func(i, j int) { m.pass[i], m.pass[j] = m.pass[j], m.pass[i] })
	}
	x := (float64(m.pass[m.next]) + m.rng.Float64()) / float64(len(m.pass)) * m.upTo[last]
	m.next = (m.next + 1) % len(m.pass)
	for i, up := range m.upTo {
		if x < up {
			return i
		}
	}
	return last
}
