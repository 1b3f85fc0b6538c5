// Package wire is what every traffic engine does with a device: look at it,
// send single frames through it, and run a worker on one CPU.
package wire

import (
	"net"
	"os"
)

// Device is what an engine needs to know of a network interface.
type Device struct {
	Name    string
	Index   int
	MAC     net.HardwareAddr
	MTU     int
	Veth    bool
	Up      bool
	Queues  int    // receive queues
	Netns   uint32 // inode of its namespace; 0 on FreeBSD
	Carrier bool
}

// Order says what an engine wants opened for one device. A process sees only the devices of
// its network stack; in a lab of jails the opening is done by a process inside, which hands
// the descriptor out (a Door).
type Order struct {
	Kind    string `json:"kind"` // the engine's name
	Device  string `json:"device"`
	Receive bool   `json:"receive"` // else: to send
}

// Opened is what came of an Order.
type Opened struct {
	File   *os.File `json:"-"`
	Device Device   `json:"device"`
	Buffer int      `json:"buffer"` // of a bpf(4) descriptor, in bytes
}

// Door opens what an Order says, where its device is visible.
type Door func(Order) (Opened, error)
