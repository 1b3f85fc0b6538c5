package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load"
)

// MaxSources is how many addresses a load may come from.
const MaxSources = 65_536

// ParseSources reads addresses, ranges and prefixes separated by commas.
func ParseSources(s string) ([]netip.Addr, error) {
	var out []netip.Addr
	for part := range strings.SplitSeq(s, ",") {
		first, span, err := load.ParseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		if len(out)+span > MaxSources {
			return nil, hint.Usagef("source addresses %q: at most %d", s, MaxSources)
		}
		for a := first; span > 0; span-- {
			out = append(out, a)
			a = a.Next()
		}
	}
	return out, nil
}

// Enter takes the calling goroutine to where sockets are to be made (a network
// namespace), until leave. Names are not resolved there.
type Enter func() (leave func() error, err error)

// Dialer makes the connections of one run, to one address.
type Dialer struct {
	Address string          // resolved once: names are not what is measured
	ctx     context.Context // ends the run and all its connections
	sources []netip.Addr
	enter   Enter
	next    atomic.Uint64
	in, out atomic.Uint64
}

// NewDialer resolves a host. Connections take the sources in turn; without any
// the system chooses. Without enter sockets are made where the caller is.
func NewDialer(ctx context.Context, host, port string, sources []netip.Addr, enter Enter) (*Dialer, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", host, err)
	}
	to, err := reachable(addrs, sources)
	if err != nil {
		return nil, err
	}
	d := &Dialer{ctx: ctx, Address: net.JoinHostPort(to.String(), port), sources: sources, enter: enter}
	return d, d.there(func() error { return ownSources(sources) })
}

// Bytes are those of all connections so far.
func (d *Dialer) Bytes() (in, out uint64) { return d.in.Load(), d.out.Load() }

// Within is a context that ends at a time, and with the run.
func (d *Dialer) Within(deadline time.Time) (context.Context, context.CancelFunc) {
	return context.WithDeadline(d.ctx, deadline)
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

// TCP connects from the next source address.
func (d *Dialer) TCP(ctx context.Context) (_ *Conn, err error) {
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
	c, err := n.DialContext(ctx, "tcp", d.Address)
	if err != nil {
		return nil, err
	}
	t := c.(*net.TCPConn) // of a dialled "tcp"
	counting := &Conn{TCPConn: t, d: d}
	if counting.raw, err = t.SyscallConn(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	counting.release = context.AfterFunc(d.ctx, func() { t.Close() })
	return counting, nil
}

// leavingAfter leaves once the socket is made, which then stays where it was
// made, so that the wait for an answer happens elsewhere. A second socket, which net makes
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
func (d *Dialer) there(f func() error) error {
	if d.enter == nil {
		return f()
	}
	leave, err := d.enter()
	if err != nil {
		return err
	}
	return errors.Join(f(), leave())
}
