package client

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is a connection whose bytes are counted, closed with its run. One goroutine
// at a time may use what Conn adds to net.TCPConn.
type Conn struct {
	*net.TCPConn
	d       *Dialer
	release func() bool
	raw     syscall.RawConn

	// until is when the request ends, armed the deadline that the kernel's
	// poller has been told of.
	until, armed time.Time
}

// Until sets the deadline of the next reads and writes, at a timeout from now. To
// set the poller's timer costs as much as a small request, so it is set once in
// half a timeout, and again when it goes off before its time.
func (c *Conn) Until(t time.Time, timeout time.Duration) error {
	c.until = t
	if later := t.Sub(c.armed); later >= 0 && later <= timeout/2 {
		return nil
	}
	return c.arm()
}

func (c *Conn) arm() error {
	c.armed = c.until
	return c.SetDeadline(c.until)
}

// early tells whether the poller's deadline went off before the request's, and
// sets it anew.
func (c *Conn) early(err error) bool {
	return err != nil && c.armed.Before(c.until) && errors.Is(err, os.ErrDeadlineExceeded) && c.arm() == nil
}

// Read and Write count.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	for n == 0 && c.early(err) {
		n, err = c.TCPConn.Read(p)
	}
	c.d.in.Add(uint64(n))
	return n, err
}

func (c *Conn) Write(p []byte) (n int, err error) {
	n, err = c.TCPConn.Write(p)
	for c.early(err) {
		var more int
		more, err = c.TCPConn.Write(p[n:])
		n += more
	}
	c.d.out.Add(uint64(n))
	return n, err
}

// Close ends the connection before its run does.
func (c *Conn) Close() error {
	c.release()
	return c.TCPConn.Close()
}

// Dead tells whether the server has closed an idle connection: it then reads
// as ended, or has something to say though it was asked nothing.
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
