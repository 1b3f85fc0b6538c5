package main

import (
	"fmt"
	"io"

	"linerate/internal/testbed"
	"linerate/internal/testbed/jailbed"
)

const (
	labShort = "build and remove the testbed of jails by hand"
	labLong  = `A lab is three vnet jails on this machine, linerate-NAME (the generator), and
within it the DUT and the receiver, joined by epair(4): gen0 → dut0,
dut1 → sink0, and gen1 → sink1 without a DUT between. Studies build and remove their own labs; this one is for experiments by hand.`
)

// namedLab is one that outlives the command that made it.
type namedLab = jailbed.Lab

var listLabs, downLab, sweepLabs, upLab = jailbed.Labs, jailbed.Down, jailbed.Sweep, jailbed.UpNamed

// labModes are those that a named lab can have.
func labModes() []testbed.Mode { return []testbed.Mode{testbed.Overload} }

// labRooms are the lab's namespaces, or its jails.
func labRooms(l namedLab) (namespaces, jails []string) { return nil, l.Jails() }

// labState is a lab's mode, and how far it is built.
func labState(namedLab) (mode, state string) { return string(testbed.Overload), "up" }

func printLab(w io.Writer, l jailbed.Lab, d testbed.Description) {
	j := l.Jails()
	fmt.Fprintf(w, "lab %s is up (%s)\n\n", l.Name, d.Label)
	fmt.Fprintf(w, "  %-22s gen0  198.18.0.1/16       2001:2::1/64\n", j[0])
	fmt.Fprintf(w, "  %-22s dut0  198.18.255.254/16   2001:2::ffff:fffe/64\n", j[1])
	fmt.Fprintf(w, "  %-22s dut1  198.19.255.254/16   2001:2:0:1::ffff:fffe/64\n", "")
	fmt.Fprintf(w, "  %-22s sink0 198.19.0.1/16       2001:2:0:1::1/64\n\n", j[2])
	for _, m := range d.Missing {
		fmt.Fprintf(w, "  this kernel lacks: %s\n", m)
	}
	fmt.Fprintf(w, "\nTry:\n  jexec %s linerate load receive --dev sink0 --time 7s &\n", j[2])
	fmt.Fprintf(w, "  jexec %s linerate load send --dev gen0 --dst-mac 02:00:00:00:00:02 --src 198.18.0.1 --dst 198.19.0.1 --flows 2000 --size 64 --rate max --seconds 5\n", j[0])
	fmt.Fprintf(w, "  linerate lab down %s\n", l.Name)
}
