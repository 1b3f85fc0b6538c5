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
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load/request"
)

// TestKinds: what an error is depends on how far the request had come; a shortage of the
// generator's own is one at every stage.
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

func TestParseSources(t *testing.T) {
	got, err := ParseSources("198.18.0.1, 198.18.0.8/30,2001:2::1-2001:2::3")
	if err != nil || len(got) != 1+2+3 || got[1] != netip.MustParseAddr("198.18.0.9") || got[5] != netip.MustParseAddr("2001:2::3") {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := ParseSources("198.18.0.0/16"); err != nil || len(got) != 65534 {
		t.Errorf("%d, %v", len(got), err)
	}
	for _, bad := range []string{"", "x", "198.18.0.1,", "198.18.0.0/16,198.19.0.0/29", "198.18.0.0/15"} {
		if got, err := ParseSources(bad); err == nil || !hint.IsUsage(err) {
			t.Errorf("%q: %d addresses, %v", bad, len(got), err)
		}
	}
}

// TestReachable: connections are of the sources' IP version, whatever the server's first address.
func TestReachable(t *testing.T) {
	four, six, mapped := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("::ffff:192.0.2.7")
	for _, c := range []struct {
		addrs, sources []netip.Addr
		want           string
	}{
		{[]netip.Addr{six, four}, nil, "2001:db8::1"}, {[]netip.Addr{six, four}, []netip.Addr{four}, "192.0.2.1"}, {[]netip.Addr{four, six}, []netip.Addr{six}, "2001:db8::1"},
		{[]netip.Addr{mapped}, []netip.Addr{four}, "192.0.2.7"}, {[]netip.Addr{four}, []netip.Addr{six}, ""},
	} {
		got, err := reachable(c.addrs, c.sources)
		if c.want == "" && (err == nil || !strings.Contains(err.Error(), "IP version of 2001:db8::1")) || c.want != "" && (err != nil || got.String() != c.want) {
			t.Errorf("%v from %v: %v, %v; want %s", c.addrs, c.sources, got, err, c.want)
		}
	}
}

// TestNotOurAddress is refused before the first connection, with what to do.
func TestNotOurAddress(t *testing.T) {
	_, err := NewDialer(t.Context(), "127.0.0.1", "80", []netip.Addr{netip.MustParseAddr("198.18.77.77")}, nil)
	if err == nil || !strings.Contains(err.Error(), "send from 198.18.77.77") || !strings.Contains(hint.Of(err), "ip addr add 198.18.77.77/32 dev lo") {
		t.Errorf("%v (%s)", err, hint.Of(err))
	}
}

// TestEnteredAndLeft: every way of a connection, and of one that fails, leaves where sockets are
// made exactly once.
func TestEnteredAndLeft(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, open, _ := net.SplitHostPort(l.Addr().String())
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, shut, _ := net.SplitHostPort(gone.Addr().String())
	gone.Close()
	inside, entered := 0, 0
	enter := func() (func() error, error) {
		inside++
		entered++
		return func() error { inside--; return nil }, nil
	}
	for port, fails := range map[string]bool{open: false, shut: true} {
		d, err := NewDialer(t.Context(), "127.0.0.1", port, []netip.Addr{netip.MustParseAddr("127.0.0.1")}, enter)
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.TCP(t.Context())
		if (err != nil) != fails || inside != 0 {
			t.Errorf("port %s: %v, %d are left inside", port, err, inside)
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
	if entered != 6 {
		t.Errorf("entered %d times, want twice to look and four times to dial", entered)
	}
	d, err := NewDialer(t.Context(), "127.0.0.1", open, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
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

// TestDead tells an idle connection that the server closed, or spoke on, from one that waits.
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
