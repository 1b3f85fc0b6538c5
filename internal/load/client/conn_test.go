package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"
)

// pair is a connection of a Dialer's, and its other end.
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

// TestADeadlineThatIsPutOffHolds: the poller is told of one deadline for many
// requests, and a request has its own whole time nevertheless.
func TestADeadlineThatIsPutOffHolds(t *testing.T) {
	c, far, _ := pair(t)
	first, second := time.Now().Add(30*time.Millisecond), time.Now().Add(time.Hour)
	if err := errors.Join(c.Until(first, 4*time.Hour), c.Until(second, 4*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if c.armed != first {
		t.Error("the poller was told of the second deadline too")
	}
	go func() {
		time.Sleep(100 * time.Millisecond)
		_, _ = io.WriteString(far, "late but welcome")
	}()
	b := make([]byte, 100)
	if n, err := c.Read(b); err != nil || string(b[:n]) != "late but welcome" {
		t.Errorf("%q, %v", b[:n], err)
	}
	if err := c.Until(time.Now().Add(20*time.Millisecond), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("nobody answers: %v", err)
	}
}

func TestBytesAreCounted(t *testing.T) {
	c, far, d := pair(t)
	go func() { _, _ = io.Copy(far, far) }()
	b := make([]byte, 10)
	if _, err := c.Write([]byte("four")); err != nil {
		t.Fatal(err)
	}
	if n, err := io.ReadFull(c, b[:4]); err != nil || string(b[:n]) != "four" {
		t.Fatalf("%q, %v", b[:n], err)
	}
	if in, out := d.Bytes(); in != 4 || out != 4 {
		t.Errorf("%d bytes in, %d out", in, out)
	}
}
