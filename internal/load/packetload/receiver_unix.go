//go:build linux || freebsd

package packetload

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"linerate/internal/load"
	"linerate/internal/load/wire"
)

// Receiver counts in user space what an engine reads from a device.
type Receiver struct {
	engine string
	watch  load.Watch
	read   func() error // counts what has arrived, or waits briefly for it
	shut   func() error // closes what read uses
	// dropped returns how many frames the kernel had no room for since the
	// device was opened.
	dropped func() (uint32, error)

	mu      sync.Mutex
	account load.Account
	seen    uint64 // all frames read, including foreign ones
	missed  uint32 // dropped before the account began
	done    chan struct{}
	closed  atomic.Bool
	failed  error // error from reading, valid once done
}

// start begins the account and reads until Close.
func (r *Receiver) start() error {
	if err := r.Reset(); err != nil {
		return err
	}
	r.done = make(chan struct{})
	go func() {
		defer close(r.done)
		for !r.closed.Load() && r.failed == nil {
			r.failed = r.read()
		}
	}()
	return nil
}

// count counts a frame that arrived at a time. The lock must be held.
func (r *Receiver) count(frame []byte, at uint64) {
	r.seen++
	r.account.Frame(frame, at)
}

// arrived returns how many of linerate's frames were read since the last Reset.
func (r *Receiver) arrived() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen - r.account.Foreign
}

// Snapshot returns the account so far.
func (r *Receiver) Snapshot() (load.Received, error) {
	select {
	case <-r.done:
		if r.failed != nil {
			return load.Received{}, r.failed
		}
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.account.Received(r.engine)
	n, err := r.dropped()
	if got.Dropped = uint64(n - r.missed); got.Dropped > 0 && err == nil {
		got.Warnings = append(got.Warnings, fmt.Sprintf("%d frames arrived faster than this receiver reads: they are part of what was lost, but not by the wire", got.Dropped))
	}
	return got, err
}

// Finish waits until the account is complete and nothing more arrives.
func (r *Receiver) Finish(ctx context.Context, patience time.Duration) (load.Received, error) {
	return wire.Finish(ctx, r.Snapshot, patience)
}

// Reset begins a new account.
func (r *Receiver) Reset() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed, err = r.dropped()
	r.account.Endings.Renew()
	r.seen, r.account = 0, load.Account{Filter: r.watch.Stream >= 0, Only: r.watch.Stream, MaxFlows: r.watch.MaxFlows, Endings: r.account.Endings}
	return err
}

// Close stops reading and closes the device.
func (r *Receiver) Close() error {
	r.closed.Store(true)
	if r.done != nil {
		<-r.done
	}
	return r.shut()
}
