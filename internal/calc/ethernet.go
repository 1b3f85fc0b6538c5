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

// FrameOf is the length of the frame, FCS included and padded to the
// minimum, that carries an IP packet of this length untagged.
func FrameOf(packet float64) float64 { return max(packet+ethHeader+fcs, minFrame) }

// mixPart is a packet size and its share in a mix.
type mixPart struct{ packet, weight float64 }

// imix is the "simple IMIX" at the IP layer: of twelve packets seven of 40,
// four of 576 and one of 1500 bytes.
var imix = []mixPart{{40, 7}, {576, 4}, {1500, 1}}

// mean is the mix's weighted mean of f over its packet sizes.
func mean(parts []mixPart, f func(packet float64) float64) float64 {
	var sum, weights float64
	for _, p := range parts {
		sum += p.weight * f(p.packet)
		weights += p.weight
	}
	return sum / weights
}

func identity(v float64) float64 { return v }

// ImixPacket is the mean IP packet of simple IMIX in bytes: 340.33.
func ImixPacket() float64 { return mean(imix, identity) }

// ImixFrame is the mean frame of simple IMIX in bytes, FCS and padding
// included: 361.83.
func ImixFrame() float64 { return mean(imix, FrameOf) }

// ImixRate is the most packets of simple IMIX that one direction of a link
// carries per second, preamble, gap and FCS counted.
func ImixRate(link float64) float64 {
	return link / (8 * mean(imix, func(p float64) float64 { return FrameOnWire(FrameOf(p)) }))
}

// imixTalk is the talk's estimate: Ethernet headers counted, but neither FCS,
// padding, preamble nor gap.
func imixTalk(link float64) float64 {
	return link / (8 * mean(imix, func(p float64) float64 { return p + ethHeader }))
}
