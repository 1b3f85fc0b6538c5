package load

import (
	"context"
	"errors"
	"time"

	"linerate/internal/port"
)

// Engine creates the generators and receivers of one technique. Both are
// created once and used for many trials: slow work (loading programs, maps of
// a million flows) belongs here, not in Run or Reset.
type Engine interface {
	Name() string // "xdp" or "af_packet", as in Sent.Engine
	// Available returns why this machine cannot run the engine at all, by
	// asking the kernel for the required features; nil if it can. The error
	// is ErrNotHere if another engine may work.
	Available() error
	// NewGenerator prepares to send spec from spec.Device, which is visible
	// in the given place. It refuses what the engine or the device cannot do,
	// with a hint.
	NewGenerator(spec Spec, in port.Place) (Generator, error)
	// NewReceiver starts counting what arrives at a device.
	NewReceiver(device string, in port.Place, w Watch) (Receiver, error)
}

// ErrNotHere means that an engine does not work on this machine or with this
// device, but another may. It is joined with the reason.
var ErrNotHere = errors.New("this traffic engine does not work here")

// NotHere marks an error as ErrNotHere without repeating it in the text.
func NotHere(reason error) error { return &notHere{reason} }

type notHere struct{ error }

func (e *notHere) Unwrap() error        { return e.error }
func (e *notHere) Is(target error) bool { return target == ErrNotHere }

// Generator sends one Spec, repeatedly.
type Generator interface {
	// Probe checks, with frames that are not traffic, whether the other end
	// of the device accepts what the engine sends; it briefly waits for a
	// receiver to appear. ErrNotHere: another engine's frames may be
	// accepted. Engines that work on every device return nil.
	Probe(ctx context.Context) error
	// Run sends until the offer's limit or until ctx is done, then completes
	// the account with end-of-stream frames and returns it. If ctx is done,
	// it also returns ctx's error.
	Run(ctx context.Context, o Offer) (Sent, error)
	Close() error
}

// Receiver counts frames from its creation until it is closed.
type Receiver interface {
	// Snapshot returns the account so far.
	Snapshot() (Received, error)
	// Finish waits until the account is complete, that is until end-of-stream
	// frames of every stream have arrived and nothing more for 20 ms, or
	// until patience has passed or ctx is done; then it returns a Snapshot.
	Finish(ctx context.Context, patience time.Duration) (Received, error)
	// Reset discards the counts. Frames in flight are counted afterwards.
	Reset() error
	Close() error
}

// Watch says what a receiver counts.
type Watch struct {
	Stream   int // only frames of this stream; −1: of any
	MaxFlows int // number of flows to distinguish, over all streams; 0: DefaultFlows
	// Side is the side that the device belongs to; "": the receiver's.
	Side port.Side
	// Flows requests the account of each flow, if the engine supports it.
	Flows bool
}
