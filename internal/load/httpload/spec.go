// Package httpload offers HTTP requests to a server, in an open loop (requests
// are due by a schedule) or a closed one (each connection asks again when it
// has been answered, as wrk does).
//
// HTTP/1.1 reads usual heads itself and leaves others to net/http's parser, which
// costs 16 % more CPU a request where it reads all. http.Transport repeats requests
// whose connection was lost, and would hide what is to be counted. HTTP/2 is on
// x/net's frames, one request at a time a connection: x/net's client takes half as
// much CPU time again, which would look like the protocol's.
package httpload

import (
	"crypto/x509"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/load/client"
)

// Bounds of a Spec.
const (
	MaxConnections = 100_000
	MaxTargets     = 1000
)

// Spec is an HTTP load.
type Spec struct {
	client.Load
	Targets     []Target
	Header      http.Header  // Host in it is the host asked for
	Connections int          // at once; in an open loop as many as are needed, up to it
	HTTP2       bool         // over TLS by ALPN, else by prior knowledge
	NewEach     bool         // a new connection for every request
	Sources     []netip.Addr // connections take them in turn; empty: the system's choice
	Insecure    bool         // do not verify certificates
	Roots       *x509.CertPool
	Enter       client.Enter // where given
}

// Target is one of the objects asked for.
type Target struct {
	URL    *url.URL
	Weight float64
}

// ParseTarget reads "URL" or "WEIGHT=URL".
func ParseTarget(s string) (Target, error) {
	t := Target{Weight: 1}
	if w, rest, ok := strings.Cut(s, "="); ok && !strings.Contains(w, "/") {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil || !(v > 0 && v <= 1e9) {
			return t, hint.Usagef("the weight of %q is not a number above 0", s)
		}
		t.Weight, s = v, rest
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return t, hint.With(hint.Usagef("%q is no http or https URL", s), "for instance http://198.18.0.2/index.html, or 3=http://198.18.0.2/index.html with a weight")
	}
	if u.User != nil {
		return t, hint.With(hint.Usagef("%s holds a user name", u.Redacted()), "send a header: %s", hint.Option("header", "'Authorization: Basic …'"))
	}
	t.URL = u
	return t, nil
}

// Validate refuses what cannot be offered.
func (s *Spec) Validate() error {
	if len(s.Targets) == 0 || len(s.Targets) > MaxTargets {
		return hint.Usagef("%d URLs: from 1 to %d", len(s.Targets), MaxTargets)
	}
	one := s.Targets[0].URL
	for _, t := range s.Targets[1:] {
		if t.URL.Scheme != one.Scheme || t.URL.Host != one.Host {
			return hint.With(hint.Usagef("%s and %s are of two servers", one, t.URL), "a mix is of one server's objects; run one load for each server")
		}
	}
	if s.Connections < 1 || s.Connections > MaxConnections {
		return hint.Usagef("%d connections: from 1 to %d", s.Connections, MaxConnections)
	}
	return s.Load.Validate("requests")
}

func (s *Spec) weights() []float64 {
	return list.Map(s.Targets, func(t Target) float64 { return t.Weight })
}
