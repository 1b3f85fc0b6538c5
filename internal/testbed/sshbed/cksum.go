package sshbed

import "fmt"

// cksum is what cksum(1) prints of a text on its standard input: POSIX's CRC
// and the length. Every base system has it.
func cksum(data []byte) string {
	var crc uint32
	add := func(b byte) {
		crc ^= uint32(b) << 24
		for range 8 {
			if crc&(1<<31) != 0 {
				crc = crc<<1 ^ 0x04C11DB7
			} else {
				crc <<= 1
			}
		}
	}
	for _, b := range data {
		add(b)
	}
	for n := len(data); n > 0; n >>= 8 {
		add(byte(n))
	}
	return fmt.Sprintf("%d %d", ^crc, len(data))
}
