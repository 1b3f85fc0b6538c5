package sshbed

import (
	"net"
	"net/netip"
	"testing"

	"linerate/internal/port"
	"linerate/internal/testbed"
)

// TestWayBack: a return path that bypasses the DUT is refused, and the forward path is kept.
func TestWayBack(t *testing.T) {
	mac := func(s string) net.HardwareAddr {
		m, err := net.ParseMAC(s)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	const dut, generator, receiver = "02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03"
	for _, c := range []struct{ answers, want string }{{dut, dut}, {generator, ""}, {receiver, ""}, {"", ""}} {
		b := &Bed{o: Options{Generator: saying{answer: dut + "\n"}, Receiver: saying{answer: c.answers + "\n"}}}
		w := way{Way: testbed.Way{
			Generator: port.Port{Device: "gen0", MAC: mac(generator), IPv4: netip.MustParsePrefix("198.18.0.1/16")},
			Receiver:  port.Port{Device: "rx0", MAC: mac(receiver), IPv4: netip.MustParsePrefix("198.19.0.1/16")},
		}}
		if err := b.hops(t.Context(), &w); err != nil || w.Generator.Peer.String() != dut || w.Receiver.Peer.String() != c.want {
			t.Errorf("%q answers for the way back: %v there, %v back, %v; want %q", c.answers, w.Generator.Peer, w.Receiver.Peer, err, c.want)
		}
	}
}
