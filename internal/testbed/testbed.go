// Package testbed says what a lab needs of a testbed: a generator, a device
// under test and a receiver, the wires between them, and a reset that makes
// the next trial independent of the last. Implementations: netnsbed (network
// namespaces on one Linux machine), jailbed (vnet jails of FreeBSD) and sshbed (machines). Package bedtest holds the conformance
// suite that every implementation passes.
package testbed

import (
	"context"
	"fmt"

	"linerate/internal/port"
	"linerate/internal/setting"
)

// Mode is how the DUT gets its processor time, and so what its numbers mean.
type Mode string

// The two ways to measure in namespaces.
const (
	// Cost runs generator, DUT and receiver to completion on one CPU: the
	// chain's time per packet, minus the same chain without DUT, is the
	// DUT's cost in ns. Nothing can be overloaded.
	Cost Mode = "cost"
	// Overload gives the DUT's ingress a thread on its own CPU, so that it
	// can be offered more than it can forward.
	Overload Mode = "overload"
)

// CPUs says which CPU does what; −1 means not pinned.
type CPUs struct {
	Generator int `json:"generator"`
	DUT       int `json:"dut"`
	Receiver  int `json:"receiver"`
}

// KindNetns is a testbed of network namespaces joined by veth pairs.
const KindNetns = "netns"

// KindJails is a testbed of FreeBSD's vnet jails joined by epair(4).
const KindJails = "jails"

// SystemOf is the operating system of the DUTs of a kind of testbed; "": of any.
func SystemOf(kind string) string {
	return map[string]string{KindNetns: "linux", KindJails: "freebsd"}[kind]
}

// Description is what a reader of a number must know of the testbed.
type Description struct {
	Kind       string   `json:"kind"` // KindNetns, or another
	Label      string   `json:"label"`
	Mode       Mode     `json:"mode"`
	Privileged bool     `json:"privileged"` // false: an unprivileged user namespace
	CPUs       CPUs     `json:"cpus"`
	Notes      []string `json:"notes,omitempty"` // who shares what, what is not isolated
}

// Bed is a testbed that is up.
type Bed interface {
	Describe() Description
	// DUT is the one that the last Reset made. Bypass are two outer ends that are
	// wired without a DUT between them: the chain that a cost is measured against.
	DUT() Arm
	Bypass() (generator, receiver port.Port, err error)
	// Reset makes the DUT as new, then applies settings, in order; they
	// are undone by the next Reset. An ErrUnavailable says the testbed
	// cannot do a setting; the DUT is then as new. Ports taken before a
	// Reset are void after it: the wires are rebuilt with the DUT. The
	// bypass stays.
	Reset(ctx context.Context, settings []setting.Setting) (Applied, error)
	// Settle waits until the DUT has forwarded or dropped all it was sent.
	Settle(ctx context.Context) error
	Close() error
}

// Applied reports what a Reset did, outside the measured time.
type Applied struct {
	Seconds float64  `json:"seconds"`         // how long applying took
	Digest  string   `json:"digest"`          // SHA-256 of what the DUT was set to
	Notes   []string `json:"notes,omitempty"` // e.g. rules loaded, in how many batches
	// ReadBack is what the DUT said of each setting after the reset, where it
	// was asked; NotTaken what it should have said and did not.
	ReadBack map[string]string `json:"read_back,omitempty"`
	NotTaken []string          `json:"not_taken,omitempty"`
	Boot     *Boot             `json:"boot,omitempty"` // where the reset was one
}

// Boot is a reboot of the DUT that was proven by another boot's name.
type Boot struct {
	Before   string  `json:"before"` // names of the boots
	Boot     string  `json:"boot"`
	Seconds  float64 `json:"seconds"`           // until it was online
	Attempts int     `json:"attempts"`          // 1 is a reboot that ended at once
	Powered  int     `json:"powered,omitempty"` // how often by power
}

// Counters of the DUT's two interfaces, in packets since the reset.
type Counters struct {
	Received  uint64 `json:"received"`
	Forwarded uint64 `json:"forwarded"`
	Dropped   uint64 `json:"dropped"`
}

// ErrUnavailable says that this testbed cannot apply a setting, and why.
type ErrUnavailable struct {
	Setting string
	Reason  string
	Help    string // what would make it available; "" where nothing is known to
}

func (e *ErrUnavailable) Error() string {
	if e.Help != "" {
		return e.Setting + ": " + e.Reason + "; " + e.Help
	}
	return e.Setting + ": " + e.Reason
}

// Needs says what a kernel needs for something: a module of it, or to be built
// with one of its options.
func Needs(module, option string) string {
	return fmt.Sprintf("load the module %s (modprobe %[1]s), or boot a kernel built with %s", module, option)
}

// Telemeter is a Bed whose DUT has counters and sensors.
type Telemeter interface {
	// Telemetry reads them: counters of a kind grow, gauges stand somewhere.
	Telemetry(ctx context.Context) (Telemetry, error)
}

// Telemetry is what a DUT says of itself at a moment, by name.
type Telemetry struct {
	Counters map[string]float64
	Gauges   map[string]float64 // °C, MHz
}

// Since is by how much each counter grew that did, and where the gauges stand.
func (t Telemetry) Since(before Telemetry) map[string]float64 {
	out := map[string]float64{}
	for name, v := range t.Counters {
		if d := v - before.Counters[name]; d > 0 { // one that went back was set anew meanwhile
			out[name] = d
		}
	}
	for name, v := range t.Gauges {
		out[name] = v
	}
	return out
}
