package sockops

import (
	"net/netip"
	"syscall"
	"time"
)

// Arm is the arm that a connection drew.
type Arm uint32

// The arms. Again is a second control, for A/A comparison.
const (
	Control Arm = iota
	Again
	Treated
	arms
)

// Option is a socket option for treated connections, with the arguments of setsockopt(2).
type Option struct {
	Level, Name int
	// Text is the value of an option that takes a string; otherwise Value is used.
	Text  string
	Value int32
}

// Closed describes a connection that has ended.
type Closed struct {
	Window        uint32
	Arm           Arm
	Remote, Local netip.AddrPort
	Ended         time.Time
	Duration      time.Duration
	BytesSent     uint64 // acknowledged bytes
	// FirstRTT is that of the handshake, before any option was set; RTT is the smoothed one
	// at the end. 0: not measured.
	FirstRTT, RTT time.Duration
	// Segments counts the data segments sent, Again the retransmitted ones.
	Segments, Again uint32
	// Rate is the last delivery rate in bytes per second; 0: not measured.
	Rate float64
}

// Tally counts the connections of an arm that were opened in a window.
type Tally struct {
	Opened       uint64
	Kept, Closed uint64 // of these, the ones to report, and the reported ones
	Refused      uint64 // the kernel rejected an option
	Lost         uint64 // of Kept, not reported: too many open ones, or not read in time
	Errno        int64  // of the last rejection, negative
}

// Err returns why the kernel last rejected an option, or nil.
func (t Tally) Err() error {
	if t.Errno == 0 {
		return nil
	}
	return syscall.Errno(-t.Errno)
}

// Key is the key of the random draw.
type Key [2]uint64

// Shares are shares of each arm's connections.
type Shares [arms]float64

// All has each connection reported.
var All = Shares{1, 1, 1}

// kept returns the 31-bit threshold below which the given share of all draws lies.
func kept(share float64) uint32 { return uint32(share * (1 << 31)) }

// below returns the 32-bit threshold below which the given share of all draws lies.
func below(share float64) uint64 { return uint64(share * (1 << 32)) }
