package httpload

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"linerate/internal/load/request"
)

// peer is the server's end of a session, frame by frame.
type peer struct {
	*http2.Framer
	t     *testing.T
	block bytes.Buffer
	enc   *hpack.Encoder
}

// answering listens and has f speak on each connection that comes.
func answering(t *testing.T, f func(*peer)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
					return
				}
				p := &peer{Framer: http2.NewFramer(c, c), t: t}
				p.enc = hpack.NewEncoder(&p.block)
				f(p)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// request waits for the next request; 0 at the end.
func (p *peer) request() uint32 {
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return 0
		}
		if h, ok := f.(*http2.HeadersFrame); ok {
			return h.StreamID
		}
	}
}

// head answers a stream with header fields.
func (p *peer) head(stream uint32, ends bool, fields ...hpack.HeaderField) {
	p.block.Reset()
	for _, f := range fields {
		_ = p.enc.WriteField(f)
	}
	b := p.block.Bytes()
	half := len(b) / 2 // in two frames
	_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: b[:half], EndStream: ends})
	_ = p.WriteContinuation(stream, true, b[half:])
}

var fine = hpack.HeaderField{Name: ":status", Value: "200"}

func lengthOf(s string) hpack.HeaderField { return hpack.HeaderField{Name: "content-length", Value: s} }

// TestSessions are servers of HTTP/2 of many manners.
func TestSessions(t *testing.T) {
	for _, c := range []struct {
		name     string
		serve    func(*peer, uint32)
		answered uint64
		kind     string // of the failures
		body     uint64
	}{
		{"an answer in pieces", func(p *peer, id uint32) {
			p.head(id, false, hpack.HeaderField{Name: ":status", Value: "103"})
			p.head(id, false, fine, lengthOf("5"))
			_ = p.WriteDataPadded(id, false, []byte("he"), make([]byte, 7))
			_ = p.WritePing(false, [8]byte{1})
			_ = p.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0})
			_ = p.WriteData(id, false, []byte("llo"))
			p.head(id, true, hpack.HeaderField{Name: "x-trailer", Value: "1"})
		}, 6, "", 30},
		{"no body", func(p *peer, id uint32) { p.head(id, true, fine) }, 6, "", 0},
		{"cut short", func(p *peer, id uint32) {
			p.head(id, false, fine, lengthOf("5"))
			_ = p.WriteData(id, true, []byte("he"))
		}, 0, "short_body", 12},
		{"reset", func(p *peer, id uint32) { _ = p.WriteRSTStream(id, http2.ErrCodeRefusedStream) }, 0, "reset", 0},
		{"no status", func(p *peer, id uint32) { p.head(id, true, lengthOf("5")) }, 0, "malformed", 0},
		{"a status twice", func(p *peer, id uint32) {
			p.head(id, false, fine, lengthOf("5"))
			_ = p.WriteData(id, false, []byte("he"))
			p.head(id, true, fine)
		}, 0, "malformed", 12},
		{"not modified", func(p *peer, id uint32) {
			p.head(id, true, hpack.HeaderField{Name: ":status", Value: "304"}, lengthOf("5"))
		}, 6, "", 0},
		{"endless headers", func(p *peer, id uint32) {
			// Its size is changed again and again: bytes that make no header.
			some := bytes.Repeat([]byte{0x20}, fragment)
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: some})
			for p.WriteContinuation(id, false, some) == nil {
			}
		}, 0, "malformed", 0},
		{"no number", func(p *peer, id uint32) { p.head(id, true, fine, lengthOf("five")) }, 0, "malformed", 0},
		{"a push", func(p *peer, id uint32) {
			_ = p.WritePushPromise(http2.PushPromiseParam{StreamID: id, PromiseID: 2, EndHeaders: true})
		}, 0, "malformed", 0},
		{"noise", func(p *peer, id uint32) { _ = p.WriteRawFrame(http2.FrameData, 0, 0, []byte("x")) }, 0, "malformed", 0},
		{"silence", func(*peer, uint32) {}, 0, "too_late", 0},
		{"away", func(p *peer, id uint32) { _ = p.WriteGoAway(0, http2.ErrCodeNo, nil) }, 0, "closed", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := answering(t, func(p *peer) {
				_ = p.WriteSettings()
				for id := p.request(); id != 0; id = p.request() {
					c.serve(p, id)
				}
			})
			s := spec(t, url)
			s.HTTP2, s.Connections, s.Streams, s.Requests = true, 1, 1, 6
			if c.kind == "too_late" {
				s.Timeout = 300 * time.Millisecond // a slow machine connects within
			}
			r := offer(t, s)
			if r.Answered != c.answered || r.BodyBytes != c.body || r.Failed != 6-c.answered || c.kind != "" && (len(r.Errors) != 1 || r.Errors[0].Kind != c.kind) {
				t.Errorf("%d answered of %d bytes, %+v", r.Answered, r.BodyBytes, r.Errors)
			}
		})
	}
}

// TestAServerThatDoesNotReadEndsNoRun: requests that cannot be written are late,
// and hold nobody up for ever.
func TestAServerThatDoesNotReadEndsNoRun(t *testing.T) {
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	url := answering(t, func(*peer) { <-over })
	s := spec(t, url)
	s.Header = http.Header{"X-Long": {strings.Repeat("x", 200_000)}}
	s.HTTP2, s.Connections, s.Streams, s.Requests, s.Timeout = true, 1, 100, 150, 200*time.Millisecond
	r := offer(t, s)
	late := func(f request.Failure) bool { return f.Kind == "too_late" } // on a slow machine others connect too late
	if r.Failed != 150 || r.Requests != 150 || !slices.ContainsFunc(r.Errors, late) {
		t.Errorf("%d of %d failed: %+v", r.Failed, r.Requests, r.Errors)
	}
}

// TestAcksAreNotGathered: a server that asks without reading the answers does not
// fill memory.
func TestAcksAreNotGathered(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	s := newSession(near, nil, 4096, time.Hour)
	go s.flush(true)
	if _, err := far.Read(make([]byte, 1)); err != nil { // it writes, and nobody reads on
		t.Fatal(err)
	}
	p := http2.NewFramer(far, nil)
	for n := 0; p.WritePing(false, [8]byte{}) == nil; n++ {
		if n > 3*maxAcks {
			t.Fatalf("%d pings without an answer", n)
		}
	}
}

// TestNoMoreStreamsThanTheServerTakes: the others wait, and are answered.
func TestNoMoreStreamsThanTheServerTakes(t *testing.T) {
	most := make(chan int, 1)
	url := answering(t, func(p *peer) {
		_ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 2})
		var open []uint32
		longest := 0
		for answered := 0; answered < 40; {
			f, err := p.ReadFrame()
			if err != nil {
				return
			}
			switch f := f.(type) {
			case *http2.HeadersFrame:
				open = append(open, f.StreamID)
			case *http2.SettingsFrame:
				continue
			}
			if answered >= 10 { // what was sent before the settings had come may be more
				longest = max(longest, len(open))
			}
			if len(open) == 2 || answered >= 38 || answered < 10 {
				for _, id := range open {
					p.head(id, true, fine)
					answered++
				}
				open = nil
			}
		}
		most <- longest
	})
	s := spec(t, url)
	s.HTTP2, s.Connections, s.Streams, s.Requests = true, 1, 10, 40
	if r := offer(t, s); r.Answered != 40 || r.Connections != 1 {
		t.Fatalf("%d answered on %d connections, %+v", r.Answered, r.Connections, r.Errors)
	}
	if n := <-most; n > 2 {
		t.Errorf("%d streams at once, of a server that takes two", n)
	}
}

// TestAServerThatGoesAwayHasItsRequestsFinished: what it took is answered, and the
// next ones are asked on another connection.
func TestAServerThatGoesAwayHasItsRequestsFinished(t *testing.T) {
	url := answering(t, func(p *peer) {
		_ = p.WriteSettings()
		for n := 1; ; n++ {
			id := p.request()
			if id == 0 {
				return
			}
			if n == 3 {
				_ = p.WriteGoAway(id, http2.ErrCodeNo, nil)
			}
			p.head(id, true, fine)
		}
	})
	s := spec(t, url)
	s.HTTP2, s.Connections, s.Streams, s.Requests = true, 1, 1, 12
	if r := offer(t, s); r.Answered != 12 || r.Connections != 4 || r.Reopened != 3 {
		t.Errorf("%d answered on %d connections, %d reopened, %+v", r.Answered, r.Connections, r.Reopened, r.Errors)
	}
}

// TestWindowsAreOpenedAgain: a server that sends without end is told of more room
// before it has none, of the connection and of the stream.
func TestWindowsAreOpenedAgain(t *testing.T) {
	s := &session{streams: map[uint32]*http2Lane{}}
	s.frames = http2.NewFramer(&s.out, nil)
	s.streams[1] = &http2Lane{id: 1}
	r := &listener{session: s}
	room := map[uint32]int{0: window, 1: window}
	const sent = 3 * window
	for n := 0; n < sent; n += fragment {
		r.credit(http2.FrameHeader{Type: http2.FrameData, StreamID: 1, Length: fragment}, fragment)
		room[0] -= fragment
		room[1] -= fragment
		in := http2.NewFramer(nil, bytes.NewReader(s.out.b))
		for f, err := in.ReadFrame(); err == nil; f, err = in.ReadFrame() {
			room[f.Header().StreamID] += int(f.(*http2.WindowUpdateFrame).Increment)
		}
		s.out.b = s.out.b[:0]
		if room[0] < fragment || room[1] < fragment || room[0] > window || room[1] > window {
			t.Fatalf("after %d bytes there is room for %v", n, room)
		}
	}
	if got := s.streams[1].answer.body; got != sent {
		t.Errorf("%d bytes were counted of %d", got, sent)
	}
}

// TestWhoWaitsForAStreamIsLateToo: of a server that takes one stream and answers none.
func TestWhoWaitsForAStreamIsLateToo(t *testing.T) {
	url := answering(t, func(p *peer) {
		_ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1})
		id := p.request()
		p.head(id, true, fine) // by now it has said how many it takes
		for p.request() != 0 { // and answers no more
		}
	})
	s := spec(t, url)
	s.HTTP2, s.Connections, s.Streams, s.Requests, s.Timeout = true, 1, 3, 7, 300*time.Millisecond
	r := offer(t, s)
	if r.Requests != 7 || r.Answered > 1 || r.Failed != 7-r.Answered {
		t.Errorf("%d of %d answered, %+v", r.Answered, r.Requests, r.Errors)
	}
}

// TestAcksOfALongBurstAreWritten: a server that asks much at once, and reads the
// answers, is answered.
func TestAcksOfALongBurstAreWritten(t *testing.T) {
	near, far := net.Pipe()
	s := newSession(near, nil, 64<<10, time.Hour)
	go func() { _, _ = io.Copy(io.Discard, far) }()
	var pings bytes.Buffer
	for p := http2.NewFramer(&pings, nil); pings.Len() < 2*17*maxAcks; {
		_ = p.WritePing(false, [8]byte{})
	}
	if n, err := far.Write(pings.Bytes()); err != nil || !s.usable() {
		t.Errorf("the session ended after %d bytes of pings: %v", n, err)
	}
	s.end(io.EOF)
}

// TestNothingIsBegunOnASessionThatRetires: one that a server goes away from between
// two looks at it, with others' requests on it.
func TestNothingIsBegunOnASessionThatRetires(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	s := newSession(near, [][]field{{fine}}, 4096, time.Hour)
	s.mu.Lock()
	s.streams[1] = &http2Lane{id: 1, done: make(chan struct{}, 1)}
	s.mu.Unlock()
	go func() { _, _ = io.Copy(io.Discard, far) }()
	s.retire()
	l := &http2Lane{done: make(chan struct{}, 1), deadline: time.Now().Add(time.Hour)}
	s.begin(l)
	select {
	case <-l.done:
	default:
		t.Fatal("it waits for an answer")
	}
	if l.failure == nil || l.failure.Kind() != request.Closed || l.id != 0 {
		t.Errorf("%+v", l)
	}
	s.end(io.EOF)
}
