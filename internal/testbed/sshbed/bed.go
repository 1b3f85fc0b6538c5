// Package sshbed is the testbed of real machines: a DUT that is changed and
// rebooted over SSH, between a generator and a receiver. Every change goes
// through apply's journal with its dead-man's switch, so that the DUT is
// restored when the study ends, is interrupted, or its controller dies.
package sshbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"linerate/internal/wait"

	"linerate/internal/apply"
	"linerate/internal/hint"
	"linerate/internal/plan"
	"linerate/internal/port"
	"linerate/internal/testbed"
)

// Label is printed with every number from a testbed whose machines are not known to
// be virtual; PortsLabel if the DUT is inaccessible.
const (
	Label      = "real machines over SSH"
	PortsLabel = "a DUT that is not reached, between two ports of other machines"
)

// How trials are made independent.
const (
	Settings = "settings" // restore and apply settings
	Services = "services" // and restart the testbed's services
	Reboot   = "reboot"   // and boot
)

// Options of a testbed.
type Options struct {
	File testbed.File
	// DUT, Generator and Receiver are connections to the machines; DUT is nil
	// if the file has none. The bed closes them.
	DUT, Generator, Receiver Conn
	// Reset is how trials are made independent; "" is Settings.
	Reset string
	// Window is the dead-man's switch: how long the DUT stays changed without
	// a sign of life from the controller. It must exceed any trial.
	Window time.Duration
	// Owner names who holds the testbed, a plain word: the same for a study
	// and its resumption.
	Owner string
	// Tree returns the files of a configuration set, given its name in a
	// variant.
	Tree func(name string) ([]plan.File, error)
	// Line returns the command line that a user types for a verb (rollback,
	// status) on the DUT; nil is apply's.
	Line func(verb string) string
	// Local runs a command from the testbed's file on this machine.
	Local func(ctx context.Context, argv []string) error
	// Say is called for reboots and anything else that takes time; nil is silent.
	Say func(format string, args ...any)

	inject string // shell functions that override others of the same name, for tests
	poll   time.Duration
	answer time.Duration // how long a DUT that may be going down may take to answer
	// silence is how long a DUT under load may take to report its counters.
	silence time.Duration
}

// Bed is a testbed that is up (testbed.Bed).
type Bed struct {
	o      Options
	m      apply.Machine
	lock   io.ReadWriteCloser
	id     Identity
	ways   []way
	both   bool // both directions are used and counted
	bypass [2]port.Port
	base   testbed.Counters
	still  time.Duration // how long counters must not change to be at rest
	// pending is the current transaction on the DUT; past are earlier ones, to be forgotten.
	pending string
	past    []string
	// booted is set if this boot has read, or may have read, settings of a variant.
	booted  bool
	closed  bool
	reboots int
	slowest float64 // longest boot so far, in seconds
}

// Up locks the testbed and inspects it. It reverts a DUT that a dead controller of the same
// owner left changed, and refuses one that another owner left changed.
func Up(ctx context.Context, o Options) (*Bed, error) {
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	o.poll = cmp.Or(o.poll, 2*time.Second)
	o.answer = cmp.Or(o.answer, 20*time.Second)
	o.silence = cmp.Or(o.silence, 3*time.Minute)
	o.Reset = cmp.Or(o.Reset, Settings)
	if o.Line == nil && o.DUT != nil {
		o.Line = func(verb string) string { return apply.Line(verb, o.DUT.Where()) }
	}
	b := &Bed{o: o, still: quickCounters}
	err := b.up(ctx)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Bed) up(ctx context.Context) error {
	if b.o.DUT != nil {
		if err := b.take(ctx); err != nil {
			return err
		}
	}
	return b.ports(ctx)
}

// take locks the DUT. When a study that boots it is resumed, the DUT may be in
// the middle of a boot: take then waits for it.
func (b *Bed) take(ctx context.Context) error {
	return b.await(ctx, "", func() (final bool, err error) {
		final, err = b.takeOnce(ctx)
		return final || b.o.Reset != Reboot, err
	})
}

// await retries something for which the DUT must be up, for as long as a boot may take.
func (b *Bed) await(ctx context.Context, why string, try func() (final bool, err error)) error {
	return Await(ctx, time.Duration(b.o.File.Reboot.Wait), b.o.poll, try, func(err error, wait time.Duration) {
		b.o.Say("%s does not answer (%v): waiting for it, up to %s%s", b.o.DUT.Where(), err, wait, why)
	})
}

// takeOnce tries once; final errors are not due to the connection.
func (b *Bed) takeOnce(ctx context.Context) (final bool, err error) {
	if b.id, err = b.identify(ctx, b.o.answer); err != nil {
		return false, err
	}
	if b.id.UID != 0 {
		return true, hint.With(fmt.Errorf("%s: changing it needs root", b.o.DUT.Where()), "log in as root, or say become: sudo (or doas) for the DUT in the testbed's file")
	}
	if b.lock != nil { // from the previous attempt
		b.lock.Close()
	}
	if b.lock, err = hold(ctx, b.o.DUT, b.o.Owner); err != nil {
		return errors.Is(err, ErrHeld), hint.With(err, "wait until that study ends; a controller that died lets go when its connection does, or at the DUT's next boot")
	}
	b.m = apply.OnWith(b.o.DUT, apply.Script(b.o.inject))
	return b.leftover(ctx)
}

// dut returns the DUT, with a test's overrides.
func (b *Bed) dut() Conn { return injected{b.o.DUT, b.o.inject} }

// injected runs bed.sh with functions inserted before its last line.
type injected struct {
	Conn
	before string
}

func (c injected) Run(ctx context.Context, script string, args []string, stdin []byte) ([]byte, error) {
	if c.before != "" {
		script = strings.Replace(script, "\n\"$@\"\n", "\n"+c.before+"\n\"$@\"\n", 1)
	}
	return c.Conn.Run(ctx, script, args, stdin)
}

// leftover reverts what a controller that died left, if it was this owner's.
func (b *Bed) leftover(ctx context.Context) (final bool, err error) {
	b.pending = ""
	st, err := b.m.Status(ctx)
	if err != nil {
		return false, err
	}
	out, err := ask(ctx, b.dut(), nil, "prepared")
	if err != nil {
		return false, err
	}
	if strings.TrimSpace(out) == "borrowed" && b.o.Reset != Reboot {
		return true, hint.With(fmt.Errorf("%s runs an image booted by a study that no longer exists", b.o.DUT.Where()), "resume that study, or wait until the machine reboots itself, as its window says")
	}
	b.booted = b.booted || out != "" && b.o.Reset == Reboot
	own := b.digestOf(nil)[:len(digestKind)+ownerDigits]
	b.past = append(b.past, b.own(st)...) // reverted while nobody observed it
	switch {
	case st.State == "idle":
		return false, b.forget(ctx)
	case !strings.HasPrefix(st.Digest, own):
		what := "another study's variant"
		if !strings.HasPrefix(st.Digest, digestKind) {
			what = "a plan that is not confirmed yet"
		}
		return true, hint.With(fmt.Errorf("%s holds %s (%s)", b.o.DUT.Where(), what, st.ID), "it reverts itself in %d s; %s reverts it now", st.Left, b.o.Line("rollback"))
	}
	b.o.Say("%s still has a variant of this study: putting it back", b.o.DUT.Where())
	b.pending, b.booted = st.ID, b.o.Reset == Reboot
	return false, b.putBack(ctx, "the study continues")
}

// Describe says what the numbers of this testbed represent.
func (b *Bed) Describe() testbed.Description {
	d := testbed.Description{Kind: testbed.KindSSH, Label: Label, Mode: testbed.Overload, Privileged: true,
		CPUs: testbed.CPUs{Generator: -1, DUT: -1, Receiver: -1}}
	if b.o.DUT == nil {
		d.Kind, d.Label = testbed.KindPorts, PortsLabel
		d.Notes = append(d.Notes, "without access to the DUT its counters and settings are unknown; the forwarded frames are those that arrived")
		return d
	}
	d.Notes = append(d.Notes, fmt.Sprintf("DUT %s: %s %s %s, clock %s; reset: %s", b.o.DUT.Where(), b.id.OS, b.id.Release, b.id.Arch, b.id.Clock, b.o.Reset),
		fmt.Sprintf("generator %s, receiver %s, by %s", b.o.Generator.Where(), b.o.Receiver.Where(), b.o.File.Traffic.Tool))
	return d
}

// Bypass returns the wire without a DUT, if the testbed has one.
func (b *Bed) Bypass() (generator, receiver port.Port, err error) {
	if b.o.File.Bypass() == nil {
		return generator, receiver, &testbed.ErrUnavailable{Setting: "a chain without DUT", Reason: "no wire leads from generator to receiver"}
	}
	return b.bypass[0], b.bypass[1], nil
}

// How long counters must not change to be at rest: some NICs update theirs only
// about once a second.
const (
	slowCounters  = time.Second
	quickCounters = 100 * time.Millisecond
)

// Settle waits until the DUT's counters no longer change.
func (b *Bed) Settle(ctx context.Context) error {
	if b.o.DUT == nil {
		return nil
	}
	return wait.Quiet(ctx, min(b.still, b.o.poll), 15*time.Second, b.counters, quiet)
}

// quiet allows for unsolicited frames.
func quiet(a, b testbed.Counters) bool {
	const chatter = 20
	return b.Received-a.Received <= chatter && b.Forwarded-a.Forwarded <= chatter
}

// counters returns the DUT's counters since its reset.
func (b *Bed) counters() (testbed.Counters, error) {
	if b.o.DUT == nil {
		return testbed.Counters{}, nil
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), b.o.silence, fmt.Errorf("its counters did not come in %s", b.o.silence))
	defer cancel()
	c, err := b.counted(ctx)
	if err != nil {
		return c, err
	}
	return testbed.Counters{Received: c.Received - b.base.Received, Forwarded: c.Forwarded - b.base.Forwarded, Dropped: c.Dropped - b.base.Dropped}, nil
}

// patience is how long the DUT's restoration may take after the study's context is done.
const patience = 3 * time.Minute

// Close restores the DUT, boots it if a boot had read settings of a variant,
// and unlocks it.
func (b *Bed) Close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	var err error
	if b.lock != nil {
		wait := patience + time.Duration(b.o.File.Reboot.Attempts)*time.Duration(b.o.File.Reboot.Wait)
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		err = b.goodbye(ctx)
		b.lock.Close()
	}
	for _, c := range []Conn{b.o.DUT, b.o.Generator, b.o.Receiver} {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// goodbye restores the DUT. If it was interrupted in the middle of a boot, goodbye
// waits for it.
func (b *Bed) goodbye(ctx context.Context) error {
	err := b.await(ctx, ", to leave it as it was", func() (final bool, err error) {
		return b.o.Reset != Reboot, b.putAllBack(ctx)
	})
	if err == nil {
		return nil
	}
	return hint.Left(hint.With(fmt.Errorf("%s could not be restored from here: %w", b.o.DUT.Where(), err), "its dead-man's switch does so within %s of its last change, if it is up; %s tells whether it has", b.o.Window, b.o.Line("status")))
}

func (b *Bed) putAllBack(ctx context.Context) error {
	err := b.putBack(ctx, "the study is over")
	if err == nil && b.booted {
		b.o.Say("booting %s, so that it runs as it was", b.o.DUT.Where())
		_, err = b.boot(ctx, nil)
	}
	if err != nil {
		return err
	}
	b.booted = false // another failure is no reason to boot again
	_, err = ask(ctx, b.dut(), nil, "leave")
	return err
}
