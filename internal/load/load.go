// Package load says what traffic is offered and what came of it, for every
// traffic engine: xdpload (live frames from eBPF) and packetload (AF_PACKET).
// Frame sizes count the 4-byte FCS, as RFC 2544 does: a 64-byte frame is 60
// bytes on a veth. This package is pure: engines touch the network.
package load

import (
	"net"
	"net/netip"
	"time"

	"linerate/internal/port"
)

// Spec is the traffic that a generator is made for: which frames, through
// which device. How many of them, and how fast, is each run's Offer.
type Spec struct {
	Device string
	Side   port.Side        // whose Device is; "": the generator's
	SrcMAC net.HardwareAddr // nil: the device's own
	DstMAC net.HardwareAddr
	Stream uint16    // id in every frame, so that streams can share a receiver
	Flows  FlowSpace // which addresses and ports
	Sizes  []int     // frame sizes with FCS, an exactly repeating sequence (IMIX, RFC 6985)
	CPUs   []int     // one worker per CPU; empty: one, not pinned
	Seed   uint64    // of random flow order
	// Ends is how often the end-of-stream frames are sent, 10 ms apart, once
	// all others are out; 0: as often as a path may need whose queues are
	// long. One that arrives is enough.
	Ends int
	// Back, where not nil, is the traffic of the other direction, sent at the
	// same time: of as many flows and the same sizes. An engine that cannot send
	// both refuses the spec with ErrNotHere.
	Back *Spec
}

// FlowSpace spans the flows of a workload: Count distinct UDP 5-tuples taken
// from the ranges, source address first, then destination address, then
// source port, then destination port.
type FlowSpace struct {
	Count            int        // 1 to MaxFlows
	Src, Dst         netip.Addr // the first addresses
	SrcSpan, DstSpan int        // how many consecutive addresses; 0 means 1
	SrcPort, DstPort uint16     // the first ports
	SrcPorts         int        // how many consecutive ports; 0 means up to 65535
	DstPorts         int        // as SrcPorts; 0 means 1 unless the flows need more
	Random           bool       // random order instead of round robin
	Train            int        // in random order: frames of a flow in a row; 0: 1
	// Elephant is the share of all frames that the first flow sends, evenly
	// among those of the others; 0: as many as each of them.
	Elephant float64
	// Reply makes each flow its other direction: source and destination, with
	// their ports, change places.
	Reply bool
}

// Offer is what one run offers of a Spec's traffic.
type Offer struct {
	Rate  Rate  // zero value: as fast as the engine can
	Limit Limit // when to stop
}

// Rate is an offered load; at most one field is set.
type Rate struct {
	PPS uint64 // frames per second
	BPS uint64 // bits per second of frames with FCS, without preamble and gap
}

// Limit ends a transmission, whichever comes first; zero fields do not limit.
type Limit struct {
	Duration time.Duration
	Packets  uint64
}

// Sent is a generator's account of one transmission.
type Sent struct {
	Engine    string `json:"engine"`
	TxPackets uint64 `json:"tx_packets"` // without end-of-stream frames
	TxBytes   uint64 `json:"tx_bytes"`   // with FCS
	Unsent    uint64 `json:"unsent"`     // due but not sent
	// Refused frames are part of TxPackets on a veth, whose far end is a
	// 256-frame receive ring that refuses what it has no room for: they are
	// sent, and lost before the peer saw them. On other devices they are not
	// part of it. null: not known.
	Refused     *uint64  `json:"refused"`
	Seconds     float64  `json:"seconds"`
	TxPPS       float64  `json:"tx_pps"`
	TargetPPS   float64  `json:"target_pps"`   // 0: maximum
	PacingError float64  `json:"pacing_error"` // relative, above 0 for either way; 0 at maximum
	Warnings    []string `json:"warnings,omitempty"`
}

// Received is a receiver's account of one transmission.
type Received struct {
	RxPackets  uint64   `json:"rx_packets"` // frames of the stream, duplicates not counted twice
	RxBytes    uint64   `json:"rx_bytes"`   // with FCS
	Seconds    float64  `json:"seconds"`    // first to last counted frame
	RxPPS      float64  `json:"rx_pps"`
	Lost       *uint64  `json:"lost"` // null: no end-of-stream frame was seen
	Duplicated uint64   `json:"duplicated"`
	Reordered  uint64   `json:"reordered"` // RFC 4737 §4
	FlowsSeen  uint64   `json:"flows_seen"`
	Foreign    uint64   `json:"foreign"` // frames that are not linerate's
	Engine     string   `json:"engine"`
	TxPackets  *uint64  `json:"tx_packets"`       // as the end-of-stream frames told; null: none was seen
	Dropped    uint64   `json:"receiver_dropped"` // lost in the receiver itself, part of Lost
	Latency    *Latency `json:"latency_ns"`
	// Delays is the distribution that Latency sums up, for adding accounts.
	Delays Histogram `json:"-"`
	// Flows are the accounts of single flows, where they were asked for.
	Flows []FlowReceived `json:"-"`
	// Ways are the accounts of each way that traffic took at the same time,
	// where there were several; the fields above add them up.
	Ways     []WayReceived `json:"ways,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
}

// FlowReceived is the account of a flow of which any frame arrived.
type FlowReceived struct {
	Flow               int
	Received, Expected uint64 // duplicates not counted; by the last sequence
	// Delays are those of its last trains, the frames of one send time, in ns: from then until the
	// last of them, or one of the few before it.
	Delays []uint32
}

// WayReceived is the account of one way of several.
type WayReceived struct {
	Way       string   `json:"way"`        // FROM → TO
	TxPackets *uint64  `json:"tx_packets"` // null: not known, as of Received
	RxPackets uint64   `json:"rx_packets"`
	RxPPS     float64  `json:"rx_pps"`
	Lost      *uint64  `json:"lost"`
	Latency   *Latency `json:"latency_ns"`
	// Delays is the distribution that Latency sums up, for adding accounts.
	Delays Histogram `json:"-"`
}

// Latency is the one-way delay distribution in nanoseconds. Sender and
// receiver must share a clock (one machine) for it to mean anything.
type Latency struct {
	Min  uint64 `json:"min"`
	P50  uint64 `json:"p50"`
	P90  uint64 `json:"p90"`
	P99  uint64 `json:"p99"`
	P999 uint64 `json:"p999"`
	Max  uint64 `json:"max"`
}
