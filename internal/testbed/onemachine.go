package testbed

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"linerate/internal/setting"
)

// WireEnd is one device of a wire in a lab on one machine, between namespaces or jails.
type WireEnd struct {
	Device     string
	MAC        net.HardwareAddr
	IPv4, IPv6 netip.Prefix // invalid if it has none
	Group      uint32       // interface group, by which Linux removes devices together; 0: none
}

// The devices of a lab on one machine. Generator and receiver have benchmarking
// addresses (RFC 2544 §C.2.2: 198.18.0.0/15; RFC 5180: 2001:2::/48). The DUT's own
// addresses are the last of their networks: a workload that varies addresses
// upwards from .0.1 must not reach them.
var (
	GeneratorEnd = wireEnd("gen0", 1, "198.18.0.1/16", "2001:2::1/64")
	IngressEnd   = wireEnd("dut0", 2, "198.18.255.254/16", "2001:2::ffff:fffe/64")
	EgressEnd    = wireEnd("dut1", 3, "198.19.255.254/16", "2001:2:0:1::ffff:fffe/64")
	ReceiverEnd  = wireEnd("sink0", 4, "198.19.0.1/16", "2001:2:0:1::1/64")
	// The bypass carries the same frames without a DUT; nothing is routed on it, so
	// it needs no addresses.
	BypassFrom = WireEnd{Device: "gen1", MAC: labMAC(5)}
	BypassTo   = WireEnd{Device: "sink1", MAC: labMAC(6)}
)

func wireEnd(device string, mac byte, v4, v6 string) WireEnd {
	return WireEnd{Device: device, MAC: labMAC(mac), IPv4: netip.MustParsePrefix(v4), IPv6: netip.MustParsePrefix(v6)}
}

func labMAC(last byte) net.HardwareAddr { return net.HardwareAddr{2, 0, 0, 0, 0, last} }

// HopEnds returns the two ends of the i-th wire between routers, with the given names.
// Their networks are at the end of the generator's, which workloads do not use.
func HopEnds(i int, next, previous string) (up, down WireEnd) {
	at := func(name string, host byte) WireEnd {
		return WireEnd{Device: name, MAC: labMAC(0x20 + 2*byte(i) + host),
			IPv4: netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, 254, 4*byte(i) + host}), 30),
			IPv6: netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 0x01, 0, 2, 0, 0, 0xfe, byte(i), 15: host}), 64)}
	}
	return at(next, 1), at(previous, 2)
}

// Beyond returns the end's address on the overlay of its wire: one that the wire
// itself does not reach.
func (e WireEnd) Beyond() WireEnd {
	v4, v6 := e.IPv4.Addr().As4(), e.IPv6.Addr().As16()
	v4[2], v6[6] = v4[2]-1, v6[6]-1
	e.IPv4, e.IPv6 = netip.PrefixFrom(netip.AddrFrom4(v4), e.IPv4.Bits()), netip.PrefixFrom(netip.AddrFrom16(v6), e.IPv6.Bits())
	return e
}

// Halves returns the two halves of a prefix: their routes take precedence over
// that of the whole by their length.
func Halves(p netip.Prefix) []netip.Prefix {
	low := p.Masked().Addr()
	b := low.AsSlice()
	b[p.Bits()/8] |= 1 << (7 - p.Bits()%8)
	high, _ := netip.AddrFromSlice(b)
	return []netip.Prefix{netip.PrefixFrom(low, p.Bits()+1), netip.PrefixFrom(high, p.Bits()+1)}
}

// HopPath is the path through a DUT: the number of further routers, and the
// overlay on the wires between them.
type HopPath struct {
	Hops    int
	Over    string // "" for plain wires
	Setting setting.Setting
}

// PathOf extracts the path from a DUT's settings.
func PathOf(settings []setting.Setting) (p HopPath, rest []setting.Setting, err error) {
	for _, s := range settings {
		if s.Mechanism != setting.Hops {
			rest = append(rest, s)
			continue
		}
		n, err := strconv.Atoi(s.Value)
		if err != nil || n < 1 || n > 16 {
			return HopPath{}, nil, fmt.Errorf("%q is not a number of hops", s.Value)
		}
		p = HopPath{n, s.Name, s}
	}
	return p, rest, nil
}
