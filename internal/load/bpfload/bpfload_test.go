package bpfload

import (
	"encoding/binary"
	"testing"
)

// put lays out one captured frame as bpf(4) does.
func put(b []byte, ns uint64, frame []byte) []byte {
	head := make([]byte, 32) // hdrlen that aligns what follows an Ethernet header
	binary.LittleEndian.PutUint64(head[headerSec:], ns/1e9)
	binary.LittleEndian.PutUint64(head[headerNsec:], ns%1e9)
	binary.LittleEndian.PutUint32(head[headerCaptured:], uint32(len(frame)))
	binary.LittleEndian.PutUint16(head[headerLength:], uint16(len(head)))
	b = append(append(b, head...), frame...)
	for len(b)%align != 0 {
		b = append(b, 0xee)
	}
	return b
}

func TestEachFrame(t *testing.T) {
	buffer := put(put(put(nil, 5_000_000_007, make([]byte, 60)), 6, []byte("abc")), 8e9, nil)
	var lengths []int
	var times []uint64
	eachFrame(buffer, func(f []byte, ns uint64) { lengths, times = append(lengths, len(f)), append(times, ns) })
	if len(lengths) != 3 || lengths[0] != 60 || lengths[1] != 3 || lengths[2] != 0 || times[0] != 5_000_000_007 || times[1] != 6 || times[2] != 8e9 {
		t.Errorf("frames of %v bytes at %v", lengths, times)
	}
	// The last frame may end without padding.
	count := 0
	eachFrame(put(nil, 1, []byte("abc"))[:35], func([]byte, uint64) { count++ })
	if count != 1 {
		t.Errorf("%d frames in a buffer without padding", count)
	}
}

func FuzzEachFrame(f *testing.F) {
	f.Add(put(put(nil, 1, make([]byte, 60)), 2, []byte("x")))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		frames := 0
		eachFrame(b, func(frame []byte, _ uint64) {
			if frames++; frames > len(b)/headerLeast+1 {
				t.Fatal("more frames than there is room for")
			}
			_ = frame
		})
	})
}
