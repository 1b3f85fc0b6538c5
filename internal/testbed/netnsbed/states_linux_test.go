package netnsbed

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"linerate/internal/drop"
	"linerate/internal/knob"
	"linerate/internal/labtest"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// flood sends datagrams from a bed's generator to the receiver, one to each of ports destination ports
// from each of sockets sockets: sockets × ports flows.
func flood(t *testing.T, b *Bed, sockets, ports int) {
	t.Helper()
	g, r := b.DUT().Generator, b.DUT().Receiver
	for range sockets {
		var c *net.UDPConn
		if err := g.In(func() (err error) {
			c, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(g.IPv4.Addr(), 0)))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for p := range ports {
			_, err := c.WriteToUDPAddrPort(make([]byte, 8), netip.AddrPortFrom(r.IPv4.Addr(), uint16(1+p)))
			if err != nil && !errors.Is(err, syscall.ENOBUFS) && !errors.Is(err, syscall.ECONNREFUSED) {
				t.Fatal(err)
			}
		}
		c.Close()
	}
}

// counted returns what a bed counted while f ran.
func counted(t *testing.T, b *Bed, f func()) drop.Counters {
	t.Helper()
	before, err := b.DUT().AllDrops()
	if err != nil {
		t.Fatal(err)
	}
	f()
	time.Sleep(50 * time.Millisecond)
	after, err := b.DUT().AllDrops()
	if err != nil {
		t.Fatal(err)
	}
	return after.Since(before)
}

// TestWhyStatesEnd exhausts a connection table in known ways, and checks that the counters show which.
func TestWhyStatesEnd(t *testing.T) {
	labtest.Need(t)
	if _, err := os.Stat("/proc/sys/net/netfilter/nf_conntrack_max"); err != nil {
		labtest.Lacking(t, "no connection tracking: %v", err)
	}
	stateful := setting.Setting{Mechanism: setting.Firewall, Rules: &setting.Rules{Stateful: true}}
	host := func(name, value string) setting.Setting {
		return setting.Setting{Mechanism: setting.Sysctl, Name: "net.netfilter." + name, Value: value}
	}
	const most = 5000
	for _, c := range []struct {
		name     string
		settings []setting.Setting
		sockets  int
		check    func(drop.Counters) bool
	}{
		{"room for all", []setting.Setting{stateful}, 1, func(c drop.Counters) bool {
			return c[drop.States] > 15_000 && c[drop.StateObjectBytes] > 15_000*100 && c["conntrack.early_drop"]+c["conntrack.drop"] == 0
		}},
		{"the table is full", []setting.Setting{stateful, host("nf_conntrack_max", "5000")}, 1, func(c drop.Counters) bool {
			return c[drop.States] <= most+100 && c["conntrack.early_drop"]+c["conntrack.drop"] > 10_000
		}},
		{"chains are too long", []setting.Setting{stateful, host("nf_conntrack_buckets", "512")}, 5, func(c drop.Counters) bool {
			return c["conntrack.chain_too_long"] > 0 && c["conntrack.early_drop"] == 0
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := up(t, Options{Mode: testbed.Cost, AllowHostSettings: true})
			if _, err := b.Reset(context.Background(), c.settings); err != nil {
				t.Fatal(err)
			}
			if got := counted(t, b, func() { flood(t, b, c.sockets, 20_000) }); !c.check(got) {
				t.Errorf("counted %v", got)
			}
		})
	}
}

// TestQueueOverflow: frames that overflow a slow router's ring are counted there.
func TestQueueOverflow(t *testing.T) {
	labtest.Need(t)
	b := up(t, Options{Mode: testbed.Overload})
	if _, err := b.Reset(context.Background(), []setting.Setting{{Mechanism: setting.Firewall, Rules: &setting.Rules{Linear: 5000}}}); err != nil {
		t.Fatal(err)
	}
	// A veth with segmentation offload lets packets of sockets bypass its ring.
	if err := b.gen.do(func() error { return knob.SetOffload(genPort.Device, "tso", false) }); err != nil {
		t.Fatal(err)
	}
	const n = 60_000
	got := counted(t, b, func() { flood(t, b, 3, n/3) })
	a := drop.Attribute(n, n-got["generator.output_drops"], 0, got)
	if a.Percent(drop.IngressQueue) < 1 || a.Percent(drop.Conntrack) > 0 {
		t.Errorf("%+v of %v", a, got)
	}
}
