package httpload

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	"linerate/internal/load/dial"
	"linerate/internal/load/loop"
)

// idleFor is how long a connection is idle before it is looked at again: a
// server that closes idle connections does so after seconds.
const idleFor = 200 * time.Millisecond

// http1 is a lane of HTTP/1.1 on a connection of its own.
type http1 struct {
	d       *dialer
	on      loop.Events
	heads   [][]byte
	newEach bool
	conn    net.Conn // nil: none
	raw     *dial.Conn
	buf     *bufio.Reader
	scratch []byte
	last    time.Time // the end of the last answer
}

func newHTTP1(d *dialer, on loop.Events, heads [][]byte, newEach bool, size int) *http1 {
	return &http1{d: d, on: on, heads: heads, newEach: newEach, buf: bufio.NewReaderSize(nil, size), scratch: make([]byte, size)}
}

// headOf is a request as it goes over the wire.
func headOf(s *Spec, t Target) ([]byte, error) {
	req := requestOf(s, t)
	if s.NewEach {
		req.Close = true
	}
	var b bytes.Buffer
	if err := req.Write(&b); err != nil {
		return nil, fmt.Errorf("write a request of %s: %w", t.URL, err)
	}
	return b.Bytes(), nil
}

// requestOf is a GET of a target.
func requestOf(s *Spec, t Target) *http.Request {
	h := s.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	if h.Get("User-Agent") == "" {
		h.Set("User-Agent", "linerate")
	}
	host := t.URL.Host
	if v := h.Get("Host"); v != "" {
		host = v
		h.Del("Host")
	}
	return &http.Request{Method: http.MethodGet, URL: t.URL, Host: host, Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
}

func (l *http1) do(target int, deadline time.Time) (a answer, f *dial.Failure) {
	if f = l.ready(deadline); f != nil {
		return a, f
	}
	a, keep, f := l.exchange(target, deadline)
	if f != nil || !keep || l.newEach {
		l.close()
	}
	l.last = time.Now()
	return a, f
}

// ready sees to a connection.
func (l *http1) ready(deadline time.Time) *dial.Failure {
	if l.conn != nil && time.Since(l.last) > idleFor && l.raw.Dead() {
		l.close()
		l.on.Reopened()
	}
	if l.conn != nil {
		return nil
	}
	begin := time.Now()
	ctx, cancel := l.d.Within(deadline)
	defer cancel()
	raw, err := l.d.TCP(ctx)
	if err != nil {
		return &dial.Failure{At: dial.Dialling, Err: err}
	}
	l.raw, l.conn = raw, raw
	if l.d.tls != nil {
		c := tls.Client(raw, l.d.tls)
		if err := c.HandshakeContext(ctx); err != nil {
			l.close()
			return &dial.Failure{At: dial.Securing, Err: err}
		}
		l.conn = c
	}
	l.buf.Reset(l.conn)
	l.on.Connected(time.Since(begin))
	return nil
}

func (l *http1) exchange(target int, deadline time.Time) (a answer, keep bool, f *dial.Failure) {
	_ = l.conn.SetDeadline(deadline) // a closed connection says so at the next step
	if _, err := l.conn.Write(l.heads[target]); err != nil {
		return a, false, &dial.Failure{At: dial.Waiting, Err: err}
	}
	resp, err := http.ReadResponse(l.buf, nil)
	for err == nil && resp.StatusCode < 200 { // interim (RFC 9110 15.2)
		resp, err = http.ReadResponse(l.buf, nil)
	}
	if err != nil {
		return a, false, &dial.Failure{At: dial.Waiting, Err: err}
	}
	a.code = resp.StatusCode
	a.body, err = discard(resp.Body, l.scratch)
	_ = resp.Body.Close() // read to its end, or failed
	if err != nil {
		return a, false, &dial.Failure{At: dial.Reading, Err: err}
	}
	return a, !resp.Close, nil
}

func (l *http1) close() {
	if l.conn != nil {
		_ = l.conn.Close() // nothing is left to send
		l.conn = nil
	}
}
