package calc

import (
	"bytes"
	"errors"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// TestToeplitz holds the hash to the verification suite of Microsoft's
// specification, "Verifying the RSS Hash Calculation".
func TestToeplitz(t *testing.T) {
	for _, v := range []struct {
		src, dst      string
		addresses, ip uint32 // without ports, with
	}{
		{"66.9.149.187:2794", "161.142.100.80:1766", 0x323e8fc2, 0x51ccc178},
		{"199.92.111.2:14230", "65.69.140.83:4739", 0xd718262a, 0xc626b0ea},
		{"24.19.198.95:12898", "12.22.207.184:38024", 0xd2d0a5de, 0x5c2b394a},
		{"38.27.205.30:48228", "209.142.163.6:2217", 0x82989176, 0xafc7327f},
		{"153.39.163.191:44251", "202.188.127.2:1303", 0x5d1809c5, 0x10e828a2},
		{"[3ffe:2501:200:1fff::7]:2794", "[3ffe:2501:200:3::1]:1766", 0x2cc18cd5, 0x40207d3d},
		{"[3ffe:501:8::260:97ff:fe40:efab]:14230", "[ff02::1]:4739", 0x0f0c461c, 0xdde51bbf},
		{"[3ffe:1900:4545:3:200:f8ff:fe21:67cf]:44251", "[fe80::200:f8ff:fe21:67cf]:38024", 0x4b61e985, 0x02d1feef},
	} {
		src, dst := netip.MustParseAddrPort(v.src), netip.MustParseAddrPort(v.dst)
		if got := Toeplitz(RSSKey, append(src.Addr().AsSlice(), dst.Addr().AsSlice()...)); got != v.addresses {
			t.Errorf("%s → %s: %#08x, want %#08x", v.src, v.dst, got, v.addresses)
		}
		if got := RSSHash(src, dst); got != v.ip {
			t.Errorf("%s → %s with ports: %#08x, want %#08x", v.src, v.dst, got, v.ip)
		}
	}
}

// TestAggregations counts by hand: letters are connections, a gap in the
// sequence or a SYN begins anew.
func TestAggregations(t *testing.T) {
	seq := map[int]uint32{}
	next := func(flow int) Segment {
		s := Segment{Flow: flow, Hash: uint32(7 - flow), Seq: seq[flow], Payload: 1000}
		seq[flow] += 1000
		return s
	}
	var mixed []Segment
	for range 4 {
		mixed = append(mixed, next(0), next(1), next(2))
	}
	gap := []Segment{next(3), {Flow: 3, Hash: 4, Seq: 9000, Payload: 1000}, {Flow: 3, Hash: 4, Seq: 10000, Payload: 1000}}
	syn := []Segment{next(4), {Flow: 4, Hash: 3, Alone: true}, next(4)}
	for _, test := range []struct {
		name     string
		l        LRO
		segments []Segment
		want     int
	}{
		{"an entry for each", LRO{Batch: 12, Entries: 3}, mixed, 3},
		{"two entries for three", LRO{Batch: 12, Entries: 2}, mixed, 2 + 4},
		{"one entry", LRO{Batch: 12, Entries: 1}, mixed, 1 + 8},
		{"sorted needs one", LRO{Batch: 12, Entries: 1, Sorted: true}, mixed, 3},
		{"sorted in halves", LRO{Batch: 6, Entries: 1, Sorted: true}, mixed, 6},
		{"a gap", LRO{Batch: 9, Entries: 1, Sorted: true}, gap, 2},
		{"a SYN between", LRO{Batch: 9, Entries: 1, Sorted: true}, syn, 3},
		{"too large for an IP packet", LRO{Batch: 99, Entries: 1}, Arrivals(46, 1, 1, 1), 2},
	} {
		if got := test.l.Aggregations(test.segments); got != test.want {
			t.Errorf("%s: %d aggregations, want %d", test.name, got, test.want)
		}
	}
}

// TestSortedAgainstFormula: of n connections by chance a batch of b packets
// has n(1 − (1 − 1/n)^b).
func TestSortedAgainstFormula(t *testing.T) {
	for _, n := range []int{100, 640, 2000} {
		const b = 1024
		_, got := PerAggregation(Arrivals(64*b, n, 1, 3), b, 8)
		want := b / (float64(n) * (1 - math.Pow(1-1/float64(n), b)))
		if math.Abs(got/want-1) > 0.02 {
			t.Errorf("%d connections: %.3f packets per aggregation, want %.3f", n, got, want)
		}
	}
}

func TestWhereSortingPays(t *testing.T) {
	if n := SortingPaysFrom(1024, 8, 1, 1); n < 9 || n > 10 {
		t.Errorf("with 8 entries sorting pays from %d connections, want just above 8", n)
	}
	if n := SortingPaysFrom(1024, 64, 1, 1); n < 65 || n > 75 {
		t.Errorf("with 64 entries sorting pays from %d connections, want just above 64", n)
	}
	if n := MostFlowsSorted(2, 1024, 1, 1); n < 600 || n > 680 {
		t.Errorf("more than 2 per aggregation up to %d connections, want 1024/1.594 = 642 or so", n)
	}
}

// capture writes frames of TCP as tcpdump does, cut to 64 bytes.
func capture(t testing.TB, frames ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := pcapgo.NewWriter(&b)
	if err := w.WriteFileHeader(64, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		cut := f[:min(len(f), 64)]
		if err := w.WritePacket(gopacket.CaptureInfo{CaptureLength: len(cut), Length: len(f)}, cut); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func tcpFrame(t testing.TB, port uint16, seq uint32, vlan, syn bool) []byte {
	t.Helper()
	eth := &layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv4}
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP, SrcIP: []byte{198, 18, 0, 1}, DstIP: []byte{198, 19, 0, 1}}
	tcp := &layers.TCP{SrcPort: layers.TCPPort(port), DstPort: 443, Seq: seq, SYN: syn, ACK: true}
	if err := tcp.SetNetworkLayerForChecksum(ip); err != nil {
		t.Fatal(err)
	}
	parts := []gopacket.SerializableLayer{eth, ip, tcp, gopacket.Payload(make([]byte, 1000))}
	if vlan {
		eth.EthernetType = layers.EthernetTypeDot1Q
		parts = append([]gopacket.SerializableLayer{eth, &layers.Dot1Q{VLANIdentifier: 5, Type: layers.EthernetTypeIPv4}}, parts[1:]...)
	}
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, parts...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadSegments(t *testing.T) {
	data := capture(t, tcpFrame(t, 1, 100, false, false), tcpFrame(t, 2, 100, true, false), tcpFrame(t, 1, 1100, false, false),
		tcpFrame(t, 1, 5000, false, true), make([]byte, 60))
	segments, flows, passed, err := ReadSegments(bytes.NewReader(data))
	if err != nil || len(segments) != 4 || flows != 2 || passed != 1 {
		t.Fatalf("%d segments, %d flows, %d passed, %v", len(segments), flows, passed, err)
	}
	s := segments[2]
	if s.Flow != 0 || s.Seq != 1100 || s.Payload != 1000 || s.Alone || s.Hash != segments[0].Hash || s.Hash == segments[1].Hash {
		t.Errorf("segment %+v", s)
	}
	if !segments[3].Alone {
		t.Error("a SYN may merge")
	}
	r := LROOf(segments, flows, 16, 1)
	if v, _ := r.Output("sorted"); v != 4.0/3 {
		t.Errorf("sorted %v, want 4 segments in 3", v)
	}
	for _, bad := range []string{"", "not a capture at all, but text"} {
		if _, _, _, err := ReadSegments(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// TestReadSegmentsOfPcapng: of what another implementation writes, past blocks and
// interfaces that are of no interest.
func TestReadSegmentsOfPcapng(t *testing.T) {
	data := pcapng(t, layers.LinkTypeEthernet, tcpFrame(t, 1, 100, false, false), tcpFrame(t, 2, 100, true, false))
	more := append(append([]byte{}, data...), pcapng(t, layers.LinkTypeEthernet, tcpFrame(t, 3, 1, false, false))...) // another section
	for want, file := range map[int][]byte{2: data, 3: more, 1: more[:len(data)*6/10]} {
		segments, flows, _, err := ReadSegments(bytes.NewReader(file))
		if err != nil || len(segments) != want || flows != want {
			t.Errorf("%d segments of %d flows, %v; want %d", len(segments), flows, err, want)
		}
	}
	if _, _, _, err := ReadSegments(bytes.NewReader(pcapng(t, layers.LinkTypeLinuxSLL))); err == nil || !strings.Contains(err.Error(), "not Ethernet") {
		t.Errorf("of another link: %v", err)
	}
}

func pcapng(t testing.TB, link layers.LinkType, frames ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriter(&b, link)
	if err != nil {
		t.Fatal(err)
	}
	other, err := w.AddInterface(pcapgo.NgInterface{Name: "usb", LinkType: layers.LinkTypeNull})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		for _, at := range []int{0, other} {
			if err := w.WritePacket(gopacket.CaptureInfo{CaptureLength: len(f), Length: len(f), InterfaceIndex: at, Timestamp: time.Unix(1, 0)}, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.WriteInterfaceStats(0, pcapgo.NgInterfaceStatistics{}), w.Flush()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSegmentsOverIPv6: past options, and none of a fragment.
func TestSegmentsOverIPv6(t *testing.T) {
	frame := func(next layers.IPProtocol, between ...byte) []byte {
		eth := &layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv6}
		ip := &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: next, SrcIP: make([]byte, 16), DstIP: make([]byte, 16)}
		seg := &layers.TCP{SrcPort: 7, DstPort: 9, Seq: 5}
		if err := seg.SetNetworkLayerForChecksum(ip); err != nil {
			t.Fatal(err)
		}
		b, tail := gopacket.NewSerializeBuffer(), gopacket.NewSerializeBuffer()
		o := gopacket.SerializeOptions{FixLengths: true}
		if err := gopacket.SerializeLayers(tail, o, seg, gopacket.Payload(make([]byte, 100))); err != nil {
			t.Fatal(err)
		}
		if err := gopacket.SerializeLayers(b, o, eth, ip, gopacket.Payload(append(between, tail.Bytes()...))); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, f := range map[string][]byte{"plain": frame(layers.IPProtocolTCP), "options": frame(layers.IPProtocolIPv6HopByHop, 60, 0, 1, 4, 0, 0, 0, 0, 6, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)} {
		if s, key, ok := segment(f); !ok || s.Payload != 100 || s.Seq != 5 || key.src.Port() != 7 {
			t.Errorf("%s: %+v, %v, %t", name, s, key, ok)
		}
		for n := range f { // cut anywhere
			segment(f[:n])
		}
	}
	if _, _, ok := segment(frame(layers.IPProtocolIPv6Fragment, 6, 0, 0, 1, 0, 0, 0, 1)); ok {
		t.Error("a fragment is a segment")
	}
	part := tcpFrame(t, 1, 1, false, false)
	part[20] |= 0x20 // more fragments
	if _, _, ok := segment(part); ok {
		t.Error("a first fragment is a segment")
	}
}

func FuzzReadSegments(f *testing.F) {
	f.Add(pcapng(f, layers.LinkTypeEthernet, tcpFrame(f, 1, 100, true, false)))
	f.Add(capture(f, tcpFrame(f, 1, 100, true, false)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if segments, flows, _, err := ReadSegments(bytes.NewReader(data)); err == nil && len(segments) > 0 {
			LROOf(segments, flows, 64, 8)
		}
	})
}
