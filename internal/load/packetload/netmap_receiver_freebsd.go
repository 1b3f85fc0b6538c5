package packetload

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// Receiver counts in user space what arrives on all rings of a port. A frame's
// time of arrival is that of the look at its batch.
type NetmapReceiver struct {
	*mapped
	watch   load.Watch
	mu      sync.Mutex
	account load.Account
	done    chan struct{}
	closed  atomic.Bool
	failed  error // of reading, once done
}

// NewReceiver registers all receive rings of a device: what arrives goes to
// this program and not to the network stack.
func (e netmapEngine) NewReceiver(device string, _ port.Place, w load.Watch) (load.Receiver, error) {
	m, err := e.mapped(wire.Order{Device: device, Receive: true})
	if err != nil {
		return nil, err
	}
	r := &NetmapReceiver{mapped: m, watch: w, done: make(chan struct{})}
	_ = r.Reset()
	go r.read()
	return r, nil
}

// lookFor is for how long a look waits for frames, in ms.
const lookFor = 10

func (r *NetmapReceiver) read() {
	defer close(r.done)
	clock := wire.NewClock()
	for !r.closed.Load() && r.failed == nil {
		fds := []unix.PollFd{{Fd: int32(r.fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, lookFor); err != nil && err != unix.EINTR {
			r.failed = fmt.Errorf("wait for frames: %w", err)
			return
		}
		now := clock.Now()
		r.mu.Lock()
		for i := range r.rings {
			if err := r.rings[i].take(func(f []byte) { r.account.Frame(f, now) }); err != nil {
				r.failed = err
			}
		}
		r.mu.Unlock()
	}
}

// Snapshot is the account so far.
func (r *NetmapReceiver) Snapshot() (load.Received, error) {
	select {
	case <-r.done:
		if r.failed != nil {
			return load.Received{}, r.failed
		}
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.account.Received(Netmap), nil
}

// Finish waits until the account is closed and nothing more arrives.
func (r *NetmapReceiver) Finish(ctx context.Context, patience time.Duration) (load.Received, error) {
	return wire.Finish(ctx, r.Snapshot, patience)
}

// Reset forgets what was counted.
func (r *NetmapReceiver) Reset() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.account = load.Account{Filter: r.watch.Stream >= 0, Only: r.watch.Stream, MaxFlows: r.watch.MaxFlows}
	return nil
}

// Close gives the rings back to the network stack.
func (r *NetmapReceiver) Close() error {
	r.closed.Store(true)
	<-r.done
	return r.close()
}
