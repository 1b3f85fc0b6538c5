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
	"bufio"
	"context"
	"crypto/x509"
	"net/http"
	"net/netip"
	"net/url"

	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

// source creates the lanes of one run.
type source struct {
	*Spec
	d      *dialer
	heads  [][]byte  // for HTTP/1.1
	fields [][]field // for HTTP/2
}

// Account runs the load until its end or until ctx is done. The account is nil if the load
// could not begin; if ctx ended the run, Account returns the account and ctx's error.
func Account(ctx context.Context, s Spec) (*request.Account, request.Meter, error) {
	return client.Run(ctx, client.Spec{Load: s.Load, Targets: len(s.Paths), Lanes: s.Connections},
		func(ctx context.Context) (client.Source, error) { return newSource(ctx, &s) })
}

func newSource(ctx context.Context, s *Spec) (*source, error) {
	r := &source{Spec: s, d: newDialer(ctx, s)}
	for _, path := range s.Paths {
		if s.HTTP2 {
			r.fields = append(r.fields, fieldsOf(s, path))
			continue
		}
		head, err := headOf(s, path)
		if err != nil {
			return nil, err
		}
		r.heads = append(r.heads, head)
	}
	return r, nil
}

// Used returns what the run has used so far.
func (r *source) Used() client.Used {
	user, system := client.CPU()
	return client.Used{CPU: user + system, Negotiated: r.d.agreed()}
}

// Close does nothing: lanes share nothing.
func (r *source) Close() {}

// Lane creates a lane.
func (r *source) Lane(_ int, tell client.Events) client.Lane {
	if !r.HTTP2 {
		l := &http1{wire: r.wire(tell), heads: r.heads, buf: make([]byte, r.bufferSize())}
		l.in = bufio.NewReaderSize(&l.more, len(l.buf))
		return l
	}
	return &http2Lane{wire: r.wire(tell), requests: r.fields, in: bufio.NewReaderSize(nil, r.bufferSize())}
}

// bufferSize returns the size of each of a lane's buffers: large ones save
// system calls, but all together should take no more than some 64 MB, up to
// thousands of lanes.
func (r *source) bufferSize() int {
	return min(max(32<<20/r.Connections, 4<<10), 64<<10)
}

// answer is a response, as far as it was received.
type answer struct {
	code int
	body int64
}

// with converts the response, or its failure, for the loop.
func (a answer) with(f *client.Failure) client.Answer {
	out := client.Answer{Code: a.code, Body: a.body}
	switch {
	case f != nil:
		out.Kind, out.Detail = f.Kind(), f.Error()
	case a.code >= 400:
		out.Kind = request.Status
	}
	return out
}

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
