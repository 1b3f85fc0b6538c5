package httpload

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"linerate/internal/hint"
	"linerate/internal/load/dial"
)

// dialer makes the connections of one run, to one address.
type dialer struct {
	*dial.Dialer
	tls *tls.Config // nil without TLS
}

func newDialer(ctx context.Context, s *Spec) (*dialer, error) {
	u := s.Targets[0].URL
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	to, err := dial.New(ctx, u.Hostname(), port, s.Sources, s.Enter)
	if err != nil {
		if errors.As(err, new(*net.DNSError)) {
			err = hint.With(err, "give the server's address in the URL, and its name as a header: %s", hint.Option("header", "'Host: NAME'"))
		}
		return nil, err
	}
	d := &dialer{Dialer: to}
	if u.Scheme == "https" {
		// No session cache: every connection pays a whole handshake.
		d.tls = &tls.Config{ServerName: serverName(s), InsecureSkipVerify: s.Insecure, RootCAs: s.Roots, NextProtos: []string{"http/1.1"}}
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
