package packetload

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
)

// put writes one captured frame in the layout of bpf(4).
func put(b []byte, ns uint64, frame []byte) []byte {
	head := make([]byte, 32) // a header length that aligns the data after an Ethernet header
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

// walked is one visited frame.
type walked struct {
	bytes int
	ns    uint64
}

func walk(b []byte) (all []walked) {
	eachFrame(b, func(f []byte, ns uint64) {
		if all = append(all, walked{len(f), ns}); len(all) > len(b) {
			panic("the walk does not end")
		}
	})
	return all
}

func TestEachFrame(t *testing.T) {
	three := put(put(put(nil, 5_000_000_007, make([]byte, 60)), 6, []byte("abc")), 8e9, nil)
	// with changes the field of the second frame's header at an offset.
	second := 32 + 64 // offset of its header
	with := func(field int, value uint16) []byte {
		b := slices.Clone(three)
		binary.LittleEndian.PutUint16(b[second+field:], value)
		return b
	}
	first := walked{60, 5_000_000_007}
	for name, c := range map[string]struct {
		buffer []byte
		want   []walked
	}{
		"nothing":                                {nil, nil},
		"three frames":                           {three, []walked{first, {3, 6}, {0, 8e9}}},
		"the last frame ends without padding":    {put(nil, 1, []byte("abc"))[:35], []walked{{3, 1}}},
		"a header that is cut off":               {three[:second+headerLeast-1], []walked{first}},
		"a frame that is cut off":                {three[:second+34], []walked{first}},
		"a header shorter than its own fields":   {with(headerLength, headerLeast-1), []walked{first}},
		"a header that ends beyond the buffer":   {with(headerLength, 60_000), []walked{first}},
		"a frame that ends beyond the buffer":    {with(headerCaptured, 60_000), []walked{first}},
		"a frame of more than two gigabytes":     {with(headerCaptured+2, 0xffff), []walked{first}},
		"a longer header moves what follows it":  {with(headerLength, 32+align), []walked{first, {3, 6}}},
		"a frame that takes the next one's room": {with(headerCaptured, 40), []walked{first, {40, 6}}},
	} {
		if got := walk(c.buffer); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// FuzzEachFrame walks arbitrary bytes, which must not panic and never show a byte twice, and frames made
// of them, none of which may be missed.
func FuzzEachFrame(f *testing.F) {
	f.Add(put(put(nil, 1, make([]byte, 60)), 2, []byte("x")))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		end := 0
		eachFrame(b, func(frame []byte, _ uint64) {
			at := cap(b) - cap(frame) // its offset in b
			if at < end+headerLeast || at+len(frame) > len(b) {
				t.Fatalf("a frame of %d bytes at %d, after one that ended at %d, in %d bytes", len(frame), at, end, len(b))
			}
			end = at + len(frame)
		})
		var want [][]byte
		var buffer []byte
		for rest := b; len(rest) > 0 && len(want) < 64; {
			n := min(int(rest[0]), len(rest)-1)
			want = append(want, rest[1:1+n])
			buffer = put(buffer, uint64(len(want)), rest[1:1+n])
			rest = rest[1+n:]
		}
		i := 0
		eachFrame(buffer, func(frame []byte, ns uint64) {
			if i >= len(want) || ns != uint64(i+1) || !bytes.Equal(frame, want[i]) {
				t.Fatalf("frame %d of %d: %x at %d", i, len(want), frame, ns)
			}
			i++
		})
		if i != len(want) {
			t.Fatalf("%d frames of %d", i, len(want))
		}
	})
}
