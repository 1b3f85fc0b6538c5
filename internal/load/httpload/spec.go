// Package httpload offers HTTP requests to a server, in an open loop (requests
// are due by a schedule) or a closed one (each connection asks again when it
// has been answered, as wrk does).
//
// http.Transport repeats requests whose connection was lost, and would hide what is
// to be counted: HTTP/1.1 is net/http's reader on connections of client's. HTTP/2 is on
// x/net's frames, one request at a time a connection: x/net's client takes half as
// much CPU time again, which would look like the protocol's.
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
	Roots       *x509.CertPool // of TLS; nil: none is spoken
	Paths       []string       // of the objects, each asked for as often
	Connections int            // at once; in an open loop as many as are needed, up to it
	HTTP2       bool           // over TLS by ALPN, else by prior knowledge
	NewEach     bool           // a new connection for every request
	Sources     []netip.Addr   // connections take them in turn; empty: the system's choice
	Enter       client.Enter   // where given
}

// request is a GET of an object.
func (s *Spec) request(path string) *http.Request {
	u := url.URL{Scheme: "http", Host: s.Server.String(), Path: path}
	if s.Roots != nil {
		u.Scheme = "https"
	}
	return &http.Request{Method: http.MethodGet, URL: &u, Host: u.Host, Header: http.Header{"User-Agent": {"linerate"}}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Close: s.NewEach}
}
