package httpload

import (
	"bytes"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"linerate/internal/load/request"
)

// peer is the server's end of a session, used frame by frame.
type peer struct {
	*http2.Framer
	t     *testing.T
	block bytes.Buffer
	enc   *hpack.Encoder
}

// answering listens and runs f on each connection.
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

// request waits for the next request; 0 means the end.
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

// TestSessions: HTTP/2 servers with many kinds of behaviour.
func TestSessions(t *testing.T) {
	for _, c := range []struct {
		name     string
		serve    func(*peer, uint32)
		answered uint64
		kind     string // kind of the failures
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
			// The table size is changed again and again: bytes that contain no header field.
			some := bytes.Repeat([]byte{0x20}, 16<<10)
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
			s.HTTP2, s.Connections, s.Requests = true, 1, 6
			if c.kind == "too_late" {
				s.Timeout = 300 * time.Millisecond // long enough to connect on a slow machine
			}
			r := offer(t, s)
			if r.Answered != c.answered || r.BodyBytes != c.body || r.Failed != 6-c.answered || c.kind != "" && (len(r.Errors) != 1 || r.Errors[0].Kind != c.kind) {
				t.Errorf("%d answered of %d bytes, %+v", r.Answered, r.BodyBytes, r.Errors)
			}
		})
	}
}

// TestAServerThatDoesNotReadEndsNoRun: requests that cannot be written become late, and do not block
// the run for ever.
func TestAServerThatDoesNotReadEndsNoRun(t *testing.T) {
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	url := answering(t, func(*peer) { <-over })
	s := spec(t, url, "/"+strings.Repeat("x", 200_000))
	s.HTTP2, s.Connections, s.Requests, s.Timeout = true, 100, 150, 200*time.Millisecond
	r := offer(t, s)
	late := func(f request.Failure) bool { return f.Kind == "too_late" } // on a slow machine other connections may be late too
	if r.Failed != 150 || r.Requests != 150 || !slices.ContainsFunc(r.Errors, late) {
		t.Errorf("%d of %d failed: %+v", r.Failed, r.Requests, r.Errors)
	}
}

// TestAServerThatGoesAwayHasItsRequestsFinished: requests that the server accepted before GOAWAY are
// answered, and the next ones use another connection.
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
	s.HTTP2, s.Connections, s.Requests = true, 1, 12
	if r := offer(t, s); r.Answered != 12 || r.Connections != 4 || r.Reopened != 3 {
		t.Errorf("%d answered on %d connections, %d reopened, %+v", r.Answered, r.Connections, r.Reopened, r.Errors)
	}
}
