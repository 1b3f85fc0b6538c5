package packetload

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync/atomic"
	"unsafe"
)

// Netmap is the engine's, as in load.Sent.
const Netmap = "netmap"

// What sys/net/netmap.h says, version 14 of the interface (FreeBSD 13 and
// later), on 64-bit machines.
const (
	apiVersion  = 14
	nioCtrl     = 0xc0586997 // _IOWR('i', 151, struct nmreq_header)
	nioTxSync   = 0x20006994 // _IO('i', 148)
	nioRxSync   = 0x20006995 // _IO('i', 149)
	reqRegister = 1

	modeAllNIC  = 1
	modeOneNIC  = 4
	rxRingsOnly = 0x2000
	txRingsOnly = 0x4000
	noTxPoll    = 0x20000

	nameMost = 64
)

// header is struct nmreq_header.
type header struct {
	version, kind uint16
	_             uint32
	name          [nameMost]byte
	options       uint64
	body          uint64
}

// register is struct nmreq_register.
type register struct {
	offset, memory           uint64
	txSlots, rxSlots         uint32
	txRings, rxRings         uint16
	hostTxRings, hostRxRings uint16
	memoryID, ringID         uint16
	mode                     uint32
	extraBuffers             uint32
	_                        uint32
	flags                    uint64
}

// newHeader asks for a port by name: an interface's, or valeX:PORT.
func newHeader(port string) (header, error) {
	port = strings.TrimPrefix(port, "netmap:")
	h := header{version: apiVersion, kind: reqRegister}
	if len(port) >= nameMost {
		return h, fmt.Errorf("netmap port %q: its name is longer than %d bytes", port, nameMost-1)
	}
	copy(h.name[:], port)
	return h, nil
}

// Offsets in struct netmap_if and struct netmap_ring.
const (
	ifTxRings, ifRxRings, ifHostTx, ifHostRx, ifOffsets = 24, 28, 36, 40, 56

	ringBuffers, ringSlots, ringBufferSize = 0, 8, 12
	ringHead, ringCur, ringTail            = 20, 24, 28
	ringFirst                              = 256
	slotBytes                              = 16
	slotIndex, slotLength, slotFlags       = 0, 4, 6
)

// ring is a view of struct netmap_ring in the memory shared with the kernel.
type ring struct {
	memory  []byte // of all, for the buffers lie elsewhere in it
	at      int    // of the ring
	slots   uint32
	size    int // of a buffer
	buffers int // offset of buffer 0 in memory
}

// rings finds the rings that a port's description at an offset lists: the
// NIC's, to send or to receive. What the kernel wrote is checked against the
// memory's bounds.
func rings(memory []byte, offset uint64, receive bool) ([]ring, error) {
	if offset > uint64(len(memory)) || uint64(len(memory))-offset < ifOffsets {
		return nil, fmt.Errorf("the port's description at %d is not in %d bytes of memory", offset, len(memory))
	}
	b, ne := memory[offset:], binary.NativeEndian
	tx, rx := int(ne.Uint32(b[ifTxRings:])), int(ne.Uint32(b[ifRxRings:]))
	first, count := 0, tx
	if receive {
		first, count = tx+int(ne.Uint32(b[ifHostTx:])), rx
	}
	var all []ring
	for i := first; i < first+count; i++ {
		where := ifOffsets + 8*i
		if where+8 > len(b) || i > 1<<16 {
			return nil, fmt.Errorf("ring %d of %d is not in the memory", i, count)
		}
		off := ne.Uint64(b[where:])
		if off == 0 {
			continue // not asked for
		}
		r, err := view(memory, int(offset)+int(off))
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func view(memory []byte, at int) (ring, error) {
	if at < 0 || at+ringFirst > len(memory) || at%8 != 0 {
		return ring{}, fmt.Errorf("a ring at %d is not in %d bytes of memory", at, len(memory))
	}
	ne := binary.NativeEndian
	r := ring{memory: memory, at: at, slots: ne.Uint32(memory[at+ringSlots:]), size: int(ne.Uint32(memory[at+ringBufferSize:]))}
	r.buffers = at + int(int64(ne.Uint64(memory[at+ringBuffers:])))
	if r.slots == 0 || r.slots > 1<<20 || at+ringFirst+slotBytes*int(r.slots) > len(memory) || r.size < 64 || r.buffers < 0 {
		return ring{}, fmt.Errorf("a ring of %d slots and buffers of %d bytes at %d is not in %d bytes of memory", r.slots, r.size, at, len(memory))
	}
	return r, nil
}

func (r *ring) word(offset int) *uint32 { return (*uint32)(unsafe.Pointer(&r.memory[r.at+offset])) }

// free is how many slots are the program's: to fill when sending, to read when
// receiving. One is always the kernel's, whatever the shared words say.
func (r *ring) free() int {
	slots := int64(r.slots)
	head, tail := int64(*r.word(ringHead)), int64(atomic.LoadUint32(r.word(ringTail)))
	if tail < head {
		tail += slots
	}
	return int(min(max(0, tail-head), slots-1))
}

// slot is the i-th slot from the head, and its buffer.
func (r *ring) slot(i int) (slot, buffer []byte, err error) {
	n := (int(*r.word(ringHead)) + i) % int(r.slots)
	at := r.at + ringFirst + slotBytes*n
	slot = r.memory[at : at+slotBytes]
	from := r.buffers + int(binary.NativeEndian.Uint32(slot[slotIndex:]))*r.size
	if from < 0 || from+r.size > len(r.memory) {
		return nil, nil, fmt.Errorf("a buffer at %d is not in %d bytes of memory", from, len(r.memory))
	}
	return slot, r.memory[from : from+r.size], nil
}

// advance gives n slots from the head to the kernel.
func (r *ring) advance(n int) {
	head := (*r.word(ringHead) + uint32(n)) % r.slots
	atomic.StoreUint32(r.word(ringCur), head)
	atomic.StoreUint32(r.word(ringHead), head)
}

// put fills free slots with frames and returns how many.
func (r *ring) put(frames [][]byte) (int, error) {
	n := min(len(frames), r.free())
	for i, f := range frames[:n] {
		slot, buffer, err := r.slot(i)
		if err != nil {
			return i, err
		}
		if len(f) > len(buffer) {
			return i, fmt.Errorf("a frame of %d bytes: a buffer holds %d", len(f), len(buffer))
		}
		copy(buffer, f)
		binary.NativeEndian.PutUint16(slot[slotLength:], uint16(len(f)))
		binary.NativeEndian.PutUint16(slot[slotFlags:], 0)
	}
	r.advance(n)
	return n, nil
}

// take shows every frame that has arrived and gives its slot back.
func (r *ring) take(visit func(frame []byte)) error {
	n := r.free()
	for i := range n {
		slot, buffer, err := r.slot(i)
		if err != nil {
			return err
		}
		visit(buffer[:min(len(buffer), int(binary.NativeEndian.Uint16(slot[slotLength:])))])
	}
	r.advance(n)
	return nil
}
