package packetload

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// The ring that the kernel fills (TPACKET_V3, packet_mmap.rst): it hands over
// a block when it is full, or after a timeout.
const (
	blockBytes  = 1 << 18
	blocks      = 64
	retireAfter = 4 // ms
)

// ringReceiver is a Receiver with a ring shared with the kernel.
type ringReceiver struct {
	Receiver
	fd    int
	ring  []byte
	at    int           // next block to read
	drops uint32        // as reported by the kernel so far
	empty atomic.Uint64 // when the reader last found nothing to read, ns
}

// NewReceiver opens a socket that receives every arriving frame.
func (engine) NewReceiver(device string, in port.Place, w load.Watch) (load.Receiver, error) {
	return newReceiver(device, in, w)
}

func newReceiver(device string, in port.Place, w load.Watch) (*ringReceiver, error) {
	d, err := wire.Look(device, in)
	if err != nil {
		return nil, err
	}
	r := &ringReceiver{fd: -1, Receiver: Receiver{engine: AFPacket, watch: w}}
	r.read, r.shut, r.dropped = r.next, r.release, r.statistics
	if err := in(func() error { return r.open(d) }); err != nil {
		return nil, errors.Join(err, r.release())
	}
	return r, r.start()
}

func (r *ringReceiver) open(d wire.Device) (err error) {
	if r.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return wire.NotPermitted(fmt.Errorf("open a packet socket: %w", err))
	}
	// Do not receive outgoing frames.
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

// release unmaps the ring and closes the socket.
func (r *ringReceiver) release() (err error) {
	if r.ring != nil {
		err = unix.Munmap(r.ring)
		r.ring = nil
	}
	if r.fd >= 0 {
		err = errors.Join(err, unix.Close(r.fd))
		r.fd = -1
	}
	return err
}

// Offsets in the block descriptor and the frame header.
const (
	blockStatus, blockFrames, blockFirst = 8, 12, 16
	frameNext, frameSec, frameNsec       = 0, 4, 8
	frameSnap, frameMAC                  = 12, 24
)

// next reads a block if the kernel has handed one over, or waits for it.
func (r *ringReceiver) next() error {
	b := r.ring[r.at*blockBytes : (r.at+1)*blockBytes]
	status := (*uint32)(unsafe.Pointer(&b[blockStatus]))
	if atomic.LoadUint32(status)&unix.TP_STATUS_USER == 0 {
		r.empty.Store(wire.Monotonic())
		fds := []unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}}
		_, _ = unix.Poll(fds, 20)
		return nil
	}
	r.block(b)
	atomic.StoreUint32(status, unix.TP_STATUS_KERNEL)
	r.at = (r.at + 1) % blocks
	return nil
}

// block counts the frames of one block.
func (r *ringReceiver) block(b []byte) {
	le := binary.NativeEndian
	// Frames carry the kernel's wall-clock arrival time.
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
		r.count(f[mac:mac+snap], uint64(arrived))
		at += int(le.Uint32(f[frameNext:]))
	}
}

// statistics returns how many frames the ring had no room for; the kernel
// reports those since the last query.
func (r *ringReceiver) statistics() (uint32, error) {
	if s, err := unix.GetsockoptTpacketStatsV3(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		r.drops += s.Drops
	}
	return r.drops, nil
}

// Finish waits until the account is complete and nothing more arrives. On a busy
// machine an account may stop growing only because its reader is delayed: the
// reader must have read what the kernel was holding when Finish began.
func (r *ringReceiver) Finish(ctx context.Context, patience time.Duration) (load.Received, error) {
	read, end := wire.Monotonic()+2*retireAfter*1e6, time.Now().Add(patience)
	got, err := r.Receiver.Finish(ctx, patience)
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
