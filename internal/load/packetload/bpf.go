package packetload

import "encoding/binary"

// BPF is the name of the engine, as in load.Sent.
const BPF = "bpf"

// The fields of struct bpf_xhdr (net/bpf.h), with time stamps in the format
// BPF_T_NANOTIME: seconds and nanoseconds.
const (
	headerSec      = 0
	headerNsec     = 8
	headerCaptured = 16
	headerLength   = 24
	headerLeast    = 26
	align          = 8 // BPF_ALIGNMENT, sizeof(long)
)

// eachFrame visits the frames returned by one read of a bpf descriptor.
func eachFrame(b []byte, visit func(frame []byte, ns uint64)) {
	le := binary.LittleEndian
	for len(b) >= headerLeast {
		head, captured := int(le.Uint16(b[headerLength:])), int(le.Uint32(b[headerCaptured:]))
		if head < headerLeast || captured < 0 || head+captured > len(b) {
			return
		}
		visit(b[head:head+captured], le.Uint64(b[headerSec:])*1e9+le.Uint64(b[headerNsec:]))
		next := (head + captured + align - 1) &^ (align - 1)
		if next >= len(b) {
			return
		}
		b = b[next:]
	}
}
