package client

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

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
