package load

// Frame sizes, with FCS, that any engine may be asked for. What an engine and
// a device can actually send is probed.
const (
	MinSize = 64
	MaxSize = 65535
)

// SimpleIMIX returns the Internet mix of 7 : 4 : 1 IP packets of 40, 576 and
// 1,500 bytes, that is frames of 64, 594 and 1,518 bytes, interleaved.
func SimpleIMIX() []int {
	const s, m, l = 64, 594, 1518
	return []int{s, s, m, s, s, m, s, s, m, s, m, l}
}

// MeanSize returns the mean frame size of a sequence, with FCS.
func MeanSize(sizes []int) float64 {
	sum := 0
	for _, n := range sizes {
		sum += n
	}
	return float64(sum) / float64(max(1, len(sizes)))
}
