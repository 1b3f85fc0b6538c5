package jailbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"linerate/internal/wait"

	"linerate/internal/cputime"
	"linerate/internal/hint"
	"linerate/internal/knob"
	"linerate/internal/port"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// Options of a testbed.
type Options struct {
	Mode testbed.Mode // "" means Cost
	// AllowHostSettings allows variants to change settings that are global to
	// the kernel; they are journalled and restored.
	AllowHostSettings bool
	// Helper is the command that opens a port inside a jail (Serve); the
	// Order and the socket's number are appended.
	Helper []string
}

// Bed is a testbed of jails that is up (testbed.Bed).
type Bed struct {
	options Options
	life    *os.File // nothing is written to it; when it closes, all holders end
	held    *os.File // the other end of life, which holders read
	gen     *jail    // parent of all other jails; lives as long as the bed
	sink    *jail
	dut     *armJail          // rebuilt by every Reset
	journal *knob.HostSysctls // nil: host settings may not be changed
	arms    []*armJail
	raised  int // number of DUTs so far
}

var _ testbed.Multi = (*Bed)(nil)

// mover is the kernel thread that passes frames from one end of an epair to
// the network stack of the other: it does all of a DUT's work (if_epair.c),
// unless net.isr.dispatch makes it queue them for netisr(9).
const mover = "epair_task"

// moving are the threads that do the work of the DUTs and the receiver.
var moving = []string{mover, cputime.NetISR}

// beds counts the labs of this process.
var beds atomic.Int32

// Up builds a testbed. It first removes what dead labs left behind.
func Up(ctx context.Context, o Options) (*Bed, error) {
	o.Mode = cmp.Or(o.Mode, testbed.Cost)
	if o.Mode == testbed.Overload && runtime.NumCPU() < 2 {
		return nil, hint.With(errors.New("mode overload needs two CPUs: one offers, one forwards"), "mode cost works on one CPU")
	}
	if err := Needed(); err != nil {
		return nil, err
	}
	if err := Sweep(); err != nil {
		return nil, err
	}
	b := &Bed{options: o}
	if o.AllowHostSettings {
		var err error
		if b.journal, err = knob.OpenHostSysctls(stateDir); err != nil {
			return nil, err
		}
	}
	err := b.build(ctx, owned(os.Getpid(), int(beds.Add(1))))
	if err == nil {
		_, err = b.Reset(ctx, nil)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// childrenMost is the largest number of jails in a lab: DUTs, hops, the receiver.
const childrenMost = 64

// build creates the jails that outlive resets, and the bypass.
func (b *Bed) build(ctx context.Context, name string) error {
	var err error
	if b.held, b.life, err = os.Pipe(); err != nil {
		return err
	}
	if b.gen, err = b.jailed(name, childrenMost); err != nil {
		return err
	}
	if b.sink, err = b.jailed(name+".sink", 0); err != nil {
		return err
	}
	for _, j := range []*jail{b.gen, b.sink} {
		if _, err := j.run(ctx, sysctls(quietFrom)...); err != nil {
			return err
		}
	}
	return b.bypass(ctx, genBypass, sinkBypass)
}

// jailed creates a jail that ends with this process.
func (b *Bed) jailed(name string, children int) (*jail, error) {
	j, err := create(name, children)
	if err != nil {
		return nil, err
	}
	if err := j.hold(b.held); err != nil {
		return nil, errors.Join(err, j.remove())
	}
	return j, nil
}

// wire connects device a in one jail to b in another by an epair. The pair is
// created in the generator's jail, the parent of the others, so that no network
// stack outside the lab ever sees it. A nil jail is the generator's.
func (b *Bed) wire(ctx context.Context, a end, in *jail, z end, to *jail) error {
	id := func(j *jail) string {
		if j == nil {
			return ""
		}
		return fmt.Sprint(j.id)
	}
	_, err := b.gen.run(ctx, "/bin/sh", "-c", newEpair, "epair", a.Device, id(in), z.Device, id(to))
	if err != nil {
		return fmt.Errorf("join %s and %s by an epair: %w", a.Device, z.Device, err)
	}
	return nil
}

// bypass connects generator and receiver directly.
func (b *Bed) bypass(ctx context.Context, from, to end) error {
	if err := b.wire(ctx, from, nil, to, b.sink); err != nil {
		return err
	}
	return b.hush(ctx, from, to)
}

// hush brings up two ends that only engines use.
func (b *Bed) hush(ctx context.Context, from, to end) error {
	return errors.Join(b.gen.all(ctx, quiet(from)), b.sink.all(ctx, quiet(to)))
}

// Describe says what the numbers of this testbed represent.
func (b *Bed) Describe() testbed.Description {
	return testbed.Description{Kind: testbed.KindJails, Label: Label, Mode: b.options.Mode, Privileged: true,
		CPUs: b.cpus(), Notes: b.notes()}
}

// cpus returns the placement: the generator has the first CPU to itself, as far
// as the scheduler allows. The kernel thread is not pinned; it avoids that CPU
// while another is free. Pinning it would affect every epair on the machine.
func (b *Bed) cpus() testbed.CPUs { return testbed.CPUs{Generator: 0, DUT: -1, Receiver: -1} }

func (b *Bed) notes() []string {
	how := "mode cost: a slice's time is the CPU time that the kernel counts of its thread " + mover +
		", which takes every frame through the DUT to the receiver, and of netisr's, which has frames queued by net.isr.dispatch"
	if b.options.Mode == testbed.Overload {
		how = "mode overload: the generator runs on CPU 0; the kernel's thread " + mover + ", not pinned, takes every frame through the DUT to the receiver"
	}
	return []string{how, "one thread serves all epairs of the machine: other jails' traffic is in its time"}
}

// DUT returns the DUT that Reset made. Frames that found a full queue before it are
// the generator's loss, and show as sent minus received.
func (b *Bed) DUT() testbed.Arm { return b.dut.describe(b, testbed.Applied{}, nil) }

// Bypass returns the wire from generator to receiver without a DUT.
func (b *Bed) Bypass() (generator, receiver port.Port, err error) {
	return portOn(genBypass, end{}, sinkBypass), portOn(sinkBypass, end{}, genBypass), nil
}

// portOn describes an end. Code cannot enter a jail: it runs where it is, and
// engines open what they need through the bed's Door.
func portOn(own, as, peer end) port.Port {
	return port.Port{In: port.Here, Device: own.Device, MAC: own.MAC, Peer: peer.MAC, IPv4: as.IPv4, IPv6: as.IPv6}
}

// Reset replaces the DUT by a new one, then applies settings. If a setting is
// unavailable, it leaves the DUT as new.
func (b *Bed) Reset(ctx context.Context, settings []setting.Setting) (testbed.Applied, error) {
	return testbed.OrAsNew(ctx, settings, b.renew)
}

// renew replaces the DUT's jails and their wires.
func (b *Bed) renew(ctx context.Context, settings []setting.Setting) (testbed.Applied, error) {
	if err := b.clear(); err != nil {
		return testbed.Applied{}, err
	}
	b.dut = &armJail{gen: genPort, sink: sinkPort}
	return b.raise(ctx, b.dut, testbed.Settings{Settings: settings}, b.journal)
}

// Settle waits until the thread that moves the frames has been idle for 20 ms.
func (b *Bed) Settle(ctx context.Context) error { return wait.Still(ctx, Spent) }

// Spent returns the CPU time that the DUTs and the receiver have used, once
// they are idle.
func Spent() (time.Duration, error) { return cputime.Spent(moving...) }

// thread returns the kernel thread that does the DUT's work in mode overload, else 0.
func (b *Bed) thread() int {
	if b.options.Mode != testbed.Overload {
		return 0
	}
	for tid := range cputime.KernelThreads(mover) {
		return tid
	}
	return 0
}

// Close removes the testbed.
func (b *Bed) Close() error {
	if b.gen == nil && b.life == nil {
		return nil
	}
	err := errors.Join(b.clear(), b.sink.remove(), b.gen.remove())
	err = errors.Join(err, b.journal.Close())
	b.journal = nil
	b.life.Close()
	b.held.Close()
	b.gen, b.sink, b.life = nil, nil, nil
	return err
}
