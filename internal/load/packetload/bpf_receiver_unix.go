//go:build linux || freebsd

package packetload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// capture is a receiving descriptor and the account of what it captured.
type capture struct {
	file    *os.File
	dropped func(*os.File) (uint32, error) // as the engine's
	buffer  []byte
	watch   load.Watch
	mu      sync.Mutex
	account load.Account
	seen    uint64 // frames read, whosever
	missed  uint32 // frames that the buffer had no room for, when last forgotten
}

func (e bpfEngine) capture(device string, w load.Watch) (*capture, error) {
	o, err := e.open(wire.Order{Kind: BPF, Device: device, Receive: true})
	if err != nil {
		return nil, err
	}
	c := &capture{dropped: e.dropped, file: o.File, buffer: make([]byte, o.Buffer), watch: w}
	if err := c.forget(); err != nil {
		return nil, errors.Join(err, c.file.Close())
	}
	return c, nil
}

// read takes what the descriptor has into the account. With wait it waits for
// a read timeout at most; without, it takes what is there.
func (c *capture) read() error {
	n, err := unix.Read(int(c.file.Fd()), c.buffer)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR), errors.Is(err, unix.EWOULDBLOCK):
		return nil
	case err != nil:
		return fmt.Errorf("read captured frames: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	eachFrame(c.buffer[:n], func(frame []byte, at uint64) {
		c.seen++
		c.account.Frame(frame, at)
	})
	return nil
}

// arrived is how many frames of a generator were read since the last account.
func (c *capture) arrived() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen - c.account.Foreign
}

// received is the account so far.
func (c *capture) received() (load.Received, error) {
	drops, err := c.dropped(c.file)
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.account.Received(BPF)
	if got.Dropped = uint64(drops - c.missed); got.Dropped > 0 && err == nil {
		got.Warnings = append(got.Warnings, fmt.Sprintf("%d frames arrived faster than this receiver reads: they are part of what was lost, but not by the wire", got.Dropped))
	}
	return got, err
}

// forget begins a new account.
func (c *capture) forget() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = 0
	c.missed, err = c.dropped(c.file)
	c.account = load.Account{Filter: c.watch.Stream >= 0, Only: c.watch.Stream, MaxFlows: c.watch.MaxFlows}
	return err
}

// Receiver counts in user space what arrives at a device.
type BpfReceiver struct {
	*capture
	done   chan struct{}
	closed atomic.Bool
	failed error // of reading, once done
}

// NewReceiver opens a descriptor that sees every frame that arrives.
func (e bpfEngine) NewReceiver(device string, _ port.Place, w load.Watch) (load.Receiver, error) {
	c, err := e.capture(device, w)
	if err != nil {
		return nil, err
	}
	r := &BpfReceiver{capture: c, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		for !r.closed.Load() && r.failed == nil {
			r.failed = r.read()
		}
	}()
	return r, nil
}

// Snapshot is the account so far.
func (r *BpfReceiver) Snapshot() (load.Received, error) {
	select {
	case <-r.done:
		if r.failed != nil {
			return load.Received{}, r.failed
		}
	default:
	}
	return r.received()
}

// Finish waits until the account is closed and nothing more arrives.
func (r *BpfReceiver) Finish(ctx context.Context, patience time.Duration) (load.Received, error) {
	return wire.Finish(ctx, r.Snapshot, patience)
}

// Reset forgets what was counted.
func (r *BpfReceiver) Reset() error { return r.forget() }

// Close closes the descriptor.
func (r *BpfReceiver) Close() error {
	r.closed.Store(true)
	<-r.done
	return r.file.Close()
}
