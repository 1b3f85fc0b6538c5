package client

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"
)

// Enter takes the calling goroutine to where sockets are to be made (a network
// namespace), until leave.
type Enter func() (leave func() error, err error)

// Dialer makes the connections of one run, to one address.
type Dialer struct {
	address string
	ctx     context.Context // ends the run and all its connections
	sources []netip.Addr
	enter   Enter
	next    atomic.Uint64
}

// NewDialer connects to an address. Connections take the sources in turn; without any
// the system chooses. Without enter sockets are made where the caller is.
func NewDialer(ctx context.Context, to netip.AddrPort, sources []netip.Addr, enter Enter) *Dialer {
	return &Dialer{ctx: ctx, address: to.String(), sources: sources, enter: enter}
}

// Within is a context that ends at a time, and with the run.
func (d *Dialer) Within(deadline time.Time) (context.Context, context.CancelFunc) {
	return context.WithDeadline(d.ctx, deadline)
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
	c, err := n.DialContext(ctx, "tcp", d.address)
	if err != nil {
		return nil, err
	}
	t := c.(*net.TCPConn) // of a dialled "tcp"
	conn := &Conn{TCPConn: t}
	if conn.raw, err = t.SyscallConn(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	conn.release = context.AfterFunc(d.ctx, func() { t.Close() })
	return conn, nil
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
