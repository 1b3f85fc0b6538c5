package testbed

import (
	"context"

	"linerate/internal/drop"
	"linerate/internal/port"
	"linerate/internal/setting"
)

// Multi is a Bed that can have several DUTs up at once, side by side: with the
// same addresses, between one generator and one receiver, isolated from each
// other.
type Multi interface {
	Bed
	// Raise replaces every DUT by new ones, made in the order given: one arm
	// for each element. An arm whose settings cannot be had
	// carries an ErrUnavailable and is not up; any other error is Raise's own.
	// Ports taken
	// before are void; a Reset goes back to a single DUT.
	Raise(ctx context.Context, arms []Settings) ([]Arm, error)
	// Global puts the settings back that are global to the kernel, and then
	// applies these. Raise and Reset put them back too.
	Global(ctx context.Context, settings []setting.Setting) error
}

// Duplex is a Bed whose wires can carry traffic in both directions at once.
type Duplex interface {
	Bed
	// BothWays makes the DUTs of the next Reset or Raise take traffic at their
	// egress too, or no longer, and Counters count both directions. An
	// ErrUnavailable says that this bed cannot carry both, and why.
	BothWays(on bool) error
}

// Settings are what one DUT is set to, in order.
type Settings struct {
	Name     string // for messages
	Bypass   bool   // no DUT: generator and receiver wired to each other
	Settings []setting.Setting
}

// Arm is one DUT of several, between its two ports.
type Arm struct {
	Generator, Receiver port.Port
	Applied             Applied
	Unavailable         error // why it could not be set up; it is not up then
	// Thread is the kernel thread that does the DUT's work, as Bed.DUTThread.
	Thread int
	// Counters reads the DUT's, as Bed.Counters does; nil of a bypass.
	Counters func() (Counters, error)
	// DUT is the port by which traffic enters it, seen from inside, as of
	// Open; its place is nil for a bypass, or where it cannot be entered.
	DUT port.Port
	// Drops reads what died in it, as DropReader does, but for what only the
	// whole machine counts: Machine reads that. Either is nil where it cannot be read.
	Drops, Machine func() (drop.Counters, error)
}

// Way is a path through a DUT, between two outer ports.
type Way struct {
	Generator, Receiver port.Port
	Share               float64 // of the load; those of all ways are 1 together
}

// Ported is a Bed with several ways through its DUT, all of which carry the load.
type Ported interface {
	Bed
	Ways() []Way
}

// WaysOf are a bed's ways through its DUT; most have one.
func WaysOf(b Bed) []Way {
	if p, ok := b.(Ported); ok {
		return p.Ways()
	}
	return []Way{{Generator: b.Generator(), Receiver: b.Receiver(), Share: 1}}
}
