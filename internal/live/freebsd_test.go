package live

import (
	"strings"
	"testing"
)

// What FreeBSD 14.0's netstat -s and pfctl print, with numbers of their own: of several
// lines that end alike one each is the counter.
func TestFreeBSDText(t *testing.T) {
	const text = `boot 1
hz 127
tcp 500 packets sent
tcp 300 data packets (0 bytes)
tcp 12 data packets (17280 bytes) retransmitted
tcp 3 data packets unnecessarily retransmitted
tcp 7 retransmit timeouts
tcp 5 retransmitted
tcp 2 discarded due to full reassembly queue
tcp 4 listen queue overflows
tcp 90 packets sent with ECN ECT(0) bit set
ip 8 fragments dropped (dup or out of space)
ip 16 output packets dropped due to no bufs, etc.
memory 100
available 50
entries 98000
entries-limit 100000
end
`
	s, err := parseSample(text)
	if err != nil || s.Segments != 500 || s.Again != 12 || s.Drops != 2+4+8+16 || s.States != 0.98 {
		t.Fatalf("%+v, %v", s, err)
	}
	// A full table of pf's trips, twice in a row, as a full nf_conntrack does.
	g := guarding{rails: (&Options{}).guardrails()}
	g.window()
	before := s
	for i := range 2 {
		s.Passed++
		trip := g.check(true, s, before, nil)
		if (trip != nil) != (i == 1) || trip != nil && !strings.Contains(trip.Text, "connection table in use was 98.0 %") {
			t.Errorf("check %d: %+v", i, trip)
		}
	}
}
