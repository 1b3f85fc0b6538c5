package httpload

import (
	"bytes"
	"errors"
	"maps"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

const (
	// window is what a server may have under way on a stream, and on a
	// connection, before it hears of the client again: h2load's, so large that
	// no client's window is ever what limits.
	window = 1 << 30
	// fewStreams is how many are begun before the server has said how many it
	// takes (RFC 9113 6.5.2 recommends no fewer).
	fewStreams = 100
	// fragment is the longest part of a block of headers in one frame, which
	// every server takes (RFC 9113 4.2).
	fragment = 16 << 10
)

// session is a connection of HTTP/2, by x/net's frames and headers. One
// goroutine reads; lanes write together, what several have to say in one call.
// net/http's client has a goroutine, a context and some forty objects a request,
// and used more CPU time than the server that it was to measure.
type session struct {
	conn    net.Conn
	headers [][]field
	timeout time.Duration // of a request

	mu      sync.Mutex // of what follows
	frames  *http2.Framer
	out     outbox
	acks    int // answers to the server's frames in it
	spare   []byte
	writing bool
	by      time.Time // when what was last asked for is to have come
	armed   time.Time // the deadline of writes
	encoder *hpack.Encoder
	block   bytes.Buffer
	streams map[uint32]*http2Lane
	waiting []*http2Lane // for the server to take more streams
	limit   int          // streams that the server takes at once
	next    uint32
	retired bool  // no new requests
	failure error // why it has ended

	timer    *time.Timer
	watching bool // the timer runs
}

// outbox is what is to be written.
type outbox struct{ b []byte }

func (o *outbox) Write(p []byte) (int, error) {
	o.b = append(o.b, p...)
	return len(p), nil
}

// newSession begins a session on a connection, with a buffer of so many bytes.
func newSession(conn net.Conn, headers [][]field, buffer int, timeout time.Duration) *session {
	s := &session{conn: conn, headers: headers, timeout: timeout, streams: map[uint32]*http2Lane{}, limit: fewStreams, next: 1}
	s.frames = http2.NewFramer(&s.out, nil)
	s.encoder = hpack.NewEncoder(&s.block)
	s.out.b = append(s.out.b, http2.ClientPreface...)
	_ = s.frames.WriteSettings(http2.Setting{ID: http2.SettingEnablePush, Val: 0}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	_ = s.frames.WriteWindowUpdate(0, window-65_535) // what a connection's begins with
	go s.listen(buffer)
	return s
}

// usable tells whether the session takes requests.
func (s *session) usable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.retired
}

// retire takes no new requests, and ends the session after the last it has.
func (s *session) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired = true
	s.rest()
}

// rest ends a retired session that has nothing left to do. Held: the lock.
func (s *session) rest() {
	if s.retired && len(s.streams) == 0 && len(s.waiting) == 0 {
		s.fail(net.ErrClosed)
	}
}

// end ends the session, and what is on the way with it.
func (s *session) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(why)
}

// fail is end. Held: the lock.
func (s *session) fail(why error) {
	if s.failure != nil {
		return
	}
	s.failure, s.retired = why, true
	_ = s.conn.Close() // nothing is left to send
	if s.timer != nil {
		s.timer.Stop()
	}
	for _, l := range s.waiting {
		l.finish(&client.Failure{At: client.Waiting, Err: why})
	}
	for _, l := range s.streams {
		l.finish(&client.Failure{At: l.stage(), Err: why})
	}
	s.waiting, s.streams = nil, map[uint32]*http2Lane{}
}

// begin sends a lane's request, or has it wait until the server takes more.
func (s *session) begin(l *http2Lane) {
	s.mu.Lock()
	l.id, l.credit, s.by = 0, 0, l.deadline
	s.watch(l.deadline)
	switch {
	case s.failure != nil:
		l.finish(&client.Failure{At: client.Waiting, Err: s.failure})
	case s.retired: // since it was looked at
		l.finish(&client.Failure{At: client.Waiting, Err: errors.New("the server goes away"), As: request.Closed})
	case len(s.streams) >= s.limit:
		s.waiting = append(s.waiting, l)
	default:
		s.open(l)
	}
	s.mu.Unlock()
	s.flush(true)
}

// open gives a lane a stream and writes its request. Held: the lock.
func (s *session) open(l *http2Lane) {
	l.id = s.next
	s.next += 2
	s.retired = s.retired || s.next > 1<<30 // far before the identifiers run out
	s.streams[l.id] = l
	s.block.Reset()
	for _, f := range s.headers[l.target] {
		_ = s.encoder.WriteField(f) // to a buffer
	}
	first := s.block.Next(fragment)
	_ = s.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: l.id, BlockFragment: first, EndStream: true, EndHeaders: s.block.Len() == 0})
	for s.block.Len() > 0 {
		more := s.block.Next(fragment)
		_ = s.frames.WriteContinuation(l.id, s.block.Len() == 0, more)
	}
}

// flush writes what there is to write, also for lanes that come meanwhile. With
// patience it lets others come first: lanes that one read woke
// answer in one write.
func (s *session) flush(patient bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writing {
		return
	}
	s.writing = true
	if patient {
		s.mu.Unlock()
		runtime.Gosched()
		s.mu.Lock()
	} else if len(s.out.b) > 0 {
		s.by = time.Now().Add(s.timeout)
	}
	for len(s.out.b) > 0 && s.failure == nil {
		b := s.out.b
		s.out.b, s.acks = s.spare[:0], 0
		s.arm()
		s.mu.Unlock()
		_, err := s.conn.Write(b)
		s.mu.Lock()
		if s.spare = b; err != nil {
			s.fail(err)
		}
	}
	s.writing = false
}

// arm gives a write a timeout at least and two at most, to a server that may not
// read; most of the time it finds that the last one did. Held: the lock.
func (s *session) arm() {
	if s.armed.Before(s.by) {
		s.armed = s.by.Add(s.timeout)
		_ = s.conn.SetWriteDeadline(s.armed) // a closed connection says so at the next step
	}
}

// done ends a stream and lets who waits have its place. Held: the lock.
func (s *session) done(l *http2Lane, f *client.Failure) {
	delete(s.streams, l.id)
	l.finish(f)
	s.admit()
	s.rest()
}

// admit lets in who waits, as far as the server has room. Held: the lock.
func (s *session) admit() {
	for len(s.waiting) > 0 && len(s.streams) < s.limit {
		first := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.open(first)
	}
}

// late gives up the request of a lane whose time is over. Held: the lock.
func (s *session) late(l *http2Lane) {
	f := &client.Failure{At: l.stage(), Err: os.ErrDeadlineExceeded}
	if l.id == 0 {
		s.waiting = slices.DeleteFunc(s.waiting, func(w *http2Lane) bool { return w == l })
		l.finish(f)
		s.rest()
		return
	}
	_ = s.frames.WriteRSTStream(l.id, http2.ErrCodeCancel)
	s.done(l, f)
}

// watch sees to it that requests end at their deadlines, which come in the order
// of the requests: one timer, that goes off once in a timeout. Held: the lock.
func (s *session) watch(deadline time.Time) {
	switch {
	case s.watching:
		return
	case s.timer == nil:
		s.timer = time.AfterFunc(time.Until(deadline), s.expire)
	default:
		s.timer.Reset(time.Until(deadline))
	}
	s.watching = true
}

// expire gives up the requests that are late, and waits on for the others.
func (s *session) expire() {
	s.mu.Lock()
	s.watching = false
	now := time.Now()
	var first time.Time
	for _, l := range slices.Concat(s.waiting, slices.Collect(maps.Values(s.streams))) {
		if !l.deadline.After(now) {
			s.late(l)
		} else if first.IsZero() || l.deadline.Before(first) {
			first = l.deadline
		}
	}
	if !first.IsZero() {
		s.watch(first)
	}
	s.mu.Unlock()
	s.flush(false)
}

// finish hands the lane its answer. Held: the session's lock.
func (l *http2Lane) finish(f *client.Failure) {
	l.failure = f
	l.done <- struct{}{}
}

// stage is how far the lane's request has come.
func (l *http2Lane) stage() client.Stage {
	if l.answer.code != 0 {
		return client.Reading
	}
	return client.Waiting
}
