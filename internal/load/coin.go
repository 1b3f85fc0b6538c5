package load

import (
	"encoding/binary"
	"math/bits"
)

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
