package calc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"linerate/internal/hint"
)

// mostSegments bounds what is read of a capture.
const mostSegments = 4 << 20

// flowKey tells connections and their directions apart.
type flowKey struct{ src, dst netip.AddrPort }

// ReadSegments reads the TCP segments of a capture in pcap or pcapng format,
// of Ethernet, with VLAN tags or without. Segments past four million are left
// out. passed counts the packets that are no TCP.
func ReadSegments(r io.Reader) (segments []Segment, flows, passed int, err error) {
	c, err := openCapture(r)
	if err != nil {
		return nil, 0, 0, hint.With(fmt.Errorf("not a capture: %w", err), "tcpdump -w writes one: pcap or pcapng of Ethernet")
	}
	known := map[flowKey]int{}
	for len(segments) < mostSegments {
		data, err := c.next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break // captures are cut short as they come
		}
		if err != nil {
			return nil, 0, 0, fmt.Errorf("packet %d: %w", len(segments)+passed+1, err)
		}
		s, key, ok := segment(data)
		if !ok {
			passed++
			continue
		}
		if _, old := known[key]; !old {
			known[key] = len(known)
		}
		s.Flow = known[key]
		segments = append(segments, s)
	}
	return segments, len(known), passed, nil
}

// segment reads a frame; its payload's length is taken from the IP header,
// since captures keep the beginning of frames only. ok is false of all that is no
// whole TCP segment over IP.
func segment(frame []byte) (s Segment, key flowKey, ok bool) {
	const vlan, service, ipv4, ipv6 = 0x8100, 0x88a8, 0x0800, 0x86dd
	if len(frame) < 14 {
		return s, key, false
	}
	kind, rest := binary.BigEndian.Uint16(frame[12:]), frame[14:]
	for (kind == vlan || kind == service) && len(rest) >= 4 {
		kind, rest = binary.BigEndian.Uint16(rest[2:]), rest[4:]
	}
	var src, dst netip.Addr
	var length int
	switch kind {
	case ipv4:
		src, dst, rest, length = overIPv4(rest)
	case ipv6:
		src, dst, rest, length = overIPv6(rest)
	}
	if !src.IsValid() || len(rest) < 20 {
		return s, key, false
	}
	be := binary.BigEndian
	key = flowKey{netip.AddrPortFrom(src, be.Uint16(rest)), netip.AddrPortFrom(dst, be.Uint16(rest[2:]))}
	const fin, syn, rst, urg = 0x01, 0x02, 0x04, 0x20
	return Segment{Hash: RSSHash(key.src, key.dst), Seq: be.Uint32(rest[4:]), Payload: max(0, length-4*int(rest[12]>>4)),
		Alone: rest[13]&(fin|syn|rst|urg) != 0}, key, true
}

// tcp is its number among the protocols over IP.
const tcp = 6

// overIPv4 is what a packet has of TCP, and how long that was before it was cut; no
// addresses where it has none. Segmentation offload may leave the length at 0
// (RFC 791 knows none so short): what was captured counts.
func overIPv4(p []byte) (src, dst netip.Addr, segment []byte, length int) {
	if len(p) < 20 || p[0]>>4 != 4 || p[9] != tcp || binary.BigEndian.Uint16(p[6:])&0x3fff != 0 { // a fragment, or more come
		return src, dst, nil, 0
	}
	header, total := 4*int(p[0]&0xf), int(binary.BigEndian.Uint16(p[2:]))
	if total == 0 {
		total = len(p)
	}
	if header < 20 || header > len(p) || total < header {
		return src, dst, nil, 0
	}
	return netip.AddrFrom4([4]byte(p[12:])), netip.AddrFrom4([4]byte(p[16:])), p[header:min(total, len(p))], total - header
}

// overIPv6 is overIPv4 for IPv6, past the options that may come before TCP
// (RFC 8200, section 4: hop by hop, routing, for the destination).
func overIPv6(p []byte) (src, dst netip.Addr, segment []byte, length int) {
	if len(p) < 40 || p[0]>>4 != 6 {
		return src, dst, nil, 0
	}
	next, rest, length := p[6], p[40:], int(binary.BigEndian.Uint16(p[4:]))
	for next == 0 || next == 43 || next == 60 {
		if len(rest) < 2 || len(rest) < 8+8*int(rest[1]) {
			return src, dst, nil, 0
		}
		size := 8 + 8*int(rest[1])
		next, rest, length = rest[0], rest[size:], length-size
	}
	if next != tcp || length < 0 {
		return src, dst, nil, 0
	}
	return netip.AddrFrom16([16]byte(p[8:])), netip.AddrFrom16([16]byte(p[24:])), rest[:min(length, len(rest))], length
}

// LROOf is the calculator lro of segments that were captured instead of
// modelled.
func LROOf(segments []Segment, flows, batch, entries int) Result {
	plain, sorted := PerAggregation(segments, batch, entries)
	r := Result{Calculator: lro.Name, Sources: lro.Sources[:2], Notes: []Note{}, Table: LROTable(segments, entries)}
	r.Inputs = []Output{
		num("segments", float64(len(segments)), Count, "TCP segments in the capture"),
		num("flows", float64(flows), Count, "connections, each direction for itself"),
		num("batch", float64(batch), Count, "packets between flushes"),
		num("entries", float64(entries), Count, "connections merged at a time, unsorted"),
	}
	r.Outputs = []Output{
		num("as_they_come", plain, Count, "packets per aggregation, passed to LRO as they arrive"),
		num("sorted", sorted, Count, "packets per aggregation, each batch sorted by its hashes first"),
		num("stack_saved", 100*(1-plain/sorted), Percent, "fewer packets for TCP to handle, by sorting"),
	}
	for _, list := range [][]Output{r.Inputs, r.Outputs} {
		for i := range list {
			list[i].Text = Format(list[i].Value, list[i].Unit)
		}
	}
	return r
}
