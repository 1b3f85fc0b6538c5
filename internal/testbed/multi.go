package testbed

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"linerate/internal/drop"
	"linerate/internal/port"
	"linerate/internal/setting"
)

// Multi is a Bed that can have several DUTs up at once: with the same
// addresses, between one generator and one receiver, isolated from each other.
type Multi interface {
	Bed
	// Raise replaces every DUT by new ones, created in the given order, one
	// for each element. An arm with an unavailable setting carries an
	// ErrUnavailable and is not up; any other error is returned. Previously
	// obtained ports become invalid; a Reset returns to a single DUT.
	Raise(ctx context.Context, arms []Settings) ([]Arm, error)
	// Global restores the settings that are global to the kernel, and then
	// applies these. Raise and Reset restore them too.
	Global(ctx context.Context, settings []setting.Setting) error
}

// Duplex is a Bed whose wires can carry traffic in both directions at once.
type Duplex interface {
	Bed
	// BothWays enables or disables traffic into the egress of DUTs from the
	// next Reset or Raise on; Counters then count both directions. An
	// ErrUnavailable says why this bed cannot carry both.
	BothWays(on bool) error
}

// Settings are the settings of one DUT, in order.
type Settings struct {
	Name     string // for messages
	Bypass   bool   // no DUT: generator and receiver are connected directly
	Settings []setting.Setting
}

// Arm is a DUT, the only one or one of several, between its two ports.
type Arm struct {
	Way
	More        []Way // further ways through it, each with an equal share of the load
	Applied     Applied
	Unavailable error // why it could not be set up; it is then not up
	// Inside is the ingress port, seen from inside the DUT; its place is nil if the DUT
	// is inaccessible.
	Inside port.Port
	// Thread is the kernel thread that does the DUT's work (mode overload), for callers
	// that watch how long it waits for its CPU; 0 if no single thread does the work.
	Thread int
	// Counters reads the DUT's packet counters since its creation; nil for a bypass.
	Counters func() (Counters, error)
	// Drops reads the drop counters of the DUT and of the wire to it, named for package
	// drop; Machine reads those that exist only for the whole machine. Either is nil if
	// it cannot be read.
	Drops, Machine func() (drop.Counters, error)
}

// Way is a path through a DUT, between two outer ports.
type Way struct{ Generator, Receiver port.Port }

// Ways returns all ways through the DUT.
func (a Arm) Ways() []Way { return append([]Way{a.Way}, a.More...) }

// AllDrops reads the counters of the arm and of its machine; nil if neither can be read.
// Arms that are up at the same time all get the machine's full counts.
func (a Arm) AllDrops() (all drop.Counters, err error) {
	for _, read := range []func() (drop.Counters, error){a.Drops, a.Machine} {
		if read == nil {
			continue
		}
		c, err := read()
		if err != nil {
			return nil, err
		}
		all = all.Plus(c)
	}
	return all, nil
}

// Serve is the mode in which a DUT answers requests of clients: a number is
// about the server, its kernel and the link; nothing is forwarded.
const Serve Mode = "serve"

// Sites is a testbed of servers. Each arm is a separate site: clients, a link
// and a server, with the same addresses as all others and isolated from them.
type Sites interface {
	Describe() Description
	// Raise replaces every site by new ones, created in the given order, one
	// for each element. A site with an unavailable setting carries an
	// ErrUnavailable; any other error is returned. With several sites none may
	// change settings global to the kernel, which would affect all others.
	Raise(ctx context.Context, l Layout, arms []Settings) ([]Site, error)
	// Global restores the settings that are global to the kernel, and then
	// applies these. Raise restores them too.
	Global(ctx context.Context, settings []setting.Setting) error
	Close() error
}

// Layout is what all sites have in common.
type Layout struct {
	Clients int    // number of client addresses
	Link    Link   // between clients and server
	Seed    uint64 // for the link's random numbers
	// Origin adds a second server behind the first: the first is then on the
	// near side of Link, which leads to the origin.
	Origin bool
}

// Site is one server with its clients.
type Site struct {
	// Clients is the place of the clients. Enter moves the calling goroutine there until
	// leave moves it back, to create sockets, which stay in the namespace in which they
	// were created. One goroutine must make both calls.
	Clients                port.Place
	Enter                  func() (leave func() error, err error)
	Server                 port.Place // where the server listens, at Address
	Origin                 port.Place // where the origin listens, at OriginAddress; nil without one
	Address, OriginAddress netip.Addr
	// Sources are the clients' addresses.
	Sources     []netip.Addr
	Applied     Applied
	Unavailable error // why it could not be set up; it is then not up
	// Link returns what the link has done so far.
	Link func() LinkStats
}

// RaiseEach raises one thing for each arm and describes it. If an ErrUnavailable is the reason why
// one is not up, its description has it; any other error ends all.
func RaiseEach[T any](ctx context.Context, arms []Settings, raise func(i int, arm Settings) (Applied, error), describe func(i int, a Applied, unavailable error) T) ([]T, error) {
	out := make([]T, len(arms))
	for i, arm := range arms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		applied, err := raise(i, arm)
		var un *ErrUnavailable
		if err != nil && !errors.As(err, &un) {
			return nil, fmt.Errorf("set up %s: %w", arm.Name, err)
		}
		out[i] = describe(i, applied, err)
	}
	return out, nil
}

// OrAsNew renews a DUT with settings. If one of them is unavailable, it leaves the DUT as new.
func OrAsNew(ctx context.Context, settings []setting.Setting, renew func(context.Context, []setting.Setting) (Applied, error)) (Applied, error) {
	a, err := renew(ctx, settings)
	var un, again *ErrUnavailable
	if !errors.As(err, &un) {
		return a, err
	}
	_, left := renew(ctx, nil)
	if errors.As(left, &again) && *again == *un {
		left = nil // not a setting's fault: the mode itself is unavailable
	}
	return a, errors.Join(err, left)
}
