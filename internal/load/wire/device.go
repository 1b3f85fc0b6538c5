// Package wire is what every traffic engine does with a device: look at it,
// send single frames through it, and run a worker on one CPU.
package wire

import (
	"net"
	"net/netip"
)

// Device is what an engine needs to know of a network interface.
type Device struct {
	Name    string
	Index   int
	MAC     net.HardwareAddr
	MTU     int
	Veth    bool
	Up      bool
	Queues  int            // receive queues
	Netns   uint32         // inode of its namespace; 0 on FreeBSD
	Addrs   []netip.Prefix // its own
	Carrier bool
}
