package load

import (
	"context"
	"errors"
	"time"

	"linerate/internal/port"
)

// Engine makes the generators and receivers of one technique. Both are made
// once and used for many trials: what is slow (loading programs, maps of a
// million flows) happens here and not in Run or Reset.
type Engine interface {
	Name() string // "xdp" or "af_packet", as in Sent.Engine
	// Available says why this machine cannot run the engine at all, by asking
	// the kernel for the features it needs; nil: it can. The error is
	// ErrNotHere where another engine may do.
	Available() error
	// NewGenerator prepares to send spec from spec.Device, which is visible
	// in the given place. It refuses what the engine or the device cannot
	// do, with a hint.
	NewGenerator(spec Spec, in port.Place) (Generator, error)
	// NewReceiver starts counting what arrives at a device.
	NewReceiver(device string, in port.Place, w Watch) (Receiver, error)
}

// ErrNotHere says that an engine does not work on this machine or with this
// device, and another may. It is joined with the reason.
var ErrNotHere = errors.New("this traffic engine does not work here")

// NotHere marks an error as ErrNotHere without repeating it in the text.
func NotHere(reason error) error { return &notHere{reason} }

type notHere struct{ error }

func (e *notHere) Unwrap() error        { return e.error }
func (e *notHere) Is(target error) bool { return target == ErrNotHere }

// Generator sends one Spec, as often as it is asked to.
type Generator interface {
	// Probe sees, by frames that are no traffic, whether the device's other
	// end takes what the engine sends; for a moment it waits for a receiver
	// to be there. ErrNotHere: another engine's frames may be taken. Engines
	// that every device serves return nil.
	Probe(ctx context.Context) error
	// Run sends until the offer's limit or until ctx ends, then closes the
	// account with end-of-stream frames, and returns what was sent. When ctx
	// ended it returns that account too, with ctx's error.
	Run(ctx context.Context, o Offer) (Sent, error)
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
	MaxFlows int // flows it can tell apart, over all streams; 0: DefaultFlows
	// Side is whose the device is; "": the receiver's.
	Side port.Side
	// Flows asks for the account of each flow, where the engine keeps any.
	Flows bool
}
