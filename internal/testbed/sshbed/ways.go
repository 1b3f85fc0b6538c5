package sshbed

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/port"
	"linerate/internal/testbed"
)

// way is a path through the DUT: its ends, and the DUT's own interfaces.
type way struct {
	testbed.Way
	in, out string
}

// towards returns the DUT's interface that faces an outer end.
func (w way) towards(p port.Port) string {
	if p.Side == port.GeneratorSide {
		return w.in
	}
	return w.out
}

// ports reads the ends of every wire.
func (b *Bed) ports(ctx context.Context) error {
	for _, p := range b.o.File.Paths() {
		w, err := b.path(ctx, p)
		if err != nil {
			return err
		}
		b.ways = append(b.ways, w)
	}
	w := b.o.File.Bypass()
	if w == nil {
		return nil
	}
	g, err := PortOf(ctx, b.o.Generator, w.Start().Interface)
	if err != nil {
		return err
	}
	r, err := PortOf(ctx, b.o.Receiver, w.Finish().Interface)
	b.bypass = [2]port.Port{outer(port.GeneratorSide, g, w.FromIPv4, w.FromIPv6), outer(port.ReceiverSide, r, w.ToIPv4, w.ToIPv6)}
	b.bypass[0].Peer, b.bypass[1].Peer = r.MAC, g.MAC
	return err
}

// path reads the outer ends of a way, and finds the MAC addresses to which their
// frames must be sent.
func (b *Bed) path(ctx context.Context, p testbed.Path) (way, error) {
	w := way{in: p.In.Finish().Interface, out: p.Out.Start().Interface}
	g, err := PortOf(ctx, b.o.Generator, p.In.Start().Interface)
	if err != nil {
		return w, err
	}
	r, err := PortOf(ctx, b.o.Receiver, p.Out.Finish().Interface)
	if err != nil {
		return w, err
	}
	w.Generator = outer(port.GeneratorSide, g, p.In.FromIPv4, p.In.FromIPv6)
	w.Receiver = outer(port.ReceiverSide, r, p.Out.ToIPv4, p.Out.ToIPv6)
	if b.o.DUT == nil {
		return w, b.hops(ctx, &w)
	}
	in, err := PortOf(ctx, b.dut(), w.in)
	if err != nil {
		return w, err
	}
	out, err := PortOf(ctx, b.dut(), w.out)
	w.Generator.Peer, w.Receiver.Peer = in.MAC, out.MAC
	if !in.AtOnce || !out.AtOnce {
		b.still = slowCounters
	}
	return w, err
}

// hops finds these addresses if the DUT is inaccessible, as the kernels of the outer
// ends do. The way back may have none; only studies with both directions need it.
func (b *Bed) hops(ctx context.Context, w *way) error {
	to := w.Receiver.IPv4.Addr()
	if !to.IsValid() {
		return hint.With(fmt.Errorf("the receiver's interface %s has no IPv4 address", w.Receiver.Device), "give it one, or say to_ipv4: in the testbed's file")
	}
	var err error
	if w.Generator.Peer, err = b.hop(ctx, b.o.Generator, w.Generator.Device, to); err != nil {
		return err
	}
	if err := b.notAround(*w, to); err != nil {
		return err
	}
	if from := w.Generator.IPv4.Addr(); from.IsValid() {
		// BothWays checks whether there is one.
		if w.Receiver.Peer, _ = b.hop(ctx, b.o.Receiver, w.Receiver.Device, from); slices.ContainsFunc([]port.Port{w.Generator, w.Receiver}, owns(w.Receiver.Peer)) {
			w.Receiver.Peer = nil
		}
	}
	return nil
}

// owns returns a function that reports whether a port has an address.
func owns(mac net.HardwareAddr) func(port.Port) bool {
	return func(p port.Port) bool { return bytes.Equal(p.MAC, mac) }
}

// notAround refuses a way whose next hop is the receiver, or the generator itself:
// such frames pass no router, if they pass the DUT at all.
func (b *Bed) notAround(w way, to netip.Addr) error {
	if !slices.ContainsFunc([]port.Port{w.Generator, w.Receiver}, owns(w.Generator.Peer)) {
		return nil
	}
	err := fmt.Errorf("from %s the way to %s leads to %s, which is the testbed's own interface, not the DUT's: frames would arrive without the DUT", w.Generator.Name(), to, w.Generator.Peer)
	if b.o.File.OneOuter() {
		return hint.With(err, "%s", inOneTable)
	}
	return hint.With(err, "are both wires on one switch, or is one cable plugged into both ends? Give each wire its own VLAN or cable, and let the generator's route to %s lead by an address of the DUT. A DUT that bridges is not measured here: nothing proves that it is in the way", to.Unmap())
}

// inOneTable is advice for a kernel that knows a direct way from one port to
// the other.
const inOneTable = "generator and receiver are ports of one machine, whose kernel delivers to its own addresses directly: put the receiver's port into a network namespace, name it (namespace:), and give the generator a route there by the DUT"

// hop returns the MAC address to which a device sends frames for an IP address.
func (b *Bed) hop(ctx context.Context, c Conn, device string, to netip.Addr) (net.HardwareAddr, error) {
	out, err := ask(ctx, c, nil, "hop", device, to.String())
	if err != nil {
		return nil, err
	}
	mac, err := net.ParseMAC(strings.TrimSpace(out))
	if err != nil {
		err = fmt.Errorf("no host answers on the path from %s to %s", device, to)
		if b.o.File.OneOuter() {
			return nil, hint.With(err, "%s", inOneTable)
		}
		return nil, hint.With(err, "is there a route to it by the DUT on that machine, and the DUT up? ping %s from there", to)
	}
	return mac, nil
}

// outer returns a port of the generator or receiver; addresses in the file
// take precedence over the interface's own.
func outer(side port.Side, p Port, v4, v6 string) port.Port {
	t := port.Port{Side: side, In: port.Here, Device: p.Device, MAC: p.MAC, IPv4: p.IPv4, IPv6: p.IPv6}
	if a, err := netip.ParsePrefix(v4); err == nil {
		t.IPv4 = a
	}
	if a, err := netip.ParsePrefix(v6); err == nil {
		t.IPv6 = a
	}
	return t
}

// DUT returns the machine, with all ways through it.
func (b *Bed) DUT() testbed.Arm {
	ways := list.Map(b.ways, func(w way) testbed.Way { return w.Way })
	return testbed.Arm{Way: ways[0], More: ways[1:], Counters: b.counters}
}

// BothWays makes the counters cover both directions (testbed.Duplex): the wires
// carry both, and each outer end can generate and receive.
func (b *Bed) BothWays(on bool) error {
	if on && b.o.File.Traffic.Tool == testbed.ToolPktGen {
		return &testbed.ErrUnavailable{Setting: "directions: both", Reason: "whether two pkt-gens can share an interface is not known; linerate's own generator sends both ways"}
	}
	for _, w := range b.ways {
		if on && w.Receiver.Peer == nil {
			return &testbed.ErrUnavailable{Setting: "directions: both", Reason: fmt.Sprintf("no host answers on the path back from %s to %s", w.Receiver.Device, w.Generator.IPv4.Addr())}
		}
	}
	b.both = on
	return nil
}

// devices returns the DUT's interfaces of a role; without a role, one called "".
func (b *Bed) devices(role string) (list []string) {
	if role != "ingress" && role != "egress" {
		return []string{""}
	}
	for _, w := range b.ways {
		if role == "ingress" {
			list = append(list, w.in)
		} else {
			list = append(list, w.out)
		}
	}
	return list
}

// counted reads the DUT's counters of all interfaces that carry traffic.
func (b *Bed) counted(ctx context.Context) (testbed.Counters, error) {
	in, out := b.devices("ingress"), b.devices("egress")
	if b.both {
		in, out = append(in, out...), append(out, in...)
	}
	return countersOf(ctx, b.dut(), in, out)
}
