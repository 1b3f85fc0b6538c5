package client

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Conn is a connection that is closed with its run. One goroutine at a time may use
// what Conn adds to net.TCPConn.
type Conn struct {
	*net.TCPConn
	release func() bool
	raw     syscall.RawConn
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
