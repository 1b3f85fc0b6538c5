package study

import (
	"linerate/internal/load"
)

// Redone sums up slices that do not count.
type Redone struct {
	Slices   int    `json:"slices"`
	Starved  int    `json:"starved,omitempty"` // of them, those in which the DUT waited for its CPU
	Sent     uint64 `json:"tx_packets"`
	Received uint64 `json:"rx_packets"`
	Dropped  uint64 `json:"receiver_dropped,omitempty"`
}

// Number is how many there were.
func (r *Redone) Number() int {
	if r == nil {
		return 0
	}
	return r.Slices
}

// Plus is the sum with one more; nil is none.
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

// BypassRun is the measurement of the chain without DUT.
type BypassRun struct {
	Sent       load.Sent     `json:"sent"`
	Received   load.Received `json:"received"`
	Contention float64       `json:"foreign_seconds"`
	NS         float64       `json:"ns_per_packet"`
}
