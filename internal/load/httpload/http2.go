package httpload

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"linerate/internal/load/dial"
	"linerate/internal/load/loop"
)

// http2Conn is a connection of HTTP/2 that some lanes share.
type http2Conn struct {
	d         *dialer
	on        loop.Events // of its first lane
	scheme    string
	transport *http.Transport
	mu        sync.Mutex // held while dialling: the other lanes wait for it
	cc        *http.ClientConn
}

// http2 is a lane of HTTP/2: one request at a time, of the many that its
// connection has.
type http2 struct {
	conn     *http2Conn
	requests []*http.Request
	newEach  bool
	scratch  []byte
}

// dialled marks errors of TCP, which net/http hands on.
type dialled struct{ error }

func (e dialled) Unwrap() error { return e.error }

func newHTTP2Conn(d *dialer, scheme string) *http2Conn {
	c := &http2Conn{d: d, scheme: scheme}
	c.transport = &http.Transport{DisableCompression: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := d.TCP(ctx)
		if err != nil {
			return nil, dialled{err}
		}
		return conn, nil
	}, Protocols: new(http.Protocols)}
	c.transport.Protocols.SetHTTP2(scheme == "https")
	c.transport.Protocols.SetUnencryptedHTTP2(scheme == "http")
	if d.tls != nil {
		c.transport.TLSClientConfig = d.tls.Clone()
		c.transport.TLSClientConfig.NextProtos = nil // net/http's choice
	}
	return c
}

// tell says whom to tell of the connection: the first lane's account.
func (c *http2Conn) tell(e loop.Events) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.on == nil {
		c.on = e
	}
}

// get returns the connection, made if need be.
func (c *http2Conn) get(ctx context.Context) (*http.ClientConn, *dial.Failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cc != nil && c.cc.Err() == nil {
		return c.cc, nil
	}
	if c.cc != nil {
		_ = c.cc.Close() // already broken
		c.cc = nil
		c.on.Reopened()
	}
	begin := time.Now()
	cc, err := c.transport.NewClientConn(ctx, c.scheme, c.d.Address)
	if err != nil {
		if errors.As(err, new(dialled)) || ctx.Err() != nil && c.scheme == "http" {
			return nil, &dial.Failure{At: dial.Dialling, Err: err}
		}
		return nil, &dial.Failure{At: dial.Securing, Err: err}
	}
	c.on.Connected(time.Since(begin))
	c.cc = cc
	return cc, nil
}

func (c *http2Conn) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cc != nil {
		_ = c.cc.Close() // nothing is left to send
		c.cc = nil
	}
}

func (l *http2) do(target int, deadline time.Time) (a answer, f *dial.Failure) {
	ctx, cancel := l.conn.d.Within(deadline)
	defer cancel()
	cc, f := l.conn.get(ctx)
	if f != nil {
		return a, f
	}
	if l.newEach {
		defer l.conn.drop()
	}
	resp, err := cc.RoundTrip(l.requests[target].WithContext(ctx))
	if err != nil {
		return a, &dial.Failure{At: dial.Waiting, Err: err}
	}
	a.code = resp.StatusCode
	a.body, err = discard(resp.Body, l.scratch)
	_ = resp.Body.Close() // read to its end, or failed
	if err != nil {
		return a, &dial.Failure{At: dial.Reading, Err: err}
	}
	return a, nil
}

// close leaves the connection to the lanes that share it; the run drops it.
func (l *http2) close() {}

// prepare2 makes the requests and the connections of HTTP/2.
func (r *source) prepare2() {
	for _, t := range r.Targets {
		r.gets = append(r.gets, requestOf(r.Spec, t))
	}
	for range r.Connections {
		r.h2 = append(r.h2, newHTTP2Conn(r.d, r.Targets[0].URL.Scheme))
	}
}
