package httpload

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

const (
	// window is the flow-control window of streams and of the connection. Like
	// h2load's it is so large that the client's window never limits
	// throughput.
	window = 1 << 30
	// fragment is the largest frame accepted from the server (RFC 9113 §4.2).
	fragment = 16 << 10
	// maxStrings bounds the length of a string in a header block.
	maxStrings = 64 << 10
)

// http2Lane is an HTTP/2 lane with its own connection, built on the frames and
// headers of x/net: one request at a time, as on HTTP/1.1, so that the difference
// between the two is the protocol's. The client of x/net uses goroutines, locks and
// copies of bodies, and takes half as much CPU time again.
type http2Lane struct {
	wire
	requests [][]field // by target
	out      bytes.Buffer
	frames   *http2.Framer
	in       *bufio.Reader
	encoder  *hpack.Encoder
	decoder  *hpack.Decoder
	block    bytes.Buffer // a request's headers
	next     uint32       // next stream ID
	owed     int          // bytes of bodies since the last update of the connection's window
	got      reply
}

// reply is the state of a response being read.
type reply struct {
	answer
	length int64 // of the body, from the headers; -1: not stated
	credit int   // bytes since the last update of the stream's window
	code   int   // status in the header block being read
	size   int   // decoded plus encoded size of that block
	ends   bool  // the block ends the stream
	over   bool
	bad    error
}

// begin sends the connection preface on a new connection, with the first request.
func (l *http2Lane) begin() {
	l.out.Reset()
	l.in.Reset(l.conn)
	l.frames = http2.NewFramer(&l.out, l.in)
	l.frames.SetReuseFrames()
	l.frames.SetMaxReadFrameSize(fragment)
	l.encoder, l.decoder = hpack.NewEncoder(&l.block), hpack.NewDecoder(4096, l.header)
	l.decoder.SetMaxStringLength(maxStrings)
	l.next, l.owed = 1, 0
	l.out.WriteString(http2.ClientPreface)
	_ = l.frames.WriteSettings(http2.Setting{ID: http2.SettingEnablePush, Val: 0}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: window}) // to a buffer, as are all below
	_ = l.frames.WriteWindowUpdate(0, window-65_535)                                                                                               // the initial window of a connection
}

// Do requests a target and reads the whole response.
func (l *http2Lane) Do(target int, deadline time.Time) client.Answer {
	if l.conn != nil && l.next > 1<<30 { // long before stream IDs run out
		l.Close()
	}
	fresh, f := l.ready(deadline)
	if f != nil {
		return answer{}.with(f)
	}
	if fresh {
		l.begin()
	}
	_ = l.raw.SetDeadline(deadline) // a closed connection causes an error in the next step
	f = l.exchange(target)
	if f != nil || l.newEach {
		l.Close()
	}
	l.last = deadline
	return l.got.answer.with(f)
}

// exchange sends a request and reads the response.
func (l *http2Lane) exchange(target int) *client.Failure {
	l.got = reply{length: -1}
	l.ask(target)
	err := l.flush()
	for err == nil && !l.got.over {
		if err = l.frame(); err == nil && l.out.Len() > 0 {
			err = l.flush()
		}
	}
	l.next += 2
	var f *client.Failure
	var stream http2.StreamError
	switch {
	case err == nil && l.got.bad != nil:
		return &client.Failure{At: l.stage(), Err: l.got.bad, As: request.Malformed}
	case err == nil && (l.got.answer.code == 0 || l.got.length >= 0 && l.got.body != l.got.length):
		return &client.Failure{At: l.stage(), Err: io.ErrUnexpectedEOF}
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f
	case errors.As(err, &stream):
		return &client.Failure{At: l.stage(), Err: err, As: request.Malformed}
	}
	return &client.Failure{At: l.stage(), Err: err}
}

// ask writes a request.
func (l *http2Lane) ask(target int) {
	l.block.Reset()
	for _, f := range l.requests[target] {
		_ = l.encoder.WriteField(f) // to a buffer
	}
	_ = l.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: l.next, BlockFragment: l.block.Bytes(), EndStream: true, EndHeaders: true})
}

func (l *http2Lane) flush() error {
	_, err := l.conn.Write(l.out.Bytes())
	l.out.Reset()
	return err
}

// stage returns how far the request has got.
func (l *http2Lane) stage() client.Stage {
	if l.got.answer.code != 0 {
		return client.Reading
	}
	return client.Waiting
}

// frame reads and handles one frame.
func (l *http2Lane) frame() error {
	head, err := l.frames.ReadFrameHeader()
	if err != nil {
		return err
	}
	if head.Type == http2.FrameData {
		return l.data(head)
	}
	f, err := l.frames.ReadFrameForHeader(head)
	if err != nil {
		return err
	}
	switch f := f.(type) {
	case *http2.HeadersFrame:
		l.got.code, l.got.size, l.got.ends = 0, 0, f.StreamEnded()
		l.decoder.SetEmitEnabled(true)
		return l.headers(f.StreamID, f.HeaderBlockFragment(), f.HeadersEnded())
	case *http2.ContinuationFrame:
		return l.headers(f.StreamID, f.HeaderBlockFragment(), f.HeadersEnded())
	case *http2.PushPromiseFrame:
		return errors.New("the server pushes, although the client disabled push")
	case *http2.SettingsFrame:
		return l.settings(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			return l.frames.WritePing(true, f.Data)
		}
	case *http2.GoAwayFrame:
		return l.away(f)
	case *http2.RSTStreamFrame:
		if f.StreamID == l.next {
			return &client.Failure{At: l.stage(), Err: fmt.Errorf("the stream was reset: %s", f.ErrCode), As: request.Reset}
		}
	}
	return nil
}

// settings applies the server's limits on the client's headers.
func (l *http2Lane) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	err := f.ForeachSetting(func(s http2.Setting) error {
		if s.ID == http2.SettingHeaderTableSize {
			l.encoder.SetMaxDynamicTableSizeLimit(s.Val)
		}
		return s.Valid()
	})
	return cmp.Or(err, l.frames.WriteSettingsAck())
}

// away handles GOAWAY: the connection takes no further request, and possibly not this one.
func (l *http2Lane) away(f *http2.GoAwayFrame) error {
	l.retired = true
	if f.LastStreamID < l.next {
		return &client.Failure{At: client.Waiting, Err: fmt.Errorf("the server sent GOAWAY: %s", f.ErrCode), As: request.Closed}
	}
	return nil
}

// header handles one field of a header block.
func (l *http2Lane) header(f hpack.HeaderField) {
	if l.got.size += int(f.Size()); l.got.size > maxHeaders {
		l.got.bad = fmt.Errorf("headers of more than %d bytes", maxHeaders)
	}
	var err error
	switch f.Name {
	case ":status":
		l.got.code, err = strconv.Atoi(f.Value)
		if err != nil || len(f.Value) != 3 || l.got.code < 100 {
			l.got.bad = fmt.Errorf("%.40q is not a status", f.Value)
		}
	case "content-length":
		l.got.length, err = strconv.ParseInt(f.Value, 10, 64)
		if err != nil || l.got.length < 0 {
			l.got.bad = fmt.Errorf("%.40q is not a length", f.Value)
		}
		l.decoder.SetEmitEnabled(false) // the rest is ignored
	}
}

// headers handles a fragment of a header block.
func (l *http2Lane) headers(stream uint32, part []byte, whole bool) error {
	if l.got.size += len(part); l.got.size > maxHeaders {
		return fmt.Errorf("headers of more than %d bytes", maxHeaders)
	}
	if _, err := l.decoder.Write(part); err != nil || !whole {
		return err
	}
	if err := l.decoder.Close(); err != nil || stream != l.next {
		return err
	}
	g := &l.got
	switch {
	case g.code == 0 && g.answer.code == 0:
		g.bad = cmp.Or(g.bad, errors.New("an answer without a status"))
	case g.code != 0 && g.answer.code != 0:
		g.bad = cmp.Or(g.bad, errors.New("a second answer"))
	case g.code >= 200:
		g.answer.code = g.code
	}
	if g.code == http.StatusNoContent || g.code == http.StatusNotModified { // the length is of a body that is not sent
		g.length = -1
	}
	g.over = g.ends || g.bad != nil
	return nil
}

// data discards part of a body, and extends the server's window accordingly.
func (l *http2Lane) data(head http2.FrameHeader) error {
	if head.StreamID == 0 {
		return errors.New("a body without a stream")
	}
	length, body := int(head.Length), int(head.Length)
	if head.Flags.Has(http2.FlagDataPadded) && body > 0 {
		pad, err := l.in.ReadByte()
		if err != nil {
			return err
		}
		if body, length = body-1-int(pad), length-1; body < 0 {
			return fmt.Errorf("a frame of %d bytes, %d of them padding", head.Length, pad)
		}
	}
	if _, err := l.in.Discard(length); err != nil {
		return err
	}
	if l.owed += int(head.Length); l.owed > window/2 {
		_ = l.frames.WriteWindowUpdate(0, uint32(l.owed)) // to a buffer
		l.owed = 0
	}
	if head.StreamID != l.next {
		return nil
	}
	l.got.body += int64(body)
	if l.got.over = head.Flags.Has(http2.FlagDataEndStream); l.got.over {
		return nil
	}
	if l.got.credit += int(head.Length); l.got.credit > window/2 {
		_ = l.frames.WriteWindowUpdate(l.next, uint32(l.got.credit))
		l.got.credit = 0
	}
	return nil
}

// field is a header field of a request.
type field = hpack.HeaderField

func fieldsOf(s *Spec, path string) []field {
	req := s.request(path)
	return []field{{Name: ":method", Value: req.Method}, {Name: ":scheme", Value: req.URL.Scheme}, {Name: ":authority", Value: req.Host}, {Name: ":path", Value: req.URL.RequestURI()},
		{Name: "user-agent", Value: req.Header.Get("User-Agent")}}
}
