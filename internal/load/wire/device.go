// Package wire holds what all traffic engines do with a device: read its
// properties, send single frames, and run a worker on one CPU.
package wire

import (
	"net"
	"os"
)

// Device describes a network interface, as far as engines need it.
type Device struct {
	Name    string
	Index   int
	MAC     net.HardwareAddr
	MTU     int
	Veth    bool
	Up      bool
	Queues  int    // number of receive queues
	Netns   uint32 // inode of its namespace; 0 on FreeBSD
	Carrier bool
}

// Order says what an engine wants opened for one device. A process sees only the devices of
// its own network stack; in a lab of jails a process inside the jail opens it and passes
// the descriptor out (a Door).
type Order struct {
	Kind    string `json:"kind"` // the engine's name
	Device  string `json:"device"`
	Receive bool   `json:"receive"` // for receiving; else for sending
}

// Opened is the result of an Order.
type Opened struct {
	File   *os.File `json:"-"`
	Device Device   `json:"device"`
	Buffer int      `json:"buffer"` // of a bpf(4) descriptor, in bytes
}

// Door executes an Order where its device is visible.
type Door func(Order) (Opened, error)
