// Package httpload sends HTTP requests to a server, in an open loop (requests
// are due by a schedule) or a closed one (each connection sends the next
// request when the last is answered, as in wrk).
//
// http.Transport repeats requests after lost connections, which would hide failures that
// must be counted. So HTTP/1.1 uses net/http's reader on package client's connections, and
// HTTP/2 uses x/net's frames, with one request at a time per connection: the client of
// x/net takes half as much CPU time again, which would look like a cost of the protocol.
package httpload

import (
	"crypto/x509"
	"net/http"
	"net/netip"
	"net/url"

	"linerate/internal/load/client"
)

// Spec is a load of requests for a server's objects.
type Spec struct {
	client.Load
	Server      netip.AddrPort
	Roots       *x509.CertPool // for TLS; nil: plain HTTP
	Paths       []string       // of the objects; each is requested equally often
	Connections int            // concurrent; in an open loop the maximum
	HTTP2       bool           // by ALPN over TLS, else by prior knowledge
	NewEach     bool           // a new connection for every request
	Sources     []netip.Addr   // source addresses, used in rotation; empty: the system's choice
	Enter       client.Enter   // nil: the caller's namespace
}

// request returns a GET request for an object.
func (s *Spec) request(path string) *http.Request {
	u := url.URL{Scheme: "http", Host: s.Server.String(), Path: path}
	if s.Roots != nil {
		u.Scheme = "https"
	}
	return &http.Request{Method: http.MethodGet, URL: &u, Host: u.Host, Header: http.Header{"User-Agent": {"linerate"}}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Close: s.NewEach}
}
