package calc

import (
	"encoding/binary"
	"net/netip"
)

// RSSKey is the key of Microsoft's verification suite, which FreeBSD's
// rss(9) and many drivers use as it is.
var RSSKey = [40]byte{
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
	0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
}

// Toeplitz is the hash of receive-side scaling: for each bit set in the input,
// the 32 bits of the key from that place on. Input beyond what the key reaches
// (36 bytes) counts for nothing. Source: Microsoft, "RSS Hashing Functions".
func Toeplitz(key [40]byte, input []byte) uint32 {
	var hash uint32
	window := binary.BigEndian.Uint32(key[:4])
	for i, b := range input[:min(len(input), len(key)-4)] {
		next := key[i+4]
		for bit := range 8 {
			if b&(0x80>>bit) != 0 {
				hash ^= window
			}
			window = window<<1 | uint32(next>>(7-bit))&1
		}
	}
	return hash
}

// RSSHash hashes a TCP segment's addresses and ports as network cards do. Both
// addresses are of one family.
func RSSHash(src, dst netip.AddrPort) uint32 {
	input := append(src.Addr().Unmap().AsSlice(), dst.Addr().Unmap().AsSlice()...)
	input = binary.BigEndian.AppendUint16(input, src.Port())
	input = binary.BigEndian.AppendUint16(input, dst.Port())
	return Toeplitz(RSSKey, input)
}
