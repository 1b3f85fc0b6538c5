package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"linerate/internal/load/request"
)

// TestKinds: an error's kind depends on the stage of the request; a lack of local resources is the
// generator's at every stage.
func TestKinds(t *testing.T) {
	all := []Stage{Dialling, Securing, Waiting, Reading}
	wrap := func(err error) error { return &net.OpError{Op: "read", Err: os.NewSyscallError("read", err)} }
	for _, c := range []struct {
		err  error
		want [4]request.Kind
	}{
		{wrap(syscall.ECONNREFUSED), [4]request.Kind{request.Refused, request.Refused, request.Refused, request.Refused}},
		{wrap(syscall.EADDRNOTAVAIL), [4]request.Kind{request.NoPort, request.NoPort, request.NoPort, request.NoPort}},
		{wrap(syscall.EMFILE), [4]request.Kind{request.NoFile, request.NoFile, request.NoFile, request.NoFile}},
		{wrap(syscall.ENFILE), [4]request.Kind{request.NoFile, request.NoFile, request.NoFile, request.NoFile}},
		{wrap(syscall.EHOSTUNREACH), [4]request.Kind{request.Unreachable, request.Unreachable, request.Unreachable, request.Unreachable}},
		{wrap(syscall.ENETUNREACH), [4]request.Kind{request.Unreachable, request.Unreachable, request.Unreachable, request.Unreachable}},
		{wrap(syscall.ETIMEDOUT), [4]request.Kind{request.ConnectTimeout, request.Late, request.Late, request.Late}},
		{os.ErrDeadlineExceeded, [4]request.Kind{request.ConnectTimeout, request.Late, request.Late, request.Late}},
		{context.DeadlineExceeded, [4]request.Kind{request.ConnectTimeout, request.Late, request.Late, request.Late}},
		{wrap(syscall.ECONNRESET), [4]request.Kind{request.Unreachable, request.TLS, request.Reset, request.Reset}},
		{wrap(syscall.EPIPE), [4]request.Kind{request.Unreachable, request.TLS, request.Reset, request.Reset}},
		{io.EOF, [4]request.Kind{request.Unreachable, request.TLS, request.Closed, request.Short}},
		{io.ErrUnexpectedEOF, [4]request.Kind{request.Unreachable, request.TLS, request.Closed, request.Short}},
		{net.ErrClosed, [4]request.Kind{request.Unreachable, request.TLS, request.Closed, request.Closed}},
		{&tls.CertificateVerificationError{Err: errors.New("unknown authority")}, [4]request.Kind{request.Unreachable, request.TLS, request.Malformed, request.Malformed}},
		{errors.New("malformed header"), [4]request.Kind{request.Unreachable, request.TLS, request.Malformed, request.Malformed}},
	} {
		for i, at := range all {
			f := &Failure{At: at, Err: fmt.Errorf("request: %w", c.err)}
			if got := f.Kind(); got != c.want[i] {
				t.Errorf("%v at stage %d is %s, want %s", c.err, at, got, c.want[i])
			}
			if !errors.Is(f, c.err) || f.Error() != "request: "+c.err.Error() {
				t.Errorf("%v hides its cause", f)
			}
		}
	}
	known := &Failure{At: Reading, Err: io.EOF, As: request.Status}
	if known.Kind() != request.Status {
		t.Errorf("a kind that is known is %s", known.Kind())
	}
	if got := (&Failure{At: Stage(9), Err: errors.New("x")}).Kind(); got != request.Other {
		t.Errorf("at no stage: %s", got)
	}
}

// TestEnteredAndLeft: every dial, successful or not, enters and leaves the namespace of the sockets
// exactly once.
func TestEnteredAndLeft(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	open := netip.MustParseAddrPort(l.Addr().String())
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	shut := netip.MustParseAddrPort(gone.Addr().String())
	gone.Close()
	inside, entered := 0, 0
	enter := func() (func() error, error) {
		inside++
		entered++
		return func() error { inside--; return nil }, nil
	}
	for to, fails := range map[netip.AddrPort]bool{open: false, shut: true} {
		d := NewDialer(t.Context(), to, []netip.Addr{netip.MustParseAddr("127.0.0.1")}, enter)
		c, err := d.TCP(t.Context())
		if (err != nil) != fails || inside != 0 {
			t.Errorf("%s: %v, %d are left inside", to, err, inside)
		}
		if err == nil {
			c.Close()
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.TCP(ended); err == nil || inside != 0 {
			t.Errorf("an ended context: %v, %d are left inside", err, inside)
		}
	}
	if entered != 4 {
		t.Errorf("entered %d times, want four times to dial", entered)
	}
	d := NewDialer(t.Context(), open, nil, nil)
	d.enter = func() (func() error, error) { return nil, errors.New("the namespace is gone") }
	if _, err := d.TCP(t.Context()); err == nil || err.Error() != "the namespace is gone" {
		t.Errorf("%v", err)
	}
	within, cancel := d.Within(time.Now().Add(-time.Second))
	defer cancel()
	if !errors.Is(within.Err(), context.DeadlineExceeded) {
		t.Errorf("%v", within.Err())
	}
}

// TestDead distinguishes an idle connection that the server closed or wrote to from a usable one.
func TestDead(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*net.TCPConn)
		dead bool
	}{
		"idle":   {func(*net.TCPConn) {}, false},
		"closed": {func(s *net.TCPConn) { s.Close() }, true},
		"spoke":  {func(s *net.TCPConn) { _, _ = s.Write([]byte("HTTP/1.1 408")) }, true},
	} {
		conn, server, _ := pair(t)
		c.do(server)
		if c.dead { // until it has arrived
			_ = conn.raw.Read(func(fd uintptr) bool { return true })
			for range 1000 {
				if conn.Dead() {
					break
				}
				time.Sleep(time.Millisecond)
			}
		}
		if got := conn.Dead(); got != c.dead {
			t.Errorf("%s: dead %v", name, got)
		}
	}
}
