package httpload

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2/hpack"

	"linerate/internal/list"
	"linerate/internal/load/client"
)

// slot is a connection of HTTP/2 that some lanes share: a session, and the next
// one when that has ended.
type slot struct {
	d       *dialer
	on      client.Events // of its first lane
	tls     *tls.Config   // nil without TLS
	headers [][]field     // of each target's request
	buffer  int           // of what comes in, in bytes
	timeout time.Duration
	mu      sync.Mutex // held while dialling: the other lanes wait for it
	current *session
}

// http2Lane is a lane of HTTP/2: one request at a time, of the many that its
// connection has.
type http2Lane struct {
	slot    *slot
	newEach bool
	done    chan struct{} // the request has ended

	// The session's, under its lock, while a request is on the way.
	id       uint32 // of the stream; 0 before it has one
	target   int
	deadline time.Time
	credit   int   // bytes of the body since the last update of the stream's window
	length   int64 // of the body by its head; -1: it does not say
	answer   answer
	failure  *client.Failure
}

func newSlot(r *source, headers [][]field) *slot {
	d := r.d
	c := &slot{d: d, headers: headers, buffer: min(r.bufferSize()*r.Streams, 64<<10), timeout: r.Timeout}
	if d.tls != nil {
		c.tls = d.tls.Clone()
		c.tls.NextProtos = []string{"h2"}
	}
	return c
}

// lane makes one of the slot's lanes. The first one's account gets the
// connection.
func (c *slot) lane(newEach bool, tell client.Events) *http2Lane {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.on == nil {
		c.on = tell
	}
	return &http2Lane{slot: c, newEach: newEach, done: make(chan struct{}, 1)}
}

// get returns the session, begun if need be.
func (c *slot) get(deadline time.Time) (*session, *client.Failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil && c.current.usable() {
		return c.current, nil
	}
	if c.current != nil {
		c.current.retire()
		c.current = nil
		c.on.Reopened()
	}
	begin := time.Now()
	ctx, cancel := c.d.Within(deadline)
	defer cancel()
	conn, f := c.connect(ctx)
	if f != nil {
		return nil, f
	}
	c.on.Connected(time.Since(begin))
	c.current = newSession(conn, c.headers, c.buffer, c.timeout)
	return c.current, nil
}

// connect makes the connection that a session uses.
func (c *slot) connect(ctx context.Context) (net.Conn, *client.Failure) {
	raw, err := c.d.TCP(ctx)
	if err != nil {
		return nil, &client.Failure{At: client.Dialling, Err: err}
	}
	if c.tls == nil {
		return raw, nil
	}
	return c.d.secure(ctx, raw, c.tls)
}

func (c *slot) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil {
		c.current.end(net.ErrClosed)
		c.current = nil
	}
}

func (l *http2Lane) do(target int, deadline time.Time) (answer, *client.Failure) {
	s, f := l.slot.get(deadline)
	if f != nil {
		return answer{}, f
	}
	if l.newEach {
		defer l.slot.drop()
	}
	l.target, l.deadline, l.answer, l.failure = target, deadline, answer{}, nil
	s.begin(l)
	<-l.done
	return l.answer, l.failure
}

// close leaves the connection to the lanes that share it; the run drops it.
func (l *http2Lane) close() {}

// prepare2 makes the requests' headers and the connections of HTTP/2.
func (r *source) prepare2() {
	headers := list.Map(r.Targets, func(t Target) []field { return fieldsOf(r.Spec, t) })
	for range r.Connections {
		r.h2 = append(r.h2, newSlot(r, headers))
	}
}

// field is one of a request's headers.
type field = hpack.HeaderField

// ofConnections are headers that HTTP/2 has no place for (RFC 9113 8.2.2).
var ofConnections = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade"}

// fieldsOf is a GET of a target.
func fieldsOf(s *Spec, t Target) []field {
	req := requestOf(s, t)
	out := []field{{Name: ":method", Value: req.Method}, {Name: ":scheme", Value: t.URL.Scheme}, {Name: ":authority", Value: req.Host}, {Name: ":path", Value: t.URL.RequestURI()}}
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		if slices.Contains(ofConnections, name) {
			continue
		}
		for _, v := range req.Header[name] {
			out = append(out, field{Name: strings.ToLower(name), Value: v})
		}
	}
	return out
}
