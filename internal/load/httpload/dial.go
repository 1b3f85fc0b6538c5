package httpload

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"

	"linerate/internal/load/client"
)

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
