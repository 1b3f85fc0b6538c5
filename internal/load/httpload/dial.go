package httpload

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"linerate/internal/hint"
	"linerate/internal/load/client"
)

// dialer makes the connections of one run, to one address.
type dialer struct {
	*client.Dialer
	tls        *tls.Config                         // nil without TLS
	negotiated atomic.Pointer[tls.ConnectionState] // of the last handshake
}

// secure speaks TLS on a connection, which ends with a failure.
func (d *dialer) secure(ctx context.Context, raw net.Conn, config *tls.Config) (net.Conn, *client.Failure) {
	conn := tls.Client(raw, config)
	err := conn.HandshakeContext(ctx)
	state := conn.ConnectionState()
	if want := config.NextProtos[0]; err == nil && want == "h2" && state.NegotiatedProtocol != want {
		err = fmt.Errorf("the server chose %q, not HTTP/2", state.NegotiatedProtocol)
	}
	if err != nil {
		_ = raw.Close() // nothing is left to send
		return nil, &client.Failure{At: client.Securing, Err: err}
	}
	d.negotiated.Store(&state)
	return conn, nil
}

// agreed is what the last handshake agreed on: "TLS 1.3, TLS_AES_128_GCM_SHA256, h2".
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

func newDialer(ctx context.Context, s *Spec) (*dialer, error) {
	u := s.Targets[0].URL
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	to, err := client.NewDialer(ctx, u.Hostname(), port, s.Sources, s.Enter)
	if err != nil {
		if errors.As(err, new(*net.DNSError)) {
			err = hint.With(err, "give the server's address in the URL, and its name as a header: %s", hint.Option("header", "'Host: NAME'"))
		}
		return nil, err
	}
	d := &dialer{Dialer: to}
	if u.Scheme == "https" {
		protocol := "http/1.1"
		if s.HTTP2 {
			protocol = "h2"
		}
		// No session cache: every connection pays a whole handshake.
		d.tls = &tls.Config{ServerName: serverName(s), InsecureSkipVerify: s.Insecure, RootCAs: s.Roots, NextProtos: []string{protocol}}
	}
	return d, nil
}

// serverName is whom a certificate is to be of.
func serverName(s *Spec) string {
	if h := s.Header.Get("Host"); h != "" {
		if host, _, err := net.SplitHostPort(h); err == nil {
			return host
		}
		return h
	}
	return s.Targets[0].URL.Hostname()
}
