package forward

import (
	"linerate/internal/load"
	"linerate/internal/study"
)

// Seen is what trials of packets saw beside what all trials do.
type Seen struct {
	Bypass *BypassRun `json:"bypass,omitempty" after:"applied"` // if this trial measured its block's
	// Management is what came of asking the DUT meanwhile, where the part wants it.
	Management *Management `json:"management,omitempty" after:"interleaved"`
	// Flooded: the DUT's own service was flooded; nothing was to be forwarded.
	Flooded bool `json:"flooded,omitempty" after:"management"`
	// Redone are slices that were done again, because the generator was kept
	// from its rate in them, or the DUT from its CPU: in no metric, but the
	// DUT's counters have them.
	Redone *Redone `json:"redone,omitempty" after:"drops"`
}

// In is what a trial's observation has of it; all zero where it has none.
func In(o *study.Observation) *Seen {
	if o == nil {
		return &Seen{}
	}
	return study.OwnOf[Seen](o.Own)
}

// Note is the same to be written to.
func Note(o *study.Observation) *Seen {
	if o.Own == nil {
		o.Own = &Seen{}
	}
	return In(o)
}

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
