// Package port holds what load and testbed share: a network device, its addresses, and the
// place that code must run in to reach it.
package port

import (
	"net"
	"net/netip"
)

// Place runs f on an operating-system thread inside a port's network
// namespace, and returns f's error. The thread is f's alone until f returns:
// f may pin it to a CPU. f must not start goroutines that touch the network
// by other means than a separate Place.
type Place func(f func() error) error

// Here is the Place of the calling process: no namespace is changed.
func Here(f func() error) error { return f() }

// Side is the machine that a port belongs to, where generator and receiver are
// on two. Each can do the other's work too.
type Side string

// The sides. The empty Side is the one that the work is named after.
const (
	GeneratorSide Side = "generator"
	ReceiverSide  Side = "receiver"
)

// Port is one end of a wire, where a generator or receiver sits.
type Port struct {
	Side   Side
	In     Place            // runs code where the device is visible
	Device string           // interface name
	MAC    net.HardwareAddr // its own address
	Peer   net.HardwareAddr // the address frames sent here must carry
	IPv4   netip.Prefix     // own address and network, 198.18.0.0/15
	IPv6   netip.Prefix     // own address and network, 2001:2::/48
}

// Name identifies the port in a record: its device, after its side if it has one.
func (p Port) Name() string {
	if p.Side == "" {
		return p.Device
	}
	return string(p.Side) + "/" + p.Device
}
