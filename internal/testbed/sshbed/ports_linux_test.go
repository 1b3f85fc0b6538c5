package sshbed

import (
	"context"
	"strings"
	"testing"

	"linerate/internal/hint"
	"linerate/internal/testbed"
)

// unreached returns the options of a bench whose DUT has no login. With one, generator and receiver
// are the same machine.
func (b *bench) unreached(t testing.TB, one bool) Options {
	o := b.options(t)
	o.DUT.Close()
	o.DUT, o.File.Hosts.DUT = nil, nil
	if one {
		o.Receiver, o.File.Hosts.Receiver = b.conn(t, testbed.Generator), o.File.Hosts.Generator
	}
	return o
}

// TestWayByTheDUT: if the DUT has no login, the frames' destination MAC must be the DUT's, or nothing is
// measured.
func TestWayByTheDUT(t *testing.T) {
	b := newBench(t)
	on := func(namespace, command string) { b.Run(t, namespace, "sh", "-c", command) }
	dut := strings.TrimSpace(b.Run(t, b.DUT, "cat", "/sys/class/net/dut0/address"))
	o := b.unreached(t, false)
	o.File.Wires = o.File.Wires[:2]
	ways := func(what, want, advice string) {
		t.Helper()
		bed, err := Up(context.Background(), o)
		if err != nil {
			if want == "" || !strings.Contains(err.Error(), want) || !strings.Contains(hint.Of(err), advice) {
				t.Errorf("%s: %v (hint %q), want %q", what, err, hint.Of(err), want)
			}
			return
		}
		if peer := bed.DUT().Generator.Peer.String(); peer != dut || want != "" {
			t.Errorf("%s: frames to %s, the DUT is %s; want %q", what, peer, dut, want)
		}
		if err := bed.Close(); err != nil {
			t.Error(err)
		}
	}
	ways("a route by the DUT", "", "")
	on(b.Generator, "ip route del 198.19.0.0/16; ip route add 198.19.0.0/16 dev gen0")
	ways("nobody there", "no host answers on the path from gen0 to 198.19.0.1", "a route to it by the DUT")
	on(b.DUT, "sysctl -qw net.ipv4.conf.dut0.proxy_arp=1; ip neigh flush all")
	on(b.Generator, "ip neigh flush dev gen0")
	ways("a DUT that answers for what is behind it", "", "")
	on(b.DUT, "sysctl -qw net.ipv4.conf.dut0.proxy_arp=0; ip link add br0 type bridge; ip link set dut0 master br0; ip link set dut1 master br0; ip link set br0 up")
	on(b.Generator, "ip neigh flush dev gen0")
	on(b.Receiver, "ip neigh flush dev rx0")
	ways("both wires in one bridge", "the testbed's own interface, not the DUT's", "one switch")

	// Both ports use one routing table.
	on(b.DUT, "ip link set dut0 nomaster; ip link set dut1 nomaster; ip link del br0")
	b.Run(t, b.Receiver, "ip", "link", "set", "rx0", "netns", b.Generator)
	on(b.Generator, "ip addr add 198.19.0.1/16 dev rx0; ip link set rx0 up; ip neigh flush dev gen0; ip route del 198.19.0.0/16 dev gen0")
	o = b.unreached(t, true)
	o.File.Wires = o.File.Wires[:2]
	ways("no route but the kernel's own", "no host answers on the path from gen0 to 198.19.0.1", "into a network namespace")
	on(b.Generator, "ip route add 198.19.0.0/16 via 198.18.255.254 dev gen0 metric 10")
	ways("a route by the DUT beside it", "", "")
	on(b.DUT, "ip link add br0 type bridge; ip link set dut0 master br0; ip link set dut1 master br0; ip link set br0 up")
	on(b.Generator, "ip route del 198.19.0.0/16 via 198.18.255.254; sysctl -qw net.ipv4.conf.all.accept_local=1; ip neigh flush dev gen0")
	ways("both in one bridge", "the testbed's own interface, not the DUT's", "into a network namespace")
}
