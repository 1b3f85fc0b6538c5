package main

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/host/sshhost/sshtest"
	"linerate/internal/labtest"
	"linerate/internal/port"
	"linerate/internal/server"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// Settings of the gateway's firewall.
const (
	conntrackMax   = "net/netfilter/nf_conntrack_max"
	conntrackCount = "net/netfilter/nf_conntrack_count"
	conntrackLoose = "net/netfilter/nf_conntrack_tcp_loose"
	// stateful is its ruleset: packets of no known connection are dropped.
	stateful = "add table ip f; add chain ip f forward { type filter hook forward priority 0; }; add rule ip f forward ct state invalid drop"
	// silent makes a machine send no RST to unexpected packets.
	silent = "add table ip f; add chain ip f out { type filter hook output priority 0; }; add rule ip f out tcp flags rst drop"
)

// newGateway is a router with a stateful firewall in front of a real nginx, and a real sshd on
// it. Its firewall does not pick up connections in mid-stream (nf_conntrack_tcp_loose=0), and
// its connection table is nine tenths full.
func newGateway(t *testing.T) *production {
	t.Helper()
	labtest.Namespaces(t)
	b := labtest.NewBench(t)
	in := func(namespace string) port.Place {
		return func(f func() error) error { return b.In(namespace, f) }
	}
	www := netip.MustParseAddr("198.19.0.1")
	p := &production{t: t, dir: t.TempDir(), site: testbed.Site{Clients: in(b.Generator), Server: in(b.DUT), Address: www, Sources: []netip.Addr{netip.MustParseAddr("198.18.0.1")}}}
	for namespace, rules := range map[string]string{b.Generator: silent, b.DUT: stateful, b.Receiver: silent} {
		b.Run(t, namespace, "nft", rules)
	}
	p.set("net/netfilter/nf_conntrack_checksum", "0") // the scan's packets have no checksums
	box, err := server.NewBox(in(b.Receiver))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	if _, err := box.StartWeb(t.Context(), setting.Web{Sizes: []int{1000}}, www); err != nil {
		labtest.Lacking(t, "no web server here: %v", err)
	}
	p.ssh = sshtest.Start(t, sshtest.Options{Namespace: b.DUT, Listen: "198.18.255.254", Env: []string{"LINERATE_ROOT=" + t.TempDir(), "LINERATE_INIT=none"}})
	next := 0
	scan := p.scan(in(b.Receiver))
	for limit := p.number(conntrackMax); p.number(conntrackCount) < limit*9/10; {
		before := p.number(conntrackCount)
		if scan(&next, 1000); p.number(conntrackCount) <= before {
			t.Fatalf("the table stays at %d of %d", before, limit)
		}
	}
	p.set(conntrackLoose, "0")
	// The scan stops just short of a full table, above the guardrail's limit: a busy machine may
	// read the count only after the scan is over.
	last := p.number(conntrackMax) * 99 / 100
	p.scanning(func() {
		if p.number(conntrackCount) < last {
			scan(&next, 50)
		}
	})
	return p
}

func (p *production) number(name string) int {
	p.t.Helper()
	n, err := strconv.Atoi(p.get(name))
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	return n
}

// scan sends ACKs that belong to no connection, and their answers: a firewall that picks up
// connections in mid-stream takes each for an established one.
func (p *production) scan(server port.Place) func(next *int, n int) {
	client, www := p.site.Sources[0], p.site.Address
	out, back := p.raw(p.site.Clients), p.raw(server)
	const low, ports = 1024, 64000
	return func(next *int, n int) {
		for _, way := range []struct {
			socket int
			to     netip.Addr
			flip   bool
		}{{out, www, false}, {back, client, true}} {
			for i := *next; i < *next+n; i++ {
				from, to := uint16(low+i%ports), uint16(9000+i/ports%100)
				if way.flip {
					from, to = to, from
				}
				_ = unix.Sendto(way.socket, ack(from, to), 0, &unix.SockaddrInet4{Addr: way.to.As4()}) // lost if the queue is full; more follow
			}
		}
		*next += n
	}
}

// ack returns a TCP ACK segment without data.
func ack(from, to uint16) []byte {
	s := make([]byte, 20)
	binary.BigEndian.PutUint16(s, from)
	binary.BigEndian.PutUint16(s[2:], to)
	binary.BigEndian.PutUint32(s[4:], 1)
	binary.BigEndian.PutUint32(s[8:], 1)
	s[12], s[13] = 5<<4, 0x10 // data offset in words; flag ACK
	binary.BigEndian.PutUint16(s[14:], 1000)
	return s
}

// raw opens a raw socket in a place's namespace.
func (p *production) raw(in port.Place) (fd int) {
	p.t.Helper()
	if err := in(func() (err error) {
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
		return err
	}); err != nil {
		p.t.Fatalf("make a raw socket: %v", err)
	}
	p.t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}

// scanning scans some thousand ports per second until the test ends.
func (p *production) scanning(some func()) {
	quit, over := make(chan struct{}), sync.WaitGroup{}
	p.t.Cleanup(func() { close(quit); over.Wait() })
	over.Go(func() {
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-quit:
				tick.Stop()
				return
			case <-tick.C:
				some()
			}
		}
	})
}

// TestFullTableIsStopped: a firewall that picks up connections in mid-stream lets a scan fill
// its table. A guardrail must stop the study and restore the firewall's setting. The table's
// limit itself is read-only in a namespace.
func TestFullTableIsStopped(t *testing.T) {
	t.Parallel()
	p := newGateway(t)
	before := p.number(conntrackCount)
	said := p.harm(conntrackLoose, "net.netfilter.nf_conntrack_tcp_loose=1", "probe:http://198.19.0.1"+setting.ObjectPath(1000))
	at, limit := p.number(conntrackCount), p.number(conntrackMax)
	t.Logf("%d of %d conntrack entries, %d before", at, limit, before)
	if !strings.Contains(said, "guardrail: connection table in use") {
		t.Errorf("%d of %d conntrack entries, %d before, and no guardrail on the table: %s", at, limit, before, said)
	}
}
