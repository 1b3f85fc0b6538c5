package calc

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

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
	next, err := packetsOf(bufio.NewReaderSize(r, 1<<16))
	if err != nil {
		return nil, 0, 0, hint.With(fmt.Errorf("not a capture: %w", err), "tcpdump -w writes one: pcap or pcapng of Ethernet")
	}
	d := newDecoder()
	known := map[flowKey]int{}
	for len(segments) < mostSegments {
		data, _, err := next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break // captures are cut short as they come
		}
		if err != nil {
			return nil, 0, 0, fmt.Errorf("packet %d: %w", len(segments)+passed+1, err)
		}
		s, key, ok := d.segment(data)
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

type packetSource func() ([]byte, gopacket.CaptureInfo, error)

// packetsOf opens a capture of either format.
func packetsOf(r *bufio.Reader) (packetSource, error) {
	magic, err := r.Peek(4)
	if err != nil {
		return nil, errors.New("it is empty")
	}
	var next packetSource
	var link layers.LinkType
	if binary.BigEndian.Uint32(magic) == 0x0a0d0d0a { // a section header block
		ng, err := pcapgo.NewNgReader(r, pcapgo.DefaultNgReaderOptions)
		if err != nil {
			return nil, err
		}
		next, link = ng.ReadPacketData, ng.LinkType()
	} else {
		p, err := pcapgo.NewReader(r)
		if err != nil {
			return nil, err
		}
		if p.Snaplen() > 1<<18 || p.Snaplen() == 0 {
			p.SetSnaplen(1 << 18) // as tcpdump's largest
		}
		next, link = p.ReadPacketData, p.LinkType()
	}
	if link != layers.LinkTypeEthernet {
		return nil, fmt.Errorf("its link type is %v, not Ethernet", link)
	}
	return next, nil
}

// decoder takes frames apart without allocating for each.
type decoder struct {
	eth    layers.Ethernet
	vlan   layers.Dot1Q
	ip4    layers.IPv4
	ip6    layers.IPv6
	tcp    layers.TCP
	parser *gopacket.DecodingLayerParser
	found  []gopacket.LayerType
}

func newDecoder() *decoder {
	d := &decoder{}
	d.parser = gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet, &d.eth, &d.vlan, &d.ip4, &d.ip6, &d.tcp)
	d.parser.IgnoreUnsupported = true
	return d
}

// segment reads a frame; its payload's length is taken from the IP header,
// since captures keep the beginning of frames only.
func (d *decoder) segment(data []byte) (s Segment, key flowKey, ok bool) {
	err := d.parser.DecodeLayers(data, &d.found)
	if err != nil && len(d.found) == 0 {
		return s, key, false
	}
	var src, dst netip.Addr
	length := 0
	for _, l := range d.found {
		switch l {
		case layers.LayerTypeIPv4:
			src, _ = netip.AddrFromSlice(d.ip4.SrcIP)
			dst, _ = netip.AddrFromSlice(d.ip4.DstIP)
			length = int(d.ip4.Length) - 4*int(d.ip4.IHL)
		case layers.LayerTypeIPv6:
			src, _ = netip.AddrFromSlice(d.ip6.SrcIP)
			dst, _ = netip.AddrFromSlice(d.ip6.DstIP)
			length = int(d.ip6.Length)
		case layers.LayerTypeTCP:
			ok = src.IsValid() && dst.IsValid()
		}
	}
	if !ok {
		return s, key, false
	}
	key = flowKey{netip.AddrPortFrom(src, uint16(d.tcp.SrcPort)), netip.AddrPortFrom(dst, uint16(d.tcp.DstPort))}
	t := &d.tcp
	return Segment{Hash: RSSHash(key.src, key.dst), Seq: t.Seq, Payload: max(0, length-4*int(t.DataOffset)),
		Alone: t.SYN || t.FIN || t.RST || t.URG}, key, true
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
