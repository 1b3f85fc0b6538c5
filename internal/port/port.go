// Package port has types shared by load and testbed: a network device with its addresses,
// and where code must run to reach it.
package port

import (
	"net"
	"net/netip"
)

// Place runs f on an operating-system thread inside a port's network namespace, and returns f's
// error. The thread is reserved for f until it returns: f may pin it to a CPU. f must not start
// goroutines that use the network, except through another Place.
type Place func(f func() error) error

// Here is the Place of the calling process: it changes no namespace.
func Here(f func() error) error { return f() }

// Side is the machine that a port belongs to, if generator and receiver are on two. Each can also
// do the other's work.
type Side string

// The sides. The empty Side means the one that fits the task.
const (
	GeneratorSide Side = "generator"
	ReceiverSide  Side = "receiver"
)

// Port is one end of a link, with a generator or receiver.
type Port struct {
	Side   Side
	In     Place            // runs code where the device is visible
	Device string           // interface name
	MAC    net.HardwareAddr // its own address
	Peer   net.HardwareAddr // the destination address for frames sent here
	IPv4   netip.Prefix     // own address and network, 198.18.0.0/15
	IPv6   netip.Prefix     // own address and network, 2001:2::/48
}

// Name identifies the port in a record: its device, prefixed by its side if there is one.
func (p Port) Name() string {
	if p.Side == "" {
		return p.Device
	}
	return string(p.Side) + "/" + p.Device
}
