package testbed

import (
	"context"
	"net/netip"

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

// Arm is a DUT, the only one or one of several, between its two ports.
type Arm struct {
	Way
	More        []Way // further ways through it, each of which carries as much of the load
	Applied     Applied
	Unavailable error // why it could not be set up; it is not up then
	// Inside is the port by which traffic enters it, seen from inside; its place is nil
	// where the DUT cannot be looked into.
	Inside port.Port
	// Thread is the kernel thread that does the DUT's work (mode overload), for callers
	// that watch how long it waits for its CPU; 0: no single thread does the work.
	Thread int
	// Counters reads the DUT's packet counters since it was made; nil of a bypass.
	Counters func() (Counters, error)
	// Drops reads what the DUT, and the wire to it, count of frames that died, by names
	// that package drop attributes; Machine what only the whole machine counts. Either is
	// nil where it cannot be read.
	Drops, Machine func() (drop.Counters, error)
}

// Way is a path through a DUT, between two outer ports.
type Way struct{ Generator, Receiver port.Port }

// Ways are all through the DUT.
func (a Arm) Ways() []Way { return append([]Way{a.Way}, a.More...) }

// AllDrops reads the counters of the arm and of its machine; nil where none can be read.
// Arms that share the time all get the machine's full counts.
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

// Serve is the mode in which a DUT answers requests of clients: a number is of
// the server, its kernel and the link, and nothing is forwarded.
const Serve Mode = "serve"

// Sites is a testbed of servers. Each arm is a separate site: clients, a
// link and a server, with the same addresses as all others and isolated from
// them.
type Sites interface {
	Describe() Description
	// Raise replaces every site by new ones, made in the order given: one for
	// each element. A site whose settings cannot be had carries an
	// ErrUnavailable; any other error is Raise's own. Of several sites none may
	// set what is global to the kernel: it would be every other's too.
	Raise(ctx context.Context, l Layout, arms []Settings) ([]Site, error)
	// Global puts the settings back that are global to the kernel, and then
	// applies these. Raise puts them back too.
	Global(ctx context.Context, settings []setting.Setting) error
	Close() error
}

// Layout is what all sites have in common.
type Layout struct {
	Clients int    // addresses that requests come from
	Link    Link   // between clients and server
	Seed    uint64 // of the link's draws
	// Origin asks for a second server behind the first: it is on the near
	// side of Link then, and Link leads from it to the origin.
	Origin bool
}

// Site is one server with its clients.
type Site struct {
	// Clients is the place of the clients. Enter takes the calling goroutine there until
	// leave takes it back, for making a socket, which stays in the namespace it was made
	// in. One goroutine must make both calls.
	Clients                port.Place
	Enter                  func() (leave func() error, err error)
	Server                 port.Place // where the server listens, at Address
	Origin                 port.Place // where the origin does, at OriginAddress; nil without one
	Address, OriginAddress netip.Addr
	// Sources are the clients' addresses.
	Sources     []netip.Addr
	Applied     Applied
	Unavailable error // why it could not be set up; it is not up then
	// Link is what the link has done so far.
	Link func() LinkStats
}
