package load

import (
	"encoding/binary"
	"strconv"

	"linerate/internal/hint"
)

// Header lengths of a frame, in bytes.
const (
	etherBytes = 14
	udpBytes   = 8
	fcsBytes   = 4
)

// Framer builds the frames of a Spec. It is immutable.
type Framer struct {
	spec  Spec
	flows FlowSpace
	ip    int // length of the IP header
}

// Ends returns Spec.Ends.
func (f *Framer) Ends() int { return f.spec.Ends }

// NewFramer checks the flows, sizes and addresses of spec. SrcMAC and DstMAC
// must be set.
func NewFramer(spec Spec) (*Framer, error) {
	if err := spec.Flows.Validate(); err != nil {
		return nil, err
	}
	if err := spec.Flows.elephant(len(spec.CPUs)); err != nil {
		return nil, err
	}
	if len(spec.SrcMAC) != 6 || len(spec.DstMAC) != 6 {
		return nil, hint.Usagef("the frames need a source and a destination MAC address of 6 bytes")
	}
	f := &Framer{spec: spec, flows: spec.Flows.WithDefaults(), ip: 20}
	if f.IPv6() {
		f.ip = 40
	}
	if len(spec.Sizes) == 0 {
		return nil, hint.Usagef("no frame size")
	}
	for _, n := range spec.Sizes {
		if n < f.MinSize() || n > MaxSize {
			return nil, f.badSize(n)
		}
	}
	return f, nil
}

func (f *Framer) badSize(n int) error {
	err := hint.Usagef("frame size %d: from %d to %d bytes", n, f.MinSize(), MaxSize)
	if f.IPv6() && n >= MinSize && n < f.MinSize() {
		return hint.With(err, "Ethernet, IPv6 and UDP headers take 62 bytes, linerate's stamp 18 and the FCS 4: use %s or more", hint.Option("size", strconv.Itoa(f.MinSize())))
	}
	return hint.With(err, "sizes count the FCS, as RFC 2544 does")
}

// IPv6 reports whether the frames are IPv6.
func (f *Framer) IPv6() bool { return f.flows.Src.Is6() }

// Flows returns the flows, WithDefaults.
func (f *Framer) Flows() FlowSpace { return f.flows }

// MinSize returns the size, with FCS, of the smallest frame with room for a
// stamp: 64 bytes for IPv4, 84 for IPv6.
func (f *Framer) MinSize() int { return etherBytes + f.ip + udpBytes + StampBytes + fcsBytes }

// StampAt returns the offset of the stamp in a frame.
func (f *Framer) StampAt() int { return etherBytes + f.ip + udpBytes }

// Put writes the headers of a flow's frame to b, whose length is the frame's
// without FCS. The UDP checksum is 0, which IPv4 allows (RFC 768); for IPv6
// Stamp sets it.
func (f *Framer) Put(b []byte, flow int) {
	t, be := f.flows.Tuple(flow), binary.BigEndian
	copy(b, f.spec.DstMAC)
	copy(b[6:], f.spec.SrcMAC)
	ip := b[etherBytes:]
	if f.IPv6() {
		be.PutUint16(b[12:], 0x86DD)
		be.PutUint32(ip, 6<<28)
		be.PutUint16(ip[4:], uint16(len(ip)-40))
		ip[6], ip[7] = 17, 64
		src, dst := t.Src.As16(), t.Dst.As16()
		copy(ip[8:], src[:])
		copy(ip[24:], dst[:])
	} else {
		be.PutUint16(b[12:], 0x0800)
		be.PutUint16(ip, 0x4500)
		be.PutUint16(ip[2:], uint16(len(ip)))
		be.PutUint32(ip[4:], 0x4000) // identification 0, don't fragment: an atomic datagram (RFC 6864)
		be.PutUint32(ip[8:], 64<<24|17<<16)
		src, dst := t.Src.As4(), t.Dst.As4()
		copy(ip[12:], src[:])
		copy(ip[16:], dst[:])
		be.PutUint16(ip[10:], ^foldSum(sum16(ip[:20], 0)))
	}
	udp := ip[f.ip:]
	be.PutUint16(udp, t.SrcPort)
	be.PutUint16(udp[2:], t.DstPort)
	be.PutUint16(udp[4:], uint16(len(udp)))
	be.PutUint16(udp[6:], 0)
}

// Stamp writes the stamp into a frame that Put has written, and the checksum
// required by IPv6; the payload after the stamp must be zero.
func (f *Framer) Stamp(b []byte, s Stamp) {
	PutStamp(b[f.StampAt():], s)
	if f.IPv6() {
		f.checksum(b, StampBytes)
	}
}

// checksum sets the UDP checksum of an IPv6 frame (RFC 8200 §8.1) whose
// payload is zero after n bytes.
func (f *Framer) checksum(b []byte, n int) {
	ip, udp := b[etherBytes:], b[etherBytes+f.ip:]
	binary.BigEndian.PutUint16(udp[6:], 0)
	sum := sum16(ip[8:40], uint64(len(udp))+17)
	c := ^foldSum(sum16(udp[:udpBytes+n], sum))
	if c == 0 {
		c = 0xffff
	}
	binary.BigEndian.PutUint16(udp[6:], c)
}

// End returns an end-of-stream frame with a flow's addresses.
func (f *Framer) End(flow int, s Stamp, m Ending) []byte {
	s.Kind = End
	body := m.Append(nil)
	b := make([]byte, max(60, f.StampAt()+StampBytes+len(body)))
	f.Put(b, flow)
	copy(b[f.StampAt()+StampBytes:], body)
	PutStamp(b[f.StampAt():], s)
	if f.IPv6() {
		f.checksum(b, len(b)-f.StampAt())
	}
	return b
}

// sum16 adds the big-endian 16-bit words of b to sum.
func sum16(b []byte, sum uint64) uint64 {
	for len(b) >= 2 {
		sum += uint64(b[0])<<8 | uint64(b[1])
		b = b[2:]
	}
	if len(b) == 1 {
		sum += uint64(b[0]) << 8
	}
	return sum
}

func foldSum(sum uint64) uint16 {
	for sum > 0xffff {
		sum = sum&0xffff + sum>>16
	}
	return uint16(sum)
}

// Found is a stamped frame as received.
type Found struct {
	Stamp
	Bytes int    // with FCS
	Rest  []byte // payload after the stamp
}

// FindStamp reads the stamp of an IPv4 or IPv6 UDP frame, without FCS, after
// up to two VLAN tags; ok is false for a foreign frame.
func FindStamp(b []byte) (found Found, ok bool) {
	be := binary.BigEndian
	if len(b) < etherBytes {
		return Found{}, false
	}
	kind, ip := be.Uint16(b[12:]), b[etherBytes:]
	for range 2 {
		if (kind == 0x8100 || kind == 0x88A8) && len(ip) >= 4 {
			kind, ip = be.Uint16(ip[2:]), ip[4:]
		}
	}
	var length, head int
	switch {
	case kind == 0x0800 && len(ip) >= 28 && ip[0] == 0x45 && ip[9] == 17 && be.Uint16(ip[6:])&0x3fff == 0:
		length, head = int(be.Uint16(ip[2:])), 28
	case kind == 0x86DD && len(ip) >= 48 && ip[6] == 17:
		length, head = int(be.Uint16(ip[4:]))+40, 48
	default:
		return Found{}, false
	}
	if found.Stamp, ok = ReadStamp(ip[head:]); !ok {
		return Found{}, false
	}
	found.Bytes = max(MinSize, length+etherBytes+fcsBytes)
	found.Rest = ip[head+StampBytes:]
	return found, true
}

// PartialSum returns the part of an IPv6 frame's UDP checksum that does not
// depend on the stamp: pseudo-header, ports and length. Put must have written b.
func (f *Framer) PartialSum(b []byte) uint64 {
	ip, udp := b[etherBytes:], b[etherBytes+f.ip:]
	return sum16(udp[:udpBytes], sum16(ip[8:40], uint64(len(udp))+17))
}

// Checksum completes a PartialSum with the stamp.
func Checksum(stamp []byte, partial uint64) uint16 {
	c := ^foldSum(sum16(stamp, partial))
	if c == 0 {
		return 0xffff
	}
	return c
}

const probeType = 0x88B5 // IEEE 802, local experimental

// Probe returns a frame of n bytes without FCS that is not traffic: it only
// shows that a wire carries it. Hosts ignore it.
func (f *Framer) Probe(n int) []byte {
	b := make([]byte, n)
	copy(b, f.spec.DstMAC)
	copy(b[6:], f.spec.SrcMAC)
	binary.BigEndian.PutUint16(b[12:], probeType)
	binary.BigEndian.PutUint32(b[etherBytes:], stampMagic<<12)
	return b
}

// IsProbe reports whether a frame is a Probe.
func IsProbe(b []byte) bool {
	be := binary.BigEndian
	return len(b) >= etherBytes+4 && be.Uint16(b[12:]) == probeType && be.Uint32(b[etherBytes:]) == stampMagic<<12
}

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
