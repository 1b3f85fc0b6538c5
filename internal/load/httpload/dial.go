package httpload

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
)

// dialer makes the connections of one run, to one address.
type dialer struct {
	ctx     context.Context // ends the run and all its connections
	address string          // resolved once: names are not what is measured
	sources []netip.Addr
	enter   func() (func() error, error)
	tls     *tls.Config // nil without TLS
	next    atomic.Uint64
	in, out atomic.Uint64
}

func newDialer(ctx context.Context, s *Spec) (*dialer, error) {
	u := s.Targets[0].URL
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil, hint.With(fmt.Errorf("resolve %s: %w", u.Hostname(), err), "give the server's address in the URL, and its name as a header: %s", hint.Option("header", "'Host: NAME'"))
	}
	to, err := reachable(addrs, s.Sources)
	if err != nil {
		return nil, err
	}
	d := &dialer{ctx: ctx, address: net.JoinHostPort(to.String(), port), sources: s.Sources, enter: s.Enter}
	if err := d.there(func() error { return ownSources(s.Sources) }); err != nil {
		return nil, err
	}
	if u.Scheme == "https" {
		// No session cache: every connection pays a whole handshake.
		d.tls = &tls.Config{ServerName: serverName(s), InsecureSkipVerify: s.Insecure, RootCAs: s.Roots, NextProtos: []string{"http/1.1"}}
	}
	return d, nil
}

// serverName is whom a certificate is to be of.
func serverName(s *Spec) string {
	if h := s.Header.Get("Host"); h != "" {
		if host, _, err := net.SplitHostPort(h); err == nil {
			return host
		}
		return h
	}
	return s.Targets[0].URL.Hostname()
}

// reachable is the first address of the sources' IP version.
func reachable(addrs, sources []netip.Addr) (netip.Addr, error) {
	for _, a := range addrs {
		if a = a.Unmap(); len(sources) == 0 || a.Is4() == sources[0].Is4() {
			return a, nil
		}
	}
	return netip.Addr{}, hint.Usagef("the server has no address of the IP version of %s", sources[0])
}

// ownSources refuses addresses that this machine cannot send from, before
// they look like a shortage of ports.
func ownSources(sources []netip.Addr) error {
	for _, a := range sources {
		c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
		if err != nil {
			return hint.With(fmt.Errorf("send from %s: %w", a, err), "give the addresses to an interface first (ip addr add %s/32 dev lo, ifconfig lo0 alias %s)", a, a)
		}
		c.Close()
	}
	return nil
}

// tcp connects from the next source address.
func (d *dialer) tcp(ctx context.Context) (_ *counted, err error) {
	n := net.Dialer{KeepAlive: -1, Control: latePort}
	if d.enter != nil {
		leave, err := d.enter()
		if err != nil {
			return nil, err
		}
		n.Control, leave = leavingAfter(leave)
		defer func() { err = errors.Join(err, leave()) }()
	}
	if len(d.sources) > 0 {
		a := d.sources[(d.next.Add(1)-1)%uint64(len(d.sources))]
		n.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 0))
	}
	c, err := n.DialContext(ctx, "tcp", d.address)
	if err != nil {
		return nil, err
	}
	t := c.(*net.TCPConn) // of a dialled "tcp"
	counting := &counted{TCPConn: t, d: d}
	counting.release = context.AfterFunc(d.ctx, func() { t.Close() })
	return counting, nil
}

// leavingAfter leaves once the socket is made, which then stays where it was
// made: nobody waits for an answer there. A second socket, which net makes
// after some errors, would be made elsewhere, and is refused. The other
// function leaves if no socket was made.
func leavingAfter(leave func() error) (control func(string, string, syscall.RawConn) error, otherwise func() error) {
	left := false
	otherwise = func() error {
		if left {
			return nil
		}
		left = true
		return leave()
	}
	control = func(network, address string, c syscall.RawConn) error {
		if left {
			return syscall.EADDRNOTAVAIL
		}
		return errors.Join(latePort(network, address, c), otherwise())
	}
	return control, otherwise
}

// there runs f where sockets are made.
func (d *dialer) there(f func() error) error {
	if d.enter == nil {
		return f()
	}
	leave, err := d.enter()
	if err != nil {
		return err
	}
	return errors.Join(f(), leave())
}

// counted is a connection whose bytes are counted, closed with its run.
type counted struct {
	*net.TCPConn
	d       *dialer
	release func() bool
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	c.d.in.Add(uint64(n))
	return n, err
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.TCPConn.Write(p)
	c.d.out.Add(uint64(n))
	return n, err
}

func (c *counted) Close() error {
	c.release()
	return c.TCPConn.Close()
}

// dead tells whether the server has closed an idle connection: it then reads
// as ended, or has something to say though it was asked nothing.
func (c *counted) dead() bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	var one [1]byte
	gone := false
	err = raw.Read(func(fd uintptr) bool {
		_, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		gone = err != unix.EAGAIN
		return true
	})
	return gone || err != nil
}
