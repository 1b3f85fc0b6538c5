package load

import (
	"context"
	"time"

	"linerate/internal/testbed"
)

// Engine makes the generators and receivers of one technique. Both are made
// once and used for many trials: what is slow (loading programs, maps of a
// million flows) happens here and not in Run or Reset.
type Engine interface {
	Name() string // "xdp" or "af_packet", as in Sent.Engine
	// NewGenerator prepares to send spec from spec.Device, which is visible
	// in the given place. It refuses what the engine or the device cannot
	// do, with a hint.
	NewGenerator(spec Spec, in testbed.Place) (Generator, error)
	// NewReceiver starts counting what arrives at a device.
	NewReceiver(device string, in testbed.Place, w Watch) (Receiver, error)
}

// Generator sends one Spec, as often as it is asked to.
type Generator interface {
	// Run sends until the spec's limit or until ctx ends, then closes the
	// account with end-of-stream frames, and returns what was sent. When ctx
	// ended it returns that account too, beside ctx's error. progress, if
	// not nil, is called about ten times a second with the account so far.
	Run(ctx context.Context, progress func(Sent)) (Sent, error)
	Close() error
}

// Receiver counts frames from when it is made until it is closed.
type Receiver interface {
	// Snapshot is the account so far.
	Snapshot() (Received, error)
	// Finish waits until the account is closed, that is until end-of-stream
	// frames of every stream seen have arrived and then nothing more for
	// 20 ms, or until patience is over or ctx ends; then it is Snapshot.
	Finish(ctx context.Context, patience time.Duration) (Received, error)
	// Reset forgets what was counted. Frames in flight are counted after it.
	Reset() error
	Close() error
}

// Watch says what a receiver counts.
type Watch struct {
	Stream   int // only frames of this stream; −1: of any
	MaxFlows int // flows it can tell apart, over all streams; 0: 1<<20
}
