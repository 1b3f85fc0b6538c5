package client

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Conn is a connection whose bytes are counted, closed with its run. One goroutine
// at a time may use what Conn adds to net.TCPConn.
type Conn struct {
	*net.TCPConn
	d       *Dialer
	release func() bool
	raw     syscall.RawConn
}

// Read and Write count.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	c.d.in.Add(uint64(n))
	return n, err
}

func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.TCPConn.Write(p)
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
