package sockops

import (
	"net/netip"
	"syscall"
	"time"
)

// Arm is what the coin of a connection chose.
type Arm uint32

// The arms. Again is the control once more, by a second coin.
const (
	Control Arm = iota
	Again
	Treated
	arms
)

// Option is a socket option for the treated connections, as setsockopt(2) takes it.
type Option struct {
	Level, Name int
	// Text is the value of an option that takes a string; else Value is.
	Text  string
	Value int32
}

// Closed is a connection that has ended.
type Closed struct {
	Window        uint32
	Arm           Arm
	Remote, Local netip.AddrPort
	Ended         time.Time
	Duration      time.Duration
	BytesSent     uint64 // and acknowledged
	// FirstRTT is that of the handshake, before any option was set; RTT the smoothed one at
	// the end. 0: not measured.
	FirstRTT, RTT time.Duration
	// Segments are those with data that were sent, Again those sent again.
	Segments, Again uint32
	// Rate is the last delivery rate, in bytes a second; 0: not measured.
	Rate float64
}

// Tally counts the connections of an arm that were opened in a window.
type Tally struct {
	Opened, Closed uint64
	Refused        uint64 // the kernel did not take an option
	Lost           uint64 // not reported: no memory, or not read in time
	Errno          int64  // of the last refusal, negative
}

// Err is why the kernel refused an option; nil where it did not.
func (t Tally) Err() error {
	if t.Errno == 0 {
		return nil
	}
	return syscall.Errno(-t.Errno)
}

// Key is what the coin is drawn with.
type Key [2]uint64

// below is the number of 32 bits that a share of all draws is below.
func below(share float64) uint64 { return uint64(share * (1 << 32)) }
