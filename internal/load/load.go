// Package load defines offered traffic and its results, for every traffic
// engine: xdpload (live frames from eBPF) and packetload (AF_PACKET, bpf(4)).
// Frame sizes include the 4-byte FCS, as in RFC 2544: a 64-byte frame has 60
// bytes on a veth. The package is pure: engines touch the network.
package load

import (
	"net"
	"net/netip"
	"time"

	"linerate/internal/port"
)

// Spec is the traffic for which a generator is made: which frames, through
// which device. Their number and rate are in each run's Offer.
type Spec struct {
	Device string
	Side   port.Side        // to which Device belongs; "": the generator's
	SrcMAC net.HardwareAddr // nil: the device's address
	DstMAC net.HardwareAddr
	Stream uint16    // ID in every frame, so that streams can share a receiver
	Flows  FlowSpace // addresses and ports
	Sizes  []int     // frame sizes with FCS, a sequence repeated exactly (IMIX, RFC 6985)
	CPUs   []int     // one worker per CPU; empty: one worker, not pinned
	Seed   uint64    // for random flow order
	// Ends is how often the end-of-stream frames are sent, 10 ms apart, after
	// all others; 0: as often as a path with long queues may need. One that
	// arrives is enough.
	Ends int
	// Back, if not nil, is the traffic in the other direction, sent at the same
	// time, with as many flows and the same sizes. An engine that cannot send
	// both refuses the spec with ErrNotHere.
	Back *Spec
}

// FlowSpace spans the flows of a workload: Count distinct UDP 5-tuples from
// the ranges, varying the source address first, then destination address,
// source port and destination port.
type FlowSpace struct {
	Count            int        // 1 to MaxFlows
	Src, Dst         netip.Addr // the first addresses
	SrcSpan, DstSpan int        // number of consecutive addresses; 0 means 1
	SrcPort, DstPort uint16     // the first ports
	SrcPorts         int        // number of consecutive ports; 0 means up to 65535
	DstPorts         int        // like SrcPorts; 0 means 1 unless the flows need more
	Random           bool       // random order instead of round robin
	Train            int        // consecutive frames of a flow in random order; 0: 1
	// Elephant is the share of all frames that the first flow sends, spread
	// evenly among the others; 0: the same as each other flow.
	Elephant float64
	// Reply reverses each flow: it swaps source and destination, with their
	// ports.
	Reply bool
}

// Offer is the load that one run offers, of a Spec's traffic.
type Offer struct {
	Rate  Rate  // zero value: as fast as the engine can
	Limit Limit // when to stop
}

// Rate is an offered load; at most one field is set.
type Rate struct {
	PPS uint64 // frames per second
	BPS uint64 // bits per second of frames with FCS, without preamble and inter-frame gap
}

// Limit ends a transmission at whichever limit comes first; zero fields do not limit.
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
	// Refused counts frames refused by the device. On a veth, whose peer has
	// a 256-frame receive ring, they are part of TxPackets: they were sent,
	// and lost before the peer. On other devices they are not part of it.
	// null: unknown.
	Refused     *uint64  `json:"refused"`
	Seconds     float64  `json:"seconds"`
	TxPPS       float64  `json:"tx_pps"`
	TargetPPS   float64  `json:"target_pps"`   // 0: maximum rate
	PacingError float64  `json:"pacing_error"` // relative, always ≥ 0; 0 at maximum rate
	Warnings    []string `json:"warnings,omitempty"`
}

// Received is a receiver's account of one transmission.
type Received struct {
	RxPackets  uint64   `json:"rx_packets"` // frames of the stream, without duplicates
	RxBytes    uint64   `json:"rx_bytes"`   // with FCS
	Seconds    float64  `json:"seconds"`    // first to last counted frame
	RxPPS      float64  `json:"rx_pps"`
	Lost       *uint64  `json:"lost"` // null: no end-of-stream frame arrived
	Duplicated uint64   `json:"duplicated"`
	Reordered  uint64   `json:"reordered"` // RFC 4737 §4
	FlowsSeen  uint64   `json:"flows_seen"`
	Foreign    uint64   `json:"foreign"` // frames that are not from linerate
	Engine     string   `json:"engine"`
	TxPackets  *uint64  `json:"tx_packets"`       // according to the end-of-stream frames; null: none arrived
	Dropped    uint64   `json:"receiver_dropped"` // lost in the receiver itself, part of Lost
	Latency    *Latency `json:"latency_ns"`
	// Delays is the distribution that Latency summarises, for merging accounts.
	Delays Histogram `json:"-"`
	// Flows are the accounts of individual flows, if requested.
	Flows []FlowReceived `json:"-"`
	// Ways are the accounts of each way that traffic took at the same time,
	// if there were several; the fields above are their sums.
	Ways     []WayReceived `json:"ways,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
}

// FlowReceived is the account of a flow with at least one received frame.
type FlowReceived struct {
	Flow               int
	Received, Expected uint64 // Received without duplicates; Expected by the last sequence number
	// Delays are the delays in ns of its last trains (the frames with one send time): from then
	// until the last frame of the train, or one of the few before it, arrived.
	Delays []uint32
}

// WayReceived is the account of one of several ways.
type WayReceived struct {
	Way       string   `json:"way"`        // FROM → TO
	TxPackets *uint64  `json:"tx_packets"` // null: unknown, as in Received
	RxPackets uint64   `json:"rx_packets"`
	RxPPS     float64  `json:"rx_pps"`
	Lost      *uint64  `json:"lost"`
	Latency   *Latency `json:"latency_ns"`
	// Delays is the distribution that Latency summarises, for merging accounts.
	Delays Histogram `json:"-"`
}

// Latency is the distribution of one-way delay in nanoseconds. It is
// meaningful only if sender and receiver share a clock (one machine).
type Latency struct {
	Min  uint64 `json:"min"`
	P50  uint64 `json:"p50"`
	P90  uint64 `json:"p90"`
	P99  uint64 `json:"p99"`
	P999 uint64 `json:"p999"`
	Max  uint64 `json:"max"`
}
