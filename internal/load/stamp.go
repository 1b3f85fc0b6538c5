package load

import "encoding/binary"

// StampBytes is the length of the stamp in every frame's UDP payload: all
// that a 64-byte IPv4 frame has room for. bpf/stamp.h defines its layout.
const StampBytes = 18

const (
	stampMagic    = 0x11A7E
	stampTimeMask = 1<<40 - 1
	stampRuns     = 1 << 12
	// MaxFlows is the number of flows that a stamp can distinguish.
	MaxFlows = 1 << 22
	// DefaultFlows is the default number of flows for which a receiver keeps accounts.
	DefaultFlows = 1 << 20

	lowFlow = 1<<20 - 1 // bits of a flow's number below the kind
)

// Kind is the purpose of a stamped frame.
type Kind uint8

// The kinds of frames.
const (
	Data Kind = 0 // counted traffic
	End  Kind = 1 // completes the account, not counted
)

// Stamp is the content of a frame's stamp.
type Stamp struct {
	Stream   uint16
	Run      uint16 // 0 to 4095: distinguishes a run of a stream from late frames of the previous one
	Kind     Kind
	Flow     uint32 // below MaxFlows
	Sequence uint32 // of this flow, modulo 2³²
	Time     uint64 // CLOCK_MONOTONIC in ns, modulo 2⁴⁰
}

// RunAt returns the number of a run that starts at a monotonic time in ns.
// Runs of one stream that start within 18 minutes of each other have
// different numbers, unless they start within the same quarter of a second.
func RunAt(now uint64) uint16 { return uint16(now >> 28 & (stampRuns - 1)) }

// PutStamp writes s to the first StampBytes bytes of b.
func PutStamp(b []byte, s Stamp) {
	_ = b[StampBytes-1]
	be := binary.BigEndian
	be.PutUint16(b, s.Stream)
	be.PutUint32(b[2:], stampMagic<<12|uint32(s.Run&(stampRuns-1)))
	be.PutUint32(b[6:], uint32(s.Time>>32)<<24|s.Flow>>20&3<<22|uint32(s.Kind&3)<<20|s.Flow&lowFlow)
	be.PutUint32(b[10:], s.Sequence)
	be.PutUint32(b[14:], uint32(s.Time))
}

// ReadStamp reads the stamp at the start of b; ok is false if there is none.
func ReadStamp(b []byte) (s Stamp, ok bool) {
	if len(b) < StampBytes {
		return Stamp{}, false
	}
	be := binary.BigEndian
	magic := be.Uint32(b[2:])
	if magic>>12 != stampMagic {
		return Stamp{}, false
	}
	w := be.Uint32(b[6:])
	return Stamp{
		Stream:   be.Uint16(b),
		Run:      uint16(magic & (stampRuns - 1)),
		Kind:     Kind(w >> 20 & 3),
		Flow:     w>>22&3<<20 | w&lowFlow,
		Sequence: be.Uint32(b[10:]),
		Time:     uint64(w>>24)<<32 | uint64(be.Uint32(b[14:])),
	}, true
}

// Delay returns the time from sent, in a stamp's format, to the monotonic
// time now, both in ns. A negative delay, which only the clocks of two
// machines can produce, is returned as 0.
func Delay(sent, now uint64) uint64 {
	d := (now - sent) & stampTimeMask
	if d > stampTimeMask/2 {
		return 0
	}
	return d
}
