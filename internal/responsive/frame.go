package responsive

import (
	"encoding/binary"
	"net/netip"

	"linerate/internal/port"
)

// Flags of a TCP segment (RFC 9293 §3.1).
const (
	flagSYN = 0x02
	flagRST = 0x04
	flagACK = 0x10
)

const (
	protoICMP, protoTCP = 1, 6
	echoRequest         = 8
	headers             = 14 + 20
)

// way is the pair of ports that frames travel between: from the generator to the DUT.
type way struct {
	from, to port.Port
	source   netip.Addr // address of the prober, which must not be the generator's own, whose kernel would answer
}

// proberOf returns an unused address in the generator's network.
func proberOf(from port.Port) netip.Addr {
	a := from.IPv4.Addr().As4()
	a[2], a[3] = 253, 1
	return netip.AddrFrom4(a)
}

// packet returns an IPv4 packet in an Ethernet frame, with its checksums.
func (w way) packet(proto byte, payload []byte) []byte {
	b := make([]byte, headers, headers+len(payload))
	copy(b, w.from.Peer)
	copy(b[6:], w.from.MAC)
	be := binary.BigEndian
	be.PutUint16(b[12:], 0x0800)
	ip := b[14:]
	ip[0], ip[8], ip[9] = 0x45, 64, proto
	be.PutUint16(ip[2:], uint16(20+len(payload)))
	src, dst := w.source.As4(), w.to.IPv4.Addr().As4()
	copy(ip[12:], src[:])
	copy(ip[16:], dst[:])
	be.PutUint16(ip[10:], ^sum(0, ip[:20]))
	return append(b, payload...)
}

// echo returns an ICMP echo request (RFC 792).
func (w way) echo(n uint16) []byte {
	b := make([]byte, 16)
	b[0] = echoRequest
	binary.BigEndian.PutUint16(b[4:], 0x11a7)
	binary.BigEndian.PutUint16(b[6:], n)
	binary.BigEndian.PutUint16(b[2:], ^sum(0, b))
	return w.packet(protoICMP, b)
}

// segment returns a TCP segment without data.
func (w way) segment(from uint16, seq, ack uint32, flags byte) []byte {
	b := make([]byte, 20)
	be := binary.BigEndian
	be.PutUint16(b, from)
	be.PutUint16(b[2:], greeterPort)
	be.PutUint32(b[4:], seq)
	be.PutUint32(b[8:], ack)
	b[12], b[13] = 5<<4, flags
	be.PutUint16(b[14:], 1024)
	src, dst := w.source.As4(), w.to.IPv4.Addr().As4()
	pseudo := append(append(src[:], dst[:]...), 0, protoTCP, 0, byte(len(b)))
	be.PutUint16(b[16:], ^sum(uint32(sum(0, pseudo)), b))
	return w.packet(protoTCP, b)
}

// sum returns the one's complement sum for Internet checksums (RFC 1071).
func sum(s uint32, b []byte) uint16 {
	for len(b) > 1 {
		s += uint32(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	return fold(s)
}

// fold adds the carries of a sum.
func fold(s uint32) uint16 {
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

// answer is a parsed reply.
type answer struct {
	echo     bool
	n        uint16 // number of the echo, or TCP port of the prober
	flags    byte
	seq, ack uint32
	data     int
}

// read parses a frame, and returns ok if it is an answer to this prober.
func (w way) read(b []byte) (a answer, ok bool) {
	if len(b) < headers+8 || binary.BigEndian.Uint16(b[12:]) != 0x0800 || b[14]>>4 != 4 {
		return a, false
	}
	ip := b[14:]
	size, whole := int(ip[0]&15)*4, int(binary.BigEndian.Uint16(ip[2:]))
	if size < 20 || whole > len(ip) || whole < size+8 || netip.AddrFrom4([4]byte(ip[16:20])) != w.source {
		return a, false
	}
	l4, be := ip[size:whole], binary.BigEndian
	switch ip[9] {
	case protoICMP:
		return answer{echo: true, n: be.Uint16(l4[6:])}, l4[0] == 0 && be.Uint16(l4[4:]) == 0x11a7
	case protoTCP:
		if len(l4) < 20 || int(l4[12]>>4)*4 > len(l4) || be.Uint16(l4) != greeterPort {
			return a, false
		}
		return answer{n: be.Uint16(l4[2:]), flags: l4[13], seq: be.Uint32(l4[4:]), ack: be.Uint32(l4[8:]), data: len(l4) - int(l4[12]>>4)*4}, true
	}
	return a, false
}
