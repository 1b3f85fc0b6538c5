package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"linerate/internal/hint"
	"linerate/internal/testbed"
	"linerate/internal/testbed/netnsbed"
)

const (
	labShort = "build and remove the namespace testbed by hand"
	labLong  = `A lab is three network namespaces on this machine, NAME-gen, NAME-dut and
NAME-sink, joined by veth pairs: gen0 → dut0, dut1 → sink0, and gen1 → sink1
without a DUT between. Studies build and remove their own labs; this one is for experiments by hand.`
)

// namedLab is one that outlives the command that made it.
type namedLab = netnsbed.Lab

var listLabs, downLab, sweepLabs = netnsbed.Labs, netnsbed.Down, netnsbed.Sweep

// labModes are those that a named lab can have.
func labModes() []testbed.Mode { return []testbed.Mode{testbed.Cost, testbed.Overload} }

// labRooms are the lab's namespaces, or its jails.
func labRooms(l namedLab) (namespaces, jails []string) { return l.Namespaces(), nil }

// labState is a lab's mode, and how far it is built.
func labState(l namedLab) (mode, state string) {
	if !l.Persistent {
		return l.Mode, "being built"
	}
	return l.Mode, "up"
}

func upLab(_ context.Context, name string, mode testbed.Mode) (namedLab, testbed.Description, error) {
	if netnsbed.NeedsUserNamespace() {
		return namedLab{}, testbed.Description{}, hint.With(errors.New("a lab that outlives its command needs root"),
			"sudo linerate lab up; without root, linerate demo builds its own lab")
	}
	return netnsbed.UpNamed(name, mode)
}

func printLab(w io.Writer, l netnsbed.Lab, d testbed.Description) {
	ns := l.Namespaces()
	fmt.Fprintf(w, "lab %s is up (%s)\n\n", l.Name, d.Label)
	fmt.Fprintf(w, "  %-12s gen0  198.18.0.1/16       2001:2::1/64      → %s\n", ns[0], ns[1])
	fmt.Fprintf(w, "  %-12s dut0  198.18.255.254/16   2001:2::ffff:fffe/64\n", ns[1])
	fmt.Fprintf(w, "  %-12s dut1  198.19.255.254/16   2001:2:0:1::ffff:fffe/64\n", "")
	fmt.Fprintf(w, "  %-12s sink0 198.19.0.1/16       2001:2:0:1::1/64\n\n", ns[2])
	for _, n := range d.Notes {
		fmt.Fprintf(w, "  %s\n", n)
	}
	for _, m := range d.Missing {
		fmt.Fprintf(w, "  this kernel lacks: %s\n", m)
	}
	fmt.Fprintf(w, "\nTry:\n  ip netns exec %s linerate load receive --dev sink0 --time 7s &\n", ns[2])
	fmt.Fprintf(w, "  ip netns exec %s linerate load send --dev gen0 --dst-mac 02:00:00:00:00:02 --src 198.18.0.1 --dst 198.19.0.1 --flows 2000 --size 64 --rate max --time 5s --cpu %d\n", ns[0], d.CPUs.Generator)
	fmt.Fprintf(w, "  linerate lab down %s\n", l.Name)
}
