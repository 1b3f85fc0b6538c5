// Package netnsbed is the testbed on one Linux machine: a generator, a DUT
// and a receiver in three network namespaces, connected by veth pairs. Real
// packets pass the real kernel, but a veth is not a NIC, as every number
// states.
package netnsbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/knob"
	"linerate/internal/port"
	"linerate/internal/setting"
	"linerate/internal/testbed"
	"linerate/internal/wait"
)

// Label is printed with every number from namespaces.
const Label = "veth, not a NIC"

// Options of a testbed.
type Options struct {
	Mode testbed.Mode // "" means Cost
	// AllowHostSettings allows variants to change settings that are global to
	// the kernel; they are journalled and restored.
	AllowHostSettings bool
	// CPUs assigns the CPUs; nil lets the testbed choose.
	CPUs *testbed.CPUs
}

// Bed is a namespace testbed that is up (testbed.Bed).
type Bed struct {
	mode       testbed.Mode
	cpus       testbed.CPUs
	notes      []string
	host       *knob.HostSysctls
	gen, sink  *namespace // live as long as the bed
	arms       []*arm     // rebuilt by every Reset or Raise
	dut        *arm       // made by the last Reset
	raised     int        // number of arms so far
	privileged bool
	precedes   bool // takes precedence over other programs
	bothWays   bool // later DUTs accept traffic at their egress too
}

var _ testbed.Duplex = (*Bed)(nil)

// Up builds a testbed of anonymous namespaces, which the kernel removes with
// the process, however it ends. It first removes what dead labs left behind.
func Up(ctx context.Context, o Options) (*Bed, error) {
	if err := canNest(); err != nil {
		return nil, err
	}
	if err := Sweep(); err != nil {
		return nil, err
	}
	b := &Bed{mode: o.Mode, privileged: !InUserNamespace()}
	b.mode = cmp.Or(b.mode, testbed.Cost)
	if err := b.place(o.CPUs); err != nil {
		return nil, err
	}
	if o.AllowHostSettings {
		var err error
		if b.host, err = knob.OpenHostSysctls(registryDir()); err != nil {
			return nil, err
		}
	}
	if b.precedes = precede(); b.precedes {
		b.notes = append(b.notes, "linerate's threads and the DUT's precede other programs (nice −20)")
	}
	err := b.build()
	if err == nil {
		_, err = b.Reset(ctx, nil)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// build creates the namespaces that outlive resets, and the bypass.
func (b *Bed) build() (err error) {
	if b.gen, err = newNamespace(); err != nil {
		return err
	}
	if b.sink, err = newNamespace(); err != nil {
		return err
	}
	return wire(b.gen, genBypass, b.sink, sinkBypass)
}

// Describe says what the numbers of this testbed represent.
func (b *Bed) Describe() testbed.Description {
	return testbed.Description{Kind: testbed.KindNetns, Label: Label, Mode: b.mode, Privileged: b.privileged,
		CPUs: b.cpus, Notes: b.notes}
}

// DUT returns the DUT that Reset made. Dropped counts what its devices and
// stack dropped; frames lost on the wire to it (a full veth ring) are the
// generator's loss, and show as sent minus received.
func (b *Bed) DUT() testbed.Arm { return b.dut.describe(b, testbed.Applied{}, nil) }

// Bypass returns the wire from generator to receiver without a DUT.
func (b *Bed) Bypass() (generator, receiver port.Port, err error) {
	return portOn(b.gen, genBypass, sinkBypass), portOn(b.sink, sinkBypass, genBypass), nil
}

func portOn(ns *namespace, own, peer end) port.Port {
	return port.Port{In: ns.do, Device: own.Device, MAC: clone(own.MAC), Peer: clone(peer.MAC), IPv4: own.IPv4, IPv6: own.IPv6}
}

func clone(m net.HardwareAddr) net.HardwareAddr { return append(net.HardwareAddr(nil), m...) }

// Reset replaces the DUT by a new one, then applies settings. If a setting is
// unavailable, it leaves the DUT as new.
func (b *Bed) Reset(ctx context.Context, settings []setting.Setting) (testbed.Applied, error) {
	return testbed.OrAsNew(ctx, settings, b.renew)
}

// spare returns the CPUs available to the DUT: all but the generator's.
func (b *Bed) spare() (cpus []int) {
	for cpu := range runtime.NumCPU() {
		if cpu != b.cpus.Generator {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// renew replaces the DUT's namespace and its wires.
func (b *Bed) renew(ctx context.Context, settings []setting.Setting) (testbed.Applied, error) {
	if err := b.clear(); err != nil {
		return testbed.Applied{}, err
	}
	b.dut = single()
	return b.raise(ctx, b.dut, testbed.Settings{Settings: settings}, b.host)
}

// Settle waits until the DUT's counters have not changed for 20 ms.
func (b *Bed) Settle(ctx context.Context) error { return wait.Still(ctx, b.DUT().Counters) }

// BothWays lets frames redirected into the egress's wire arrive (testbed.Duplex).
// In mode cost one generator sends both directions alternately; an overloaded DUT
// would need two, each on its own CPU.
func (b *Bed) BothWays(on bool) error {
	if on && b.mode == testbed.Overload {
		return &testbed.ErrUnavailable{Setting: "directions: both", Reason: "namespaces have one generator in mode overload: two on one CPU would take turns of milliseconds; mode cost and testbeds of machines have both directions"}
	}
	b.bothWays = on
	return nil
}

// Close removes the testbed and restores what it changed.
func (b *Bed) Close() error {
	err := b.clear()
	b.gen.close()
	b.sink.close()
	err = errors.Join(err, b.host.Close())
	b.host = nil
	if b.precedes {
		yield()
		b.precedes = false
	}
	return err
}

// canNest returns why no namespace can be created, for the user.
func canNest() error {
	err := onThread(func() error { return unix.Unshare(unix.CLONE_NEWNET) })
	if errors.Is(err, unix.EPERM) {
		return hint.With(errors.New("no permission to create network namespaces"),
			"run as root or with sudo, or allow unprivileged user namespaces (kernel.unprivileged_userns_clone, user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns)")
	}
	if err != nil {
		return fmt.Errorf("make a network namespace: %w", err)
	}
	return nil
}

// registryDir is the directory with a journal for each lab that may change host
// settings, by which a later start recognises the leftovers of dead owners.
func registryDir() string {
	if os.Geteuid() == 0 && !InUserNamespace() {
		return "/run/linerate"
	}
	return filepath.Join(os.TempDir(), "linerate-"+strconv.Itoa(os.Getuid()))
}

// Sweep restores what dead owners changed on the host.
func Sweep() error { return knob.RestoreDead(registryDir()) }
