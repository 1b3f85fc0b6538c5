package study

import (
	"context"

	"linerate/internal/load"
)

// Redone sums up the slices that were repeated and do not count.
type Redone struct {
	Slices   int    `json:"slices"`
	Starved  int    `json:"starved,omitempty"` // of these, slices in which the DUT waited for its CPU
	Sent     uint64 `json:"tx_packets"`
	Received uint64 `json:"rx_packets"`
	Dropped  uint64 `json:"receiver_dropped,omitempty"`
}

// Number returns how many slices were repeated.
func (r *Redone) Number() int {
	if r == nil {
		return 0
	}
	return r.Slices
}

// Plus returns the sum with one more slice; a nil receiver is an empty sum.
func (r *Redone) Plus(sent load.Sent, got load.Received, starved bool) *Redone {
	var sum Redone
	if r != nil {
		sum = *r
	}
	if starved {
		sum.Starved++
	}
	return &Redone{sum.Slices + 1, sum.Starved, sum.Sent + sent.TxPackets, sum.Received + got.RxPackets, sum.Dropped + got.Dropped}
}

// BypassRun is the measurement of the chain without the DUT.
type BypassRun struct {
	Sent       load.Sent     `json:"sent"`
	Received   load.Received `json:"received"`
	Contention float64       `json:"foreign_seconds"`
	NS         float64       `json:"ns_per_packet"`
}

// Management says whether a DUT stayed usable while it was loaded (RFC 2544
// §11): the results of probing it over the same wire as the load.
type Management struct {
	Echo     Answers `json:"echo"`     // ICMP echo requests
	Connect  Answers `json:"connect"`  // TCP: SYN to SYN and ACK
	Greeting Answers `json:"greeting"` // TCP: SYN to the first byte from a program on the DUT's CPU
}

// Answers counts the answers to one kind of probe.
type Answers struct {
	Sent     uint64        `json:"sent"`
	Answered uint64        `json:"answered"`
	RTT      *load.Latency `json:"rtt_ns"` // of the answered ones
	// Delays is the distribution that RTT summarises.
	Delays *load.Histogram `json:"-"`
}

// Unanswered returns the share of probes without an answer, 0 to 1.
func (a Answers) Unanswered() float64 {
	if a.Sent == 0 {
		return 0
	}
	return 1 - float64(a.Answered)/float64(a.Sent)
}

// Prober probes a DUT while traffic runs.
type Prober interface {
	Start()
	Stop()
	// Account returns the results of all probes so far.
	Account() (Management, error)
	Close() error
}

// Flooder opens connections to a DUT's service and never completes them.
type Flooder interface {
	Run(ctx context.Context, o load.Offer) (load.Sent, error)
	Close() error
}

func managementMetrics(m map[string]float64, o Observation) {
	if o.Management == nil || o.Management.Echo.Sent == 0 {
		return
	}
	m[ManagementLoss] = o.Management.Greeting.Unanswered()
	if l := o.Management.Echo.RTT; l != nil {
		m[ManagementRTT] = float64(l.P50)
	}
}
