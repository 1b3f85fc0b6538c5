package request

import (
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result sums up one run.
type Result struct {
	Seconds     float64 `json:"seconds"`      // from the end of the warm-up to the last answer
	OfferedRate float64 `json:"offered_rate"` // requested requests per second; 0: closed loop
	Requests    uint64  `json:"requests"`     // completed, successfully or not
	Answered    uint64  `json:"answered"`     // complete, with a status below 400
	Failed      uint64  `json:"failed"`
	Unsent      uint64  `json:"unsent"`     // due but never sent
	Waited      uint64  `json:"waited"`     // due while all connections were busy
	Unfinished  uint64  `json:"unfinished"` // cut off by the end of the run; not counted elsewhere
	// Rates are per second, over Seconds.
	RequestRate float64 `json:"request_rate"` // answered
	BodyRate    float64 `json:"body_bytes_rate"`

	// SettleSeconds is how long the server worked after the last answer;
	// SettledRate is the rate over both times. They are 0 if unknown.
	SettleSeconds float64 `json:"settle_seconds,omitempty"`
	SettledRate   float64 `json:"settled_rate,omitempty"`

	BodyBytes   uint64 `json:"body_bytes"`
	Connections uint64 `json:"connections"` // made
	Reopened    uint64 `json:"reopened"`    // idle connections that the server had closed

	Errors     []Failure         `json:"errors"`
	Codes      map[string]uint64 `json:"status"`
	Negotiated string            `json:"spoken,omitempty"` // negotiated: TLS version, cipher suite, protocol

	Latency *Quantiles    `json:"latency_ns"` // from when it was due
	Service *Quantiles    `json:"service_ns"` // from when it was sent
	Dial    *Quantiles    `json:"connect_ns"`
	Targets []TargetCount `json:"targets"`

	Generator Generator `json:"generator"`
}

// Failure counts one kind of failure, with the first message.
type Failure struct {
	Kind  string `json:"kind"`
	Text  string `json:"text"`
	Count uint64 `json:"count"`
	First string `json:"first,omitempty"`
}

// Quantiles summarises a distribution of times in ns, to three digits.
type Quantiles struct {
	N    int64   `json:"n"`
	Mean float64 `json:"mean"`
	Min  int64   `json:"min"`
	P50  int64   `json:"p50"`
	P75  int64   `json:"p75"`
	P90  int64   `json:"p90"`
	P99  int64   `json:"p99"`
	P999 int64   `json:"p999"`
	Max  int64   `json:"max"`
}

// Generator is the cost of the load on the machine that generated it, and
// whether that machine kept up.
type Generator struct {
	CPUSeconds float64    `json:"cpu_seconds"`
	CPUs       int        `json:"cpus"`      // available
	CPUShare   float64    `json:"cpu_share"` // of the available CPUs' time
	Lag        *Quantiles `json:"lag_ns"`    // time for which requests were due and could have been sent, but were not
}

// Meter holds the measurements of a run besides its outcomes.
type Meter struct {
	Elapsed time.Duration
	CPU     time.Duration
	CPUs    int
	Rate    float64
	Early   uint64 // requests before the measurement
	// Settle is how long the server worked after the last answer, until its
	// queue was empty or all data was on disk. It is not part of Elapsed.
	Settle     time.Duration
	Queue      *Queue // of a mail server, if it was watched
	Negotiated string // what the connections negotiated
}

// Plus returns the meter over two consecutive loads.
func (m Meter) Plus(n Meter) Meter {
	m.Elapsed += n.Elapsed
	m.CPU += n.CPU
	m.Early += n.Early
	m.Settle += n.Settle
	m.CPUs, m.Rate = n.CPUs, n.Rate
	if n.Negotiated != "" {
		m.Negotiated = n.Negotiated
	}
	if n.Queue != nil {
		m.Queue = m.Queue.Plus(n.Queue)
	}
	return m
}

// MostShare is the share of its CPUs above which a generator itself is the
// bottleneck: there is no idle time left to send on time.
const MostShare = 0.9

// MostLag is the 99th percentile of lag above which a schedule was not kept;
// a Go timer on an idle machine is late by about 0.1 ms.
const MostLag = 2 * time.Millisecond

// Result sums up the account.
func (a *Account) Result(m Meter) Result {
	s := max(m.Elapsed.Seconds(), 1e-9)
	r := Result{
		Seconds: s, OfferedRate: m.Rate, Requests: a.Done(), Answered: a.kinds[OK], Unsent: a.unsent, Waited: a.waited, Unfinished: a.unfinished,
		RequestRate: float64(a.kinds[OK]) / s, BodyRate: float64(a.body) / s,
		BodyBytes: a.body, Connections: a.connections, Reopened: a.reopened,
		Errors: a.failures(), Codes: map[string]uint64{},
		Latency: QuantilesOf(a.latency), Service: QuantilesOf(a.service), Dial: QuantilesOf(a.dial), Targets: a.targets, Negotiated: m.Negotiated,
	}
	r.Failed = r.Requests - r.Answered
	if m.Settle > 0 {
		r.SettleSeconds = m.Settle.Seconds()
		r.SettledRate = float64(r.Answered) / (s + r.SettleSeconds)
	}
	for code, n := range a.codes {
		if n > 0 {
			r.Codes[strconv.Itoa(code)] = n
		}
	}
	r.Generator = Generator{CPUSeconds: m.CPU.Seconds(), CPUs: m.CPUs, CPUShare: m.CPU.Seconds() / s / float64(max(1, m.CPUs)), Lag: QuantilesOf(a.lag)}
	return r
}

func (a *Account) failures() []Failure {
	out := []Failure{}
	for _, k := range Kinds() {
		if n := a.kinds[k]; n > 0 {
			out = append(out, Failure{k.String(), k.Text(), n, a.details[k]})
		}
	}
	return out
}

// QuantilesOf summarises a histogram of ns; nil if it is empty.
func QuantilesOf(h *hdrhistogram.Histogram) *Quantiles {
	if h.TotalCount() == 0 {
		return nil
	}
	q := h.ValueAtQuantile
	return &Quantiles{N: h.TotalCount(), Mean: h.Mean(), Min: h.Min(), P50: q(50), P75: q(75), P90: q(90), P99: q(99), P999: q(99.9), Max: h.Max()}
}

// Queue describes a mail server's queue during and after a load: accepted
// mail is not yet delivered.
type Queue struct {
	Peak int `json:"peak"` // largest number of messages in transit
	// Deferred and Waiting count the messages left at the end: deferred ones,
	// and those still in transit.
	Deferred     int     `json:"deferred"`
	Waiting      int     `json:"waiting"`
	DrainSeconds float64 `json:"drain_seconds"` // from the last reply until no message was in transit
}

// Plus returns the queue over two consecutive loads.
func (q *Queue) Plus(next *Queue) *Queue {
	if q == nil {
		return next
	}
	out := *next
	out.Peak = max(q.Peak, next.Peak)
	out.DrainSeconds += q.DrainSeconds
	return &out
}
