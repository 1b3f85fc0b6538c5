package calc

// Ethernet's per-frame costs on the wire, IEEE Std 802.3: 7 bytes preamble and
// 1 start delimiter (clause 4.2.5), 12 bytes of inter-frame gap (96 bit times,
// clause 4.4.2), 4 bytes of frame check sequence, 14 of header (clause 3.1.1).
const (
	preamble  = 8
	gap       = 12
	fcs       = 4
	ethHeader = 14
	// minFrame is the shortest frame, FCS included.
	minFrame = 64
)

// FrameOnWire is the link time a frame takes, in bytes: the frame with its
// FCS (64 to 1518 bytes in RFC 2544 §9), preamble and gap. Shorter frames are
// padded to 64 bytes.
func FrameOnWire(frame float64) float64 { return max(frame, minFrame) + preamble + gap }

// LineRate is the most frames of this size, FCS included, that one direction
// of a link carries per second. RFC 2544 appendix B; RFC 1944.
func LineRate(link, frame float64) float64 { return link / (8 * FrameOnWire(frame)) }

// imixOnWire is the mean link time, in bytes, of a packet of "simple IMIX": of twelve IP
// packets seven of 40 bytes, four of 576 and one of 1500.
var imixOnWire = (7*FrameOnWire(40+ethHeader+fcs) + 4*FrameOnWire(576+ethHeader+fcs) + FrameOnWire(1500+ethHeader+fcs)) / 12

// ImixRate is the most packets of simple IMIX that one direction of a link
// carries per second, preamble, gap and FCS counted.
func ImixRate(link float64) float64 { return link / (8 * imixOnWire) }
