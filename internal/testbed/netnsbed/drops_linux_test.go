package netnsbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"reflect"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/drop"
	"linerate/internal/labtest"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// sender sends UDP datagrams from a bed's generator.
type sender struct {
	to   netip.Addr // zero: the receiver
	ttl  int
	size int
}

func (s sender) send(t *testing.T, b *Bed, n int) {
	t.Helper()
	g := b.DUT().Generator
	to := s.to
	if !to.IsValid() {
		to = b.DUT().Receiver.IPv4.Addr()
	}
	var c *net.UDPConn
	err := g.In(func() (err error) {
		if c, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(g.IPv4.Addr(), 0))); err != nil {
			return err
		}
		raw, err := c.SyscallConn()
		if err != nil {
			return err
		}
		var set error
		err = raw.Control(func(fd uintptr) {
			// Set DF, whatever path MTU is known.
			set = errors.Join(unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TTL, cmp.Or(s.ttl, 64)),
				unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE))
		})
		return errors.Join(err, set)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range n {
		_, err := c.WriteToUDPAddrPort(make([]byte, max(8, s.size)), netip.AddrPortFrom(to, 9))
		if err != nil && !errors.Is(err, syscall.ENOBUFS) && !errors.Is(err, syscall.EHOSTUNREACH) {
			t.Fatal(err)
		}
	}
}

// dropRule is a firewall with a rule that drops, and counts if asked.
const dropRule = `table ip f {
	chain forward { type filter hook forward priority filter; udp dport 9 %s drop; }
}`

func nft(text string) setting.Setting {
	return setting.Setting{Mechanism: setting.NFT, Rules: &setting.Rules{Text: text}}
}

// TestDropsOfKnownCause drops frames in known ways, and checks where the account says they were dropped.
func TestDropsOfKnownCause(t *testing.T) {
	labtest.Need(t)
	blackhole := setting.Setting{Mechanism: setting.Route, Name: "198.19.7.0/24", Value: "blackhole"}
	command := func(argv ...string) setting.Setting { return setting.Setting{Mechanism: setting.Command, Argv: argv} }
	for _, c := range []struct {
		name     string
		settings []setting.Setting
		send     sender
		counted  drop.Place
		some     bool // not all frames are dropped
	}{
		{name: "arrives", counted: drop.Delivered},
		{name: "TTL 1", send: sender{ttl: 1}, counted: drop.TTL},
		{name: "no route", settings: []setting.Setting{command("ip", "route", "add", "throw", "198.19.7.0/24")}, send: sender{to: netip.MustParseAddr("198.19.7.1")}, counted: drop.Route},
		{name: "blackhole", settings: []setting.Setting{blackhole}, send: sender{to: netip.MustParseAddr("198.19.7.1")}, counted: drop.Unknown},
		{name: "rule that counts", settings: []setting.Setting{nft(fmt.Sprintf(dropRule, "counter"))}, counted: drop.Firewall},
		{name: "rule that does not", settings: []setting.Setting{nft(fmt.Sprintf(dropRule, ""))}, counted: drop.Unknown},
		{name: "rp_filter", settings: []setting.Setting{command("ip", "route", "add", "198.18.0.1/32", "dev", "dut1"), {Mechanism: setting.Sysctl, Name: "net.ipv4.conf.all.rp_filter", Value: "1"}}, counted: drop.Route},
		{name: "too big", settings: []setting.Setting{{Mechanism: setting.Link, Name: "mtu", Value: "600", Device: "egress"}}, send: sender{size: 900}, counted: drop.Other},
		{name: "no neighbour", settings: []setting.Setting{command("ip", "route", "add", "198.19.7.0/24", "dev", "dut1")}, send: sender{to: netip.MustParseAddr("198.19.7.1")}, counted: drop.Route, some: true},
		{name: "qdisc", settings: []setting.Setting{command("tc", "qdisc", "add", "dev", "dut1", "root", "tbf", "rate", "8kbit", "burst", "2kb", "limit", "2kb")}, counted: drop.Qdisc, some: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range c.settings {
				switch s.Mechanism {
				case setting.Command:
					labtest.Program(t, s.Argv[0])
				case setting.NFT:
					labtest.Program(t, "nft")
				}
			}
			b := up(t, Options{Mode: testbed.Cost})
			if _, err := b.Reset(context.Background(), c.settings); err != nil {
				t.Fatal(err)
			}
			silence(t, b)
			const n = 500
			counted, arrived := watch(t, b, func() { c.send.send(t, b, n) })
			a := drop.Attribute(n, arrived, 0, counted)
			if got := a.At(c.counted); got != n && !(c.some && got > n/3) || a.Excess > 0 {
				t.Errorf("%d of %d ended at %q: %+v\n%v", got, n, c.counted, a, counted)
			}
		})
	}
}

// silence prevents the bed's machines from sending IPv6 packets of their own, which would be counted.
func silence(t *testing.T, b *Bed) {
	t.Helper()
	for _, ns := range []*namespace{b.gen, b.dut.dut.first, b.sink} {
		err := ns.do(func() error { return os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	time.Sleep(50 * time.Millisecond) // wait for packets in flight
}

// watch returns what was counted while f ran, and how many packets the receiver's device received.
func watch(t *testing.T, b *Bed, f func()) (counted drop.Counters, arrived uint64) {
	t.Helper()
	read := func() (drop.Counters, uint64) {
		c, err := b.DUT().AllDrops()
		if err != nil {
			t.Fatal(err)
		}
		n, err := b.DUT().Counters()
		if err != nil {
			t.Fatal(err)
		}
		return c, n.Forwarded
	}
	before, was := read()
	f()
	after, is := read()
	for still := 0; still < 5; still++ { // packets in flight are counted late on a busy machine
		time.Sleep(40 * time.Millisecond)
		c, n := read()
		if !reflect.DeepEqual(c, after) || n != is {
			still = -1
		}
		after, is = c, n
	}
	return after.Since(before), is - was
}
