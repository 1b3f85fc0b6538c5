package testbed

import (
	"context"
	"net/netip"

	"linerate/internal/port"
	"linerate/internal/setting"
)

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
	// Clients is the place of who asks. Enter takes the calling goroutine
	// there, until leave takes it back: for making a socket, which stays in
	// the namespace it was made in. The two calls are of one goroutine.
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
