package testbed

import (
	"fmt"
	"strings"
	"time"
)

// Link is what lies between clients and a server. The zero Link is a wire.
type Link struct {
	Delay  time.Duration `json:"delay_ns,omitempty"`  // one way; the round trip is twice that
	Jitter time.Duration `json:"jitter_ns,omitempty"` // Delay varies by up to this, uniformly; the order of packets is kept
	Loss   float64       `json:"loss,omitempty"`      // share of packets lost each way, independently
	Rate   float64       `json:"rate_bps,omitempty"`  // bits per second of IP packets each way; 0: as fast as it goes
}

// IsWire reports whether the link does nothing to packets.
func (l Link) IsWire() bool { return l == Link{} }

// RoundTrip is how long a packet and its answer are under way at least.
func (l Link) RoundTrip() time.Duration { return 2 * l.Delay }

// Least and most of what a link of a rate queues, in bytes.
const (
	leastQueue = 100 * 1500
	mostQueue  = 64 << 20
)

// Queue is how many bytes wait for a link's rate before packets are dropped: a
// round trip's worth (the rule of thumb of Villamizar and Song, 1994), a
// hundred packets at least.
func (l Link) Queue() int {
	bytes := l.Rate / 8 * l.RoundTrip().Seconds()
	return int(min(max(bytes, leastQueue), mostQueue))
}

// String is the link in words, with its round trip.
func (l Link) String() string {
	if l.IsWire() {
		return "a wire"
	}
	var parts []string
	if l.Delay > 0 {
		text := fmt.Sprintf("%v each way (round trip %v)", l.Delay, l.RoundTrip())
		if l.Jitter > 0 {
			text = fmt.Sprintf("%v ± %v each way (round trip %v)", l.Delay, l.Jitter, l.RoundTrip())
		}
		parts = append(parts, text)
	}
	if l.Loss > 0 {
		parts = append(parts, fmt.Sprintf("%g %% loss each way", 100*l.Loss))
	}
	if l.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%g Mb/s", l.Rate/1e6))
	}
	return strings.Join(parts, ", ")
}

// LinkStats is what a link did, both ways together.
type LinkStats struct {
	How       string `json:"how"`        // veth, netem, tbf or user
	Packets   uint64 `json:"packets"`    // delivered
	Bytes     uint64 `json:"bytes"`      // of these
	Lost      uint64 `json:"lost"`       // by the link's own loss
	Overflown uint64 `json:"overflown"`  // no room in the queue of the link's rate
	Missed    uint64 `json:"missed"`     // lost by the emulation itself, which must be none
	LateMean  int64  `json:"late_mean"`  // ns that packets left later than was due
	LateP50   int64  `json:"late_p50"`   //
	LateP99   int64  `json:"late_p99"`   //
	LateMax   int64  `json:"late_max"`   //
	LateOver  uint64 `json:"late_above"` // packets later than a millisecond
}
