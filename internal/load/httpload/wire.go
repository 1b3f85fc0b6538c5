package httpload

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"linerate/internal/load/client"
)

// idleFor is how long a connection must be idle to be checked before reuse:
// servers that close idle connections do so after seconds.
const idleFor = 200 * time.Millisecond

// wire is a lane's connection, TCP or TLS, reopened when it has ended.
type wire struct {
	d       *dialer
	on      client.Events
	newEach bool
	conn    net.Conn // nil if there is none
	raw     *client.Conn
	last    time.Time // deadline of the last request
	retired bool      // the server takes no more requests on it
}

func (r *source) wire(on client.Events) wire {
	return wire{d: r.d, on: on, newEach: r.NewEach}
}

// ready ensures that there is a connection; fresh reports whether it is new. It derives
// the idle time from deadlines, because reading the clock is slow on some machines.
func (l *wire) ready(deadline time.Time) (fresh bool, f *client.Failure) {
	if l.conn != nil && (l.retired || deadline.Sub(l.last) > idleFor && l.raw.Dead()) {
		l.Close()
		l.on.Reopened()
	}
	if l.conn != nil {
		return false, nil
	}
	begin := time.Now()
	ctx, cancel := l.d.Within(deadline)
	defer cancel()
	raw, err := l.d.TCP(ctx)
	if err != nil {
		return false, &client.Failure{At: client.Dialling, Err: err}
	}
	l.raw, l.conn, l.retired = raw, raw, false
	if l.d.tls != nil {
		if l.conn, f = l.d.secure(ctx, raw); f != nil {
			l.conn = nil
			return false, f
		}
	}
	l.on.Connected(time.Since(begin))
	return true, nil
}

// Close closes the connection.
func (l *wire) Close() {
	if l.conn != nil {
		_ = l.conn.Close() // there is nothing left to send
		l.conn = nil
	}
}

// dialer makes the connections of one run.
type dialer struct {
	*client.Dialer
	tls        *tls.Config                         // nil for plain HTTP
	negotiated atomic.Pointer[tls.ConnectionState] // state of the last handshake
}

func newDialer(ctx context.Context, s *Spec) *dialer {
	d := &dialer{Dialer: client.NewDialer(ctx, s.Server, s.Sources, s.Enter)}
	if s.Roots != nil {
		protocol := "http/1.1"
		if s.HTTP2 {
			protocol = "h2"
		}
		// No session cache: every connection performs a full handshake.
		d.tls = &tls.Config{ServerName: s.Server.Addr().String(), RootCAs: s.Roots, NextProtos: []string{protocol}}
	}
	return d
}

// secure starts TLS on a connection, and closes it on failure.
func (d *dialer) secure(ctx context.Context, raw net.Conn) (net.Conn, *client.Failure) {
	conn := tls.Client(raw, d.tls)
	err := conn.HandshakeContext(ctx)
	state := conn.ConnectionState()
	if want := d.tls.NextProtos[0]; err == nil && want == "h2" && state.NegotiatedProtocol != want {
		err = fmt.Errorf("the server chose %q, not HTTP/2", state.NegotiatedProtocol)
	}
	if err != nil {
		_ = raw.Close() // there is nothing left to send
		return nil, &client.Failure{At: client.Securing, Err: err}
	}
	d.negotiated.Store(&state)
	return conn, nil
}

// agreed describes what the last handshake negotiated: "TLS 1.3, TLS_AES_128_GCM_SHA256, h2".
func (d *dialer) agreed() string {
	s := d.negotiated.Load()
	if s == nil {
		return ""
	}
	out := tls.VersionName(s.Version) + ", " + tls.CipherSuiteName(s.CipherSuite)
	if s.NegotiatedProtocol != "" {
		out += ", " + s.NegotiatedProtocol
	}
	return out
}
