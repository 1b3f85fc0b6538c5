package client

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Enter moves the calling goroutine to the network namespace in which to
// create sockets, until leave is called.
type Enter func() (leave func() error, err error)

// Dialer makes the connections of one run to one address.
type Dialer struct {
	address string
	ctx     context.Context // its end closes all connections of the run
	sources []netip.Addr
	enter   Enter
	next    atomic.Uint64
}

// NewDialer returns a Dialer for an address. Connections rotate through the sources; without
// any, the system chooses. Without enter, sockets are created in the caller's namespace.
func NewDialer(ctx context.Context, to netip.AddrPort, sources []netip.Addr, enter Enter) *Dialer {
	return &Dialer{ctx: ctx, address: to.String(), sources: sources, enter: enter}
}

// Within returns a context that ends at the deadline or with the run.
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
	t := c.(*net.TCPConn) // dialling "tcp" returns this type
	conn := &Conn{TCPConn: t}
	if conn.raw, err = t.SyscallConn(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	conn.release = context.AfterFunc(d.ctx, func() { t.Close() })
	return conn, nil
}

// leavingAfter returns a control function that calls leave as soon as the socket exists,
// which then stays in its namespace while the wait for an answer happens elsewhere. The
// net package creates a second socket after some errors; that would be in the wrong
// namespace, so it is refused. The other function calls leave if no socket was created.
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

// Conn is a connection that is closed at the end of its run. Its methods beyond
// those of net.TCPConn must not be called concurrently.
type Conn struct {
	*net.TCPConn
	release func() bool
	raw     syscall.RawConn
}

// Close closes the connection before its run ends.
func (c *Conn) Close() error {
	c.release()
	return c.TCPConn.Close()
}

// Dead reports whether the server has closed an idle connection: reading
// returns EOF, or data although nothing was requested.
func (c *Conn) Dead() bool {
	var one [1]byte
	gone := false
	err := c.raw.Read(func(fd uintptr) bool {
		_, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		gone = err != unix.EAGAIN
		return true
	})
	return gone || err != nil
}
