package main

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"linerate/internal/labtest"
	"linerate/internal/setting"
)

const strict = "net/ipv4/conf/all/rp_filter"

// TestSilentLogIsStopped: visitors' packets arrive on one link and are answered on another, so a
// strict reverse-path filter drops all of them. No request reaches the log any more while other
// packets still arrive; the missing requests must stop the study, and the visitors are served again.
func TestSilentLogIsStopped(t *testing.T) {
	t.Parallel()
	p := newProduction(t)
	p.calm()
	from := p.asymmetric()
	for range 8 {
		p.callers(from)
	}
	p.others()
	said := p.harm(strict, "net.ipv4.conf.all.rp_filter=1", "log:"+accessLog)
	if !strings.Contains(said, "guardrail: looks without a request in") && !strings.Contains(said, "guardrail: time between requests in") {
		t.Errorf("stopped by another guardrail: %s", said)
	}
	begin := time.Now()
	if !labtest.Eventually(func() bool { return p.call(from) == nil }) {
		t.Errorf("visitors still get no answer %s after the study", time.Since(begin))
	}
}

// asymmetric gives visitors an address that the host answers over another link.
func (p *production) asymmetric() netip.Addr {
	p.t.Helper()
	from := netip.MustParseAddr("198.19.77.2")
	inServer, inClients := p.site.Server, p.site.Clients
	// A process in the server's namespace, by which ip(8) can name that namespace.
	there := exec.Command("sleep", "3600")
	if err := inServer(there.Start); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = there.Process.Kill(); _ = there.Wait() })
	run := func(in func(func() error) error, argv string) {
		p.t.Helper()
		words := strings.Fields(argv)
		cmd := exec.Command(words[0], words[1:]...)
		if err := in(func() error {
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			return err
		}); err != nil {
			p.t.Fatalf("%s: %v", argv, err)
		}
	}
	run(inClients, fmt.Sprintf("ip link add back0 type veth peer name back1 netns %d", there.Process.Pid))
	run(inClients, "ip link set back0 up")
	run(inClients, "ip addr add 198.19.77.2/32 dev lo")
	run(inServer, "ip link set back1 up")
	run(inServer, "ip addr add 198.19.78.1/30 dev back1")
	run(inClients, "ip addr add 198.19.78.2/30 dev back0")
	run(inServer, "ip route add 198.19.77.2/32 via 198.19.78.2 dev back1")
	p.set(strict, "0")
	for _, name := range []string{"all", "back0", "gen0"} {
		if err := inClients(func() error { return os.WriteFile("/proc/sys/net/ipv4/conf/"+name+"/rp_filter", []byte("0"), 0) }); err != nil {
			p.t.Fatal(err)
		}
	}
	return from
}

// call makes one request over a new connection.
func (p *production) call(from netip.Addr) error {
	return p.site.Clients(func() error {
		d := net.Dialer{Timeout: 2 * time.Second, LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))}
		conn, err := d.Dial("tcp", netip.AddrPortFrom(p.site.Address, setting.HTTPPort).String())
		if err != nil {
			return err
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		if _, err := fmt.Fprintf(conn, "HEAD %s HTTP/1.1\r\nHost: www\r\nConnection: close\r\n\r\n", setting.ObjectPath(objectSize)); err != nil {
			return err
		}
		_, err = conn.Read(make([]byte, 1))
		return err
	})
}

// callers make about five requests a second until the test ends.
func (p *production) callers(from netip.Addr) {
	p.until(func() {
		_ = p.call(from) // on an error, try again
		time.Sleep(200 * time.Millisecond)
	})
}

// others sends packets that keep arriving whatever happens to the visitors' traffic.
func (p *production) others() {
	var conn net.Conn
	if err := p.site.Clients(func() (err error) {
		conn, err = net.Dial("udp", netip.AddrPortFrom(p.site.Address, 9).String())
		return err
	}); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	p.until(func() {
		_, _ = conn.Write(make([]byte, 100)) // no listener: the packet is rejected
		time.Sleep(2 * time.Millisecond)
	})
}

// until calls a function repeatedly until the test ends.
func (p *production) until(do func()) {
	quit, over := make(chan struct{}), make(chan struct{})
	p.t.Cleanup(func() { close(quit); <-over })
	go func() {
		defer close(over)
		for {
			select {
			case <-quit:
				return
			default:
				do()
			}
		}
	}()
}
