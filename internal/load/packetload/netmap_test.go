package packetload

import (
	"encoding/binary"
	"math"
	"testing"
	"unsafe"
)

// TestLayout holds the structures to what a C compiler makes of
// sys/net/netmap.h for FreeBSD 14 on amd64 and arm64.
func TestLayout(t *testing.T) {
	var h header
	var r register
	for _, c := range []struct {
		what      string
		got, want uintptr
	}{
		{"nmreq_header", unsafe.Sizeof(h), 88}, {"nr_name", unsafe.Offsetof(h.name), 8},
		{"nr_options", unsafe.Offsetof(h.options), 72}, {"nr_body", unsafe.Offsetof(h.body), 80},
		{"nmreq_register", unsafe.Sizeof(r), 56}, {"nr_memsize", unsafe.Offsetof(r.memory), 8},
		{"nr_tx_slots", unsafe.Offsetof(r.txSlots), 16}, {"nr_tx_rings", unsafe.Offsetof(r.txRings), 24},
		{"nr_mem_id", unsafe.Offsetof(r.memoryID), 32}, {"nr_ringid", unsafe.Offsetof(r.ringID), 34},
		{"nr_mode", unsafe.Offsetof(r.mode), 36}, {"nr_extra_bufs", unsafe.Offsetof(r.extraBuffers), 40},
		{"nr_flags", unsafe.Offsetof(r.flags), 48},
		{"NIOCCTRL", nioCtrl, 3227019671}, {"NIOCTXSYNC", nioTxSync, 536897940}, {"NIOCRXSYNC", nioRxSync, 536897941},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, in C %d", c.what, c.got, c.want)
		}
	}
}

// shared lays out what the kernel shares: a description with a send ring, a host
// ring that was not asked for, and a receive ring, of four slots each.
func shared() []byte {
	const at, tx, rx, buffers, slots, size = 64, 512, 1024, 2048, 4, 256
	m := make([]byte, buffers+16*size)
	ne := binary.NativeEndian
	for _, w := range []struct {
		at int
		v  uint32
	}{{at + ifTxRings, 1}, {at + ifRxRings, 1}, {at + ifHostTx, 1}, {at + ifHostRx, 1}} {
		ne.PutUint32(m[w.at:], w.v)
	}
	ne.PutUint64(m[at+ifOffsets:], tx-at)
	ne.PutUint64(m[at+ifOffsets+16:], rx-at)
	for i, r := range []int{tx, rx} {
		ne.PutUint64(m[r+ringBuffers:], uint64(buffers-r))
		ne.PutUint32(m[r+ringSlots:], slots)
		ne.PutUint32(m[r+ringBufferSize:], size)
		for s := range slots {
			ne.PutUint32(m[r+ringFirst+slotBytes*s:], uint32(slots*i+s))
		}
	}
	return m
}

func TestRings(t *testing.T) {
	m := shared()
	tx, err := rings(m, 64, false)
	if err != nil || len(tx) != 1 {
		t.Fatal(tx, err)
	}
	rx, err := rings(m, 64, true)
	if err != nil || len(rx) != 1 || rx[0].at == tx[0].at {
		t.Fatal(rx, err)
	}
	// The kernel leaves one slot free: three frames fit.
	*tx[0].word(ringTail) = 3
	frames := [][]byte{[]byte("one"), []byte("two"), []byte("three"), []byte("four")}
	if n, err := tx[0].put(frames); n != 3 || err != nil || tx[0].free() != 0 {
		t.Fatalf("%d frames put, %v", n, err)
	}
	// The kernel sends them and moves the tail on, over the end of the ring.
	*tx[0].word(ringTail) = 2
	if n, err := tx[0].put(frames[3:]); n != 1 || err != nil || *tx[0].word(ringHead) != 0 || *tx[0].word(ringCur) != 0 {
		t.Fatalf("%d frames put, head %d, %v", n, *tx[0].word(ringHead), err)
	}
	if got := string(m[2048+256 : 2048+256+3]); got != "two" {
		t.Errorf("the second buffer holds %q", got)
	}
	copy(m[2048+4*256:], "arrived")
	binary.NativeEndian.PutUint16(m[1024+ringFirst+slotLength:], 7)
	*rx[0].word(ringTail) = 1
	var got []string
	if err := rx[0].take(func(f []byte) { got = append(got, string(f)) }); err != nil || len(got) != 1 || got[0] != "arrived" || rx[0].free() != 0 {
		t.Errorf("%q, %v", got, err)
	}
}

// TestRingsRefuse: whatever stands in the memory, nothing outside is touched.
func TestRingsRefuse(t *testing.T) {
	for what, spoil := range map[string]func([]byte){
		"ring beyond the end":   func(m []byte) { binary.NativeEndian.PutUint64(m[64+ifOffsets:], 1<<40) },
		"ring before the start": func(m []byte) { binary.NativeEndian.PutUint64(m[64+ifOffsets:], 1<<63) },
		"no slots":              func(m []byte) { binary.NativeEndian.PutUint32(m[512+ringSlots:], 0) },
		"too many slots":        func(m []byte) { binary.NativeEndian.PutUint32(m[512+ringSlots:], 1<<19) },
		"too many rings":        func(m []byte) { binary.NativeEndian.PutUint32(m[64+ifTxRings:], 1<<31) },
	} {
		m := shared()
		spoil(m)
		if all, err := rings(m, 64, false); err == nil {
			t.Errorf("%s: %d rings", what, len(all))
		}
	}
	if _, err := rings(make([]byte, 100), 64, false); err == nil {
		t.Error("a description that is cut off is read")
	}
	m := shared()
	tx, _ := rings(m, 64, false)
	*tx[0].word(ringTail) = 3
	binary.NativeEndian.PutUint32(m[512+ringFirst:], 1<<20)
	if _, err := tx[0].put([][]byte{{1}}); err == nil {
		t.Error("a buffer beyond the end is written")
	}
}

// TestFreeIsBounded: whatever the shared words say, a ring has no more for the program than
// its slots without the kernel's one.
func TestFreeIsBounded(t *testing.T) {
	tx, err := rings(shared(), 64, false)
	if err != nil {
		t.Fatal(err)
	}
	r := &tx[0]
	for _, c := range []struct{ head, tail uint32 }{{0, 1 << 31}, {1, math.MaxUint32}, {math.MaxUint32, 0}, {1 << 20, 2}, {3, 2}, {2, 2}, {0, 4}} {
		*r.word(ringHead), *r.word(ringTail) = c.head, c.tail
		if n := r.free(); n < 0 || n >= int(r.slots) {
			t.Errorf("head %d, tail %d of %d slots: %d are free", c.head, c.tail, r.slots, n)
		}
	}
}
