// Package testbed defines what a lab needs of a testbed: a generator, a device under test and a
// receiver, the wires between them, and a reset that makes trials independent. Implementations are
// netnsbed (network namespaces on one Linux machine), jailbed (vnet jails on FreeBSD) and sshbed
// (machines). Package bedtest holds the conformance suite that every implementation passes.
package testbed

import (
	"context"
	"fmt"

	"linerate/internal/port"
	"linerate/internal/setting"
)

// Mode is how the DUT gets processor time, which determines what its numbers mean.
type Mode string

// The two ways to measure in namespaces.
const (
	// Cost runs generator, DUT and receiver to completion on one CPU: the
	// chain's time per packet, minus that of the same chain without the DUT,
	// is the DUT's cost in ns. Nothing can be overloaded.
	Cost Mode = "cost"
	// Overload gives the DUT's ingress a thread on its own CPU, so that it
	// can be offered more than it forwards.
	Overload Mode = "overload"
)

// CPUs assigns roles to CPUs; −1 means not pinned.
type CPUs struct {
	Generator int `json:"generator"`
	DUT       int `json:"dut"`
	Receiver  int `json:"receiver"`
}

// KindNetns is a testbed of network namespaces joined by veth pairs.
const KindNetns = "netns"

// KindJails is a testbed of FreeBSD's vnet jails joined by epair(4).
const KindJails = "jails"

// SystemOf returns the operating system of the DUTs in a kind of testbed; "" if it may be any.
func SystemOf(kind string) string {
	return map[string]string{KindNetns: "linux", KindJails: "freebsd"}[kind]
}

// Description is what a reader must know about the testbed to interpret a number.
type Description struct {
	Kind       string   `json:"kind"` // KindNetns, or another
	Label      string   `json:"label"`
	Mode       Mode     `json:"mode"`
	Privileged bool     `json:"privileged"` // false: in an unprivileged user namespace
	CPUs       CPUs     `json:"cpus"`
	Notes      []string `json:"notes,omitempty"` // what is shared, and what is not isolated
}

// Bed is a testbed that is up.
type Bed interface {
	Describe() Description
	// DUT returns the DUT that the last Reset made. Bypass returns two outer ends
	// connected without a DUT: the chain that a cost is relative to.
	DUT() Arm
	Bypass() (generator, receiver port.Port, err error)
	// Reset replaces the DUT by a new one, then applies settings, in order;
	// the next Reset undoes them. An ErrUnavailable means that the testbed
	// does not support a setting; the DUT is then as new. Ports obtained
	// before a Reset become invalid, because the wires are rebuilt with the
	// DUT. The bypass stays.
	Reset(ctx context.Context, settings []setting.Setting) (Applied, error)
	// Settle waits until the DUT has forwarded or dropped everything it was sent.
	Settle(ctx context.Context) error
	Close() error
}

// Applied reports what a Reset did, outside the measured time.
type Applied struct {
	Seconds float64  `json:"seconds"`         // duration
	Digest  string   `json:"digest"`          // SHA-256 of the DUT's settings
	Notes   []string `json:"notes,omitempty"` // e.g. the number of rules loaded, and of batches
	// ReadBack is what the DUT reported for each setting after the reset, if
	// it was asked; NotTaken lists deviations from what it should report.
	ReadBack map[string]string `json:"read_back,omitempty"`
	NotTaken []string          `json:"not_taken,omitempty"`
	Boot     *Boot             `json:"boot,omitempty"` // if the reset was a reboot
}

// Boot is a reboot of the DUT, proven by a different boot ID.
type Boot struct {
	Before   string  `json:"before"` // boot IDs
	Boot     string  `json:"boot"`
	Seconds  float64 `json:"seconds"`           // until it was online
	Attempts int     `json:"attempts"`          // 1 if the first attempt succeeded
	Powered  int     `json:"powered,omitempty"` // how often the power was cycled
}

// Counters counts packets on the DUT's two interfaces since the reset.
type Counters struct {
	Received  uint64 `json:"received"`
	Forwarded uint64 `json:"forwarded"`
	Dropped   uint64 `json:"dropped"`
}

// ErrUnavailable means that this testbed cannot apply a setting, and why.
type ErrUnavailable struct {
	Setting string
	Reason  string
	Help    string // what would make it available; "" if unknown
}

func (e *ErrUnavailable) Error() string {
	if e.Help != "" {
		return e.Setting + ": " + e.Reason + "; " + e.Help
	}
	return e.Setting + ": " + e.Reason
}

// Unavailable returns the error for a setting that a testbed does not support.
func Unavailable(s setting.Setting, format string, args ...any) error {
	return &ErrUnavailable{Setting: s.String(), Reason: fmt.Sprintf(format, args...)}
}

// Needs says what a kernel needs for something: a module, or a build option.
func Needs(module, option string) string {
	return fmt.Sprintf("load the module %s (modprobe %[1]s), or boot a kernel built with %s", module, option)
}

// Telemeter is a Bed whose DUT has counters and sensors.
type Telemeter interface {
	// Telemetry reads them: counters increase, gauges have a current value.
	Telemetry(ctx context.Context) (Telemetry, error)
}

// Telemetry is what a DUT reports about itself at one moment, by name.
type Telemetry struct {
	Counters map[string]float64
	Gauges   map[string]float64 // °C, MHz
}

// Since returns the increase of each counter that grew, and the gauges' values.
func (t Telemetry) Since(before Telemetry) map[string]float64 {
	out := map[string]float64{}
	for name, v := range t.Counters {
		if d := v - before.Counters[name]; d > 0 { // a decreased counter was reset meanwhile
			out[name] = d
		}
	}
	for name, v := range t.Gauges {
		out[name] = v
	}
	return out
}
