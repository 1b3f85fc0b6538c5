package load

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"net/netip"

	"linerate/internal/hint"
)

// Default ports: discard (RFC 863) as the destination, so that a host that
// receives the frames does not answer; unprivileged source ports.
const (
	DefaultSrcPort = 1024
	DefaultDstPort = 9
)

// Tuple is the UDP 5-tuple of a flow.
type Tuple struct {
	Src, Dst         netip.Addr
	SrcPort, DstPort uint16
}

// WithDefaults fills in zero spans and ports.
func (f FlowSpace) WithDefaults() FlowSpace {
	f.Count = max(1, f.Count)
	f.SrcSpan = max(1, f.SrcSpan)
	f.DstSpan = max(1, f.DstSpan)
	f.SrcPort = cmp.Or(f.SrcPort, DefaultSrcPort)
	f.DstPort = cmp.Or(f.DstPort, DefaultDstPort)
	if f.SrcPorts == 0 {
		f.SrcPorts = 65536 - int(f.SrcPort)
	}
	if f.DstPorts == 0 {
		per := f.SrcSpan * f.DstSpan * f.SrcPorts
		f.DstPorts = min((f.Count+per-1)/per, 65536-int(f.DstPort))
	}
	return f
}

// Validate refuses flows that are impossible, with a hint.
func (f FlowSpace) Validate() error {
	if f.Count < 0 || f.Count > MaxFlows {
		return hint.Usagef("%d flows: from 1 to %d", f.Count, MaxFlows)
	}
	if !f.Src.IsValid() || !f.Dst.IsValid() {
		return hint.With(hint.Usagef("the flows need a source and a destination address"), "for instance %s %s (RFC 2544's range)", hint.Option("src", "198.18.0.1"), hint.Option("dst", "198.19.0.1"))
	}
	if f.Src.Is4() != f.Dst.Is4() || f.Src.Is4In6() || f.Dst.Is4In6() {
		return hint.Usagef("source %s and destination %s differ in IP version", f.Src, f.Dst)
	}
	if f.Src.IsMulticast() || f.Src.IsUnspecified() || f.Dst.IsUnspecified() {
		return hint.Usagef("frames from %s to %s would be dropped by any host", f.Src, f.Dst)
	}
	if min(f.SrcSpan, f.DstSpan, f.SrcPorts, f.DstPorts) < 0 || max(f.SrcSpan, f.DstSpan) > MaxFlows {
		return hint.Usagef("address ranges of %d and %d: from 1 to %d", f.SrcSpan, f.DstSpan, MaxFlows)
	}
	if !(f.Elephant >= 0 && f.Elephant < 1) {
		return hint.Usagef("an elephant of %g of all frames: a share from 0 (none) to below 1", f.Elephant)
	}
	d := f.WithDefaults()
	if int(d.SrcPort)+d.SrcPorts > 65536 || int(d.DstPort)+d.DstPorts > 65536 {
		return hint.Usagef("a port range goes beyond 65535")
	}
	for _, r := range []struct {
		first netip.Addr
		n     int
	}{{d.Src, d.SrcSpan}, {d.Dst, d.DstSpan}} {
		if _, ok := nth(r.first, r.n-1); !ok {
			return hint.Usagef("%d addresses from %s go beyond the last", r.n, r.first)
		}
	}
	// At most 2⁶⁰ without the destination ports: no overflow.
	if room := d.SrcSpan * d.DstSpan * d.SrcPorts; room < d.Count && room*d.DstPorts < d.Count {
		return hint.With(hint.Usagef("%d flows, but the ranges hold %d", d.Count, room*d.DstPorts), "widen the address or port ranges")
	}
	return nil
}

// elephant refuses an elephant share that a single worker, with its share of
// the flows, cannot send.
func (f FlowSpace) elephant(workers int) error {
	workers = max(1, min(workers, f.Count))
	switch {
	case f.Elephant == 0:
		return nil
	case f.Count < 2*workers:
		return hint.With(hint.Usagef("an elephant needs a flow for each CPU: %d flows, %d CPUs", f.Count, workers), "its CPU has no other flow: at least two flows for each CPU")
	case f.Elephant*float64(workers) > 1:
		return hint.With(hint.Usagef("an elephant of %g of all frames from one of %d CPUs", f.Elephant, workers), "a flow is sent from one CPU, and CPUs send alike: fewer CPUs, or a share of %.3g at most", 1/float64(workers))
	}
	return nil
}

// ElephantOf returns the share of its frames, in units of 2⁻³², that a worker sends as the elephant
// flow; 0 for workers other than the first. Each worker has the flows first, first + step, ….
func (f FlowSpace) ElephantOf(first, step int) uint32 {
	if first != 0 || f.Elephant == 0 {
		return 0
	}
	return uint32(min(f.Elephant*float64(step)*(1<<32), math.MaxUint32))
}

// Tuple returns flow i of a space returned by WithDefaults.
func (f FlowSpace) Tuple(i int) Tuple {
	src, _ := nth(f.Src, i%f.SrcSpan)
	i /= f.SrcSpan
	dst, _ := nth(f.Dst, i%f.DstSpan)
	i /= f.DstSpan
	t := Tuple{src, dst, f.SrcPort + uint16(i%f.SrcPorts), f.DstPort + uint16(i/f.SrcPorts)}
	if f.Reply {
		t = Tuple{t.Dst, t.Src, t.DstPort, t.SrcPort}
	}
	return t
}

// nth returns the address n after a. It changes only the last 32 bits: ok is
// false if that is not enough.
func nth(a netip.Addr, n int) (netip.Addr, bool) {
	if a.Is4() {
		b := a.As4()
		v := uint64(binary.BigEndian.Uint32(b[:])) + uint64(n)
		binary.BigEndian.PutUint32(b[:], uint32(v))
		return netip.AddrFrom4(b), n >= 0 && v < 1<<32
	}
	b := a.As16()
	v := uint64(binary.BigEndian.Uint32(b[12:])) + uint64(n)
	binary.BigEndian.PutUint32(b[12:], uint32(v))
	return netip.AddrFrom16(b), n >= 0 && v < 1<<32
}

// String formats the flow for errors and progress.
func (t Tuple) String() string {
	return fmt.Sprintf("%s > %s", netip.AddrPortFrom(t.Src, t.SrcPort), netip.AddrPortFrom(t.Dst, t.DstPort))
}

// Coin computes what nft(8) computes for `jhash ip saddr . ip daddr . udp sport . udp dport mod M
// seed S`: a number below M that is constant for the flow, and unpredictable without the seed. A
// receiver that knows the flow can thus tell which arm a router's ruleset drew.
func (t Tuple) Coin(seed, mod uint32) uint32 {
	key := append(t.Src.AsSlice(), t.Dst.AsSlice()...)
	for _, p := range []uint16{t.SrcPort, t.DstPort} { // each in a 32-bit register
		key = append(binary.BigEndian.AppendUint16(key, p), 0, 0)
	}
	return uint32(uint64(jhash(key, seed)) * uint64(mod) >> 32)
}

// jhash is the kernel's hash (include/linux/jhash.h: Jenkins' lookup3) for a key of more than
// three whole words.
func jhash(key []byte, seed uint32) uint32 {
	rol := bits.RotateLeft32
	a := 0xdeadbeef + uint32(len(key)) + seed
	b, c := a, a
	for ; len(key) > 12; key = key[12:] {
		a += binary.LittleEndian.Uint32(key)
		b += binary.LittleEndian.Uint32(key[4:])
		c += binary.LittleEndian.Uint32(key[8:])
		for _, n := range [][3]int{{4, 6, 8}, {16, 19, 4}} {
			a = a - c ^ rol(c, n[0])
			c += b
			b = b - a ^ rol(a, n[1])
			a += c
			c = c - b ^ rol(b, n[2])
			b += a
		}
	}
	a += binary.LittleEndian.Uint32(key)
	c = (c ^ b) - rol(b, 14)
	a = (a ^ c) - rol(c, 11)
	b = (b ^ a) - rol(a, 25)
	c = (c ^ b) - rol(b, 16)
	a = (a ^ c) - rol(c, 4)
	b = (b ^ a) - rol(a, 14)
	return (c ^ b) - rol(b, 24)
}
