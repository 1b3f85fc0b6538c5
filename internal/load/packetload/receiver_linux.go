package packetload

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// The ring that the kernel fills (TPACKET_V3, packet_mmap.rst): blocks are
// handed over when full, or after a while.
const (
	blockBytes  = 1 << 18
	blocks      = 64
	retireAfter = 4 // ms
)

// Receiver counts in user space what arrives at a device.
type Receiver struct {
	fd     int
	ring   []byte
	only   int
	done   chan struct{}
	closed atomic.Bool
	empty  atomic.Uint64 // when the reader last found nothing to read, ns

	mu      sync.Mutex
	account load.Account
	dropped uint64
	watch   load.Watch
}

// NewReceiver opens a socket that sees every frame that arrives.
func (engine) NewReceiver(device string, in port.Place, w load.Watch) (load.Receiver, error) {
	d, err := wire.Look(device, in)
	if err != nil {
		return nil, err
	}
	r := &Receiver{fd: -1, only: w.Stream, watch: w, done: make(chan struct{})}
	r.account = r.fresh()
	if err := in(func() error { return r.open(d) }); err != nil {
		if r.fd >= 0 {
			unix.Close(r.fd)
		}
		return nil, err
	}
	go r.read()
	return r, nil
}

func (r *Receiver) fresh() load.Account {
	return load.Account{Filter: r.watch.Stream >= 0, Only: r.watch.Stream, MaxFlows: r.watch.MaxFlows}
}

func (r *Receiver) open(d wire.Device) (err error) {
	if r.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return wire.NotPermitted(fmt.Errorf("open a packet socket: %w", err))
	}
	// Its own frames going out are not received.
	_ = unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	if err := unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3); err != nil {
		return fmt.Errorf("ask for a TPACKET_V3 ring: %w", err)
	}
	req := unix.TpacketReq3{
		Block_size: blockBytes, Block_nr: blocks, Frame_size: 2048,
		Frame_nr: blockBytes / 2048 * blocks, Retire_blk_tov: retireAfter,
	}
	if err := unix.SetsockoptTpacketReq3(r.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req); err != nil {
		return fmt.Errorf("make a receive ring of %d MiB: %w", blockBytes*blocks>>20, err)
	}
	if r.ring, err = unix.Mmap(r.fd, 0, blockBytes*blocks, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return fmt.Errorf("map the receive ring: %w", err)
	}
	all := uint16(unix.ETH_P_ALL)
	if err := unix.Bind(r.fd, &unix.SockaddrLinklayer{Protocol: all>>8 | all<<8, Ifindex: d.Index}); err != nil {
		return fmt.Errorf("bind a packet socket to %s: %w", d.Name, err)
	}
	return nil
}

// Offsets in a block's descriptor and a frame's header.
const (
	blockStatus, blockFrames, blockFirst = 8, 12, 16
	frameNext, frameSec, frameNsec       = 0, 4, 8
	frameSnap, frameMAC                  = 12, 24
)

// read takes blocks as the kernel hands them over, until Close.
func (r *Receiver) read() {
	defer close(r.done)
	for at := 0; !r.closed.Load(); {
		b := r.ring[at*blockBytes : (at+1)*blockBytes]
		status := (*uint32)(unsafe.Pointer(&b[blockStatus]))
		if atomic.LoadUint32(status)&unix.TP_STATUS_USER == 0 {
			r.empty.Store(wire.Monotonic())
			fds := []unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}}
			_, _ = unix.Poll(fds, 20)
			continue
		}
		r.block(b)
		atomic.StoreUint32(status, unix.TP_STATUS_KERNEL)
		at = (at + 1) % blocks
	}
}

// block counts the frames of one block.
func (r *Receiver) block(b []byte) {
	le := binary.NativeEndian
	// Frames carry the kernel's wall-clock time of arrival.
	var wall unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_REALTIME, &wall)
	offset := int64(wire.Monotonic()) - wall.Nano()
	r.mu.Lock()
	defer r.mu.Unlock()
	at := int(le.Uint32(b[blockFirst:]))
	for range le.Uint32(b[blockFrames:]) {
		f := b[at:]
		arrived := int64(le.Uint32(f[frameSec:]))*1e9 + int64(le.Uint32(f[frameNsec:])) + offset
		mac, snap := int(le.Uint16(f[frameMAC:])), int(le.Uint32(f[frameSnap:]))
		r.account.Frame(f[mac:mac+snap], uint64(arrived))
		at += int(le.Uint32(f[frameNext:]))
	}
}

// statistics adds what the ring had no room for since it was last asked.
func (r *Receiver) statistics() {
	if s, err := unix.GetsockoptTpacketStatsV3(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		r.dropped += uint64(s.Drops)
	}
}

// Snapshot is the account so far.
func (r *Receiver) Snapshot() (load.Received, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statistics()
	got := r.account.Received(AFPacket)
	got.Dropped = r.dropped
	if r.dropped > 0 {
		got.Warnings = append(got.Warnings, fmt.Sprintf("%d frames arrived faster than this receiver reads: they are part of what was lost, but not by the wire", r.dropped))
	}
	return got, nil
}

// Finish waits until the account is closed and nothing more arrives. On a busy
// machine an account may stand still because its reader does: it must have read
// what the kernel held back when Finish began.
func (r *Receiver) Finish(ctx context.Context, patience time.Duration) (load.Received, error) {
	read, end := wire.Monotonic()+2*retireAfter*1e6, time.Now().Add(patience)
	got, err := wire.Finish(ctx, r.Snapshot, patience)
	for err == nil && r.empty.Load() < read && time.Now().Before(end) {
		select {
		case <-ctx.Done():
			return got, ctx.Err()
		case <-time.After(time.Millisecond):
			got, err = r.Snapshot()
		}
	}
	return got, err
}

// Reset forgets what was counted.
func (r *Receiver) Reset() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statistics()
	r.dropped, r.account = 0, r.fresh()
	return nil
}

// Close closes the socket.
func (r *Receiver) Close() error {
	r.closed.Store(true)
	<-r.done
	if err := unix.Munmap(r.ring); err != nil {
		return fmt.Errorf("unmap the receive ring: %w", err)
	}
	return unix.Close(r.fd)
}
