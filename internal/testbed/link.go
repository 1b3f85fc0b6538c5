package testbed

import (
	"fmt"
	"strings"
	"time"
)

// Link is the path between clients and a server. The zero Link is a plain wire.
type Link struct {
	Delay  time.Duration `json:"delay_ns,omitempty"`  // one way; the round trip is twice that
	Jitter time.Duration `json:"jitter_ns,omitempty"` // Delay varies by up to this, uniformly; the order of packets is kept
	Loss   float64       `json:"loss,omitempty"`      // share of packets lost each way, independently
	Rate   float64       `json:"rate_bps,omitempty"`  // bits per second of IP packets in each direction; 0: unlimited
}

// IsWire reports whether the link leaves packets unchanged.
func (l Link) IsWire() bool { return l == Link{} }

// RoundTrip returns the minimum round-trip time.
func (l Link) RoundTrip() time.Duration { return 2 * l.Delay }

// The smallest and the largest queue of a link with a rate, in bytes.
const (
	leastQueue = 100 * 1500
	mostQueue  = 64 << 20
)

// Queue returns how many bytes may wait for a link's rate before packets are
// dropped: one bandwidth-delay product (the rule of thumb of Villamizar and
// Song, 1994), but at least a hundred packets.
func (l Link) Queue() int {
	bytes := l.Rate / 8 * l.RoundTrip().Seconds()
	return int(min(max(bytes, leastQueue), mostQueue))
}

// String describes the link, with its round-trip time.
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

// LinkStats counts what a link did, in both directions together.
type LinkStats struct {
	How       string `json:"how"`        // veth or user
	Packets   uint64 `json:"packets"`    // delivered
	Bytes     uint64 `json:"bytes"`      // of the delivered packets
	Lost      uint64 `json:"lost"`       // by the configured loss
	Overflown uint64 `json:"overflown"`  // no room in the queue of the link's rate
	Missed    uint64 `json:"missed"`     // lost by the emulation itself; should be zero
	LateMean  int64  `json:"late_mean"`  // ns by which packets left late
	LateP50   int64  `json:"late_p50"`   //
	LateP99   int64  `json:"late_p99"`   //
	LateMax   int64  `json:"late_max"`   //
	LateOver  uint64 `json:"late_above"` // packets more than a millisecond late
}
