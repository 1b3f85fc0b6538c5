//go:build !linux

package sockops

import (
	"io"
	"time"

	"linerate/internal/hint"
)

// Splitter is only implemented on Linux.
type Splitter struct{}

var errOther = hint.With(hint.Usagef("single connections cannot draw their arms on this system"),
	"congestion control and TCP stacks are per listening socket there: try them on the whole host, in windows")

// Cgroup returns an error.
func Cgroup(string) (string, error) { return "", errOther }

// Try returns an error.
func Try(Option) error { return errOther }

// Attach returns an error.
func Attach(string, Key, []Option) (*Splitter, error) { return nil, errOther }

// Clock is only implemented on Linux.
type Clock struct{ io.Closer }

// NewClock returns an error.
func NewClock() (Clock, error) { return Clock{}, errOther }

// Set returns an error.
func (*Splitter) Set(uint32, float64, Shares) error { return errOther }

// Tallies returns an error.
func (*Splitter) Tallies(uint32) (out [arms]Tally, err error) { return out, errOther }

// Read returns an error.
func (*Splitter) Read() ([]Closed, error) { return nil, errOther }

// Cost returns an error.
func (*Splitter) Cost(Clock) (time.Duration, uint64, error) { return 0, 0, errOther }

// Close does nothing.
func (*Splitter) Close() error { return nil }
