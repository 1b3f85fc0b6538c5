package client

import (
	"context"
	"net"
	"net/netip"
	"testing"
)

// pair returns a connection of a Dialer, and its other end.
func pair(t *testing.T) (*Conn, *net.TCPConn, *Dialer) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := NewDialer(t.Context(), netip.MustParseAddrPort(l.Addr().String()), nil, nil)
	c, err := d.TCP(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); far.Close() })
	return c, far.(*net.TCPConn), d
}
