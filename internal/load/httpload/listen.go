package httpload

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

// maxHeaders bounds a block of headers, sent and unpacked, and maxString one of its
// strings. maxAcks is how many of the server's frames may be unanswered: one that
// asks without reading is not to fill memory.
const (
	maxHeaders = 1 << 20
	maxString  = 64 << 10
	maxAcks    = 10_000
)

// listener reads a session's frames.
type listener struct {
	*session
	in      *bufio.Reader
	frames  *http2.Framer
	decoder *hpack.Decoder
	owed    int // bytes of bodies since the last update of the connection's window
	// The block of headers that is read.
	code       int
	size, sent int // bytes of it, unpacked and as they came
	length     int64
	ends       bool // the stream, with this block
	told       bool // the server's settings have come
	pressing   bool // many of its frames are unanswered
	bad        error
}

// listen reads frames until the session's end.
func (s *session) listen(buffer int) {
	r := &listener{session: s, in: bufio.NewReaderSize(s.conn, buffer)}
	r.frames = http2.NewFramer(nil, r.in)
	r.frames.SetReuseFrames()
	r.frames.SetMaxReadFrameSize(fragment)
	r.decoder = hpack.NewDecoder(4096, r.header)
	r.decoder.SetMaxStringLength(maxString)
	for {
		err := r.frame()
		if err == nil && (r.in.Buffered() == 0 || r.pressing) {
			r.pressing = false
			s.flush(false)
		}
		var stream http2.StreamError
		if errors.As(err, &stream) {
			r.abandon(stream)
		} else if err != nil {
			s.end(err)
			return
		}
	}
}

// frame reads one frame and does what it says.
func (r *listener) frame() error {
	head, err := r.frames.ReadFrameHeader()
	if err != nil {
		return err
	}
	if head.Type == http2.FrameData {
		return r.data(head)
	}
	f, err := r.frames.ReadFrameForHeader(head)
	if err != nil {
		return err
	}
	switch f := f.(type) {
	case *http2.HeadersFrame:
		r.code, r.size, r.sent, r.length, r.bad = 0, 0, 0, -1, nil
		r.decoder.SetEmitEnabled(true)
		return r.headers(f.StreamID, f.HeaderBlockFragment(), f.HeadersEnded(), f.StreamEnded())
	case *http2.ContinuationFrame:
		return r.headers(f.StreamID, f.HeaderBlockFragment(), f.HeadersEnded(), r.ends)
	case *http2.PushPromiseFrame:
		return fmt.Errorf("the server pushes, although the client disabled push")
	}
	return r.control(f)
}

// control takes the frames that are of a connection, and resets.
func (r *listener) control(f http2.Frame) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch f := f.(type) {
	case *http2.SettingsFrame:
		return r.settings(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			return errors.Join(r.session.frames.WritePing(true, f.Data), r.acked())
		}
	case *http2.GoAwayFrame:
		r.away(f)
	case *http2.RSTStreamFrame:
		if l := r.streams[f.StreamID]; l != nil {
			r.done(l, resetFailure(l, f.ErrCode))
		}
	}
	return nil
}

// acked counts a frame that asked for an answer. Held: the lock.
func (r *listener) acked() error {
	r.acks++
	r.pressing = r.acks > maxAcks/2
	if r.acks > maxAcks {
		return fmt.Errorf("the server asked %d times without reading the answers", r.acks)
	}
	return nil
}

func resetFailure(l *http2Lane, code http2.ErrCode) *client.Failure {
	return &client.Failure{At: l.stage(), Err: fmt.Errorf("the stream was reset: %s", code), As: request.Reset}
}

// settings takes what the server wants.
func (r *listener) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	if !r.told { // of a limit that is not told there is none
		r.limit, r.told = 1<<30, true
	}
	err := f.ForeachSetting(func(s http2.Setting) error {
		switch s.ID {
		case http2.SettingMaxConcurrentStreams:
			r.limit = max(1, int(min(s.Val, 1<<30)))
		case http2.SettingHeaderTableSize:
			r.encoder.SetMaxDynamicTableSizeLimit(s.Val)
		}
		return s.Valid()
	})
	if err != nil {
		return err
	}
	r.admit()
	return errors.Join(r.session.frames.WriteSettingsAck(), r.acked())
}

// away ends what the server has not begun, and lets the rest finish.
func (r *listener) away(f *http2.GoAwayFrame) {
	r.retired = true
	why := &client.Failure{At: client.Waiting, Err: fmt.Errorf("the server goes away: %s", f.ErrCode), As: request.Closed}
	for _, l := range r.waiting {
		l.finish(why)
	}
	r.waiting = nil
	for id, l := range r.streams {
		if id > f.LastStreamID {
			r.done(l, why)
		}
	}
	r.rest()
}

// header takes one of the fields of a block.
func (r *listener) header(f hpack.HeaderField) {
	if r.size += int(f.Size()); r.size > maxHeaders {
		r.bad = fmt.Errorf("headers of more than %d bytes", maxHeaders)
	}
	switch f.Name {
	case ":status":
		r.code, r.bad = status(f.Value)
	case "content-length":
		n, err := strconv.ParseInt(f.Value, 10, 64)
		if err != nil || n < 0 {
			r.bad = fmt.Errorf("a length of %.40q", f.Value)
		}
		r.length = n
		r.decoder.SetEmitEnabled(false) // nothing of the rest is looked at
	}
}

func status(s string) (int, error) {
	code, err := strconv.Atoi(s)
	if err != nil || len(s) != 3 || code < 100 {
		return 0, fmt.Errorf("a status of %.40q", s)
	}
	return code, nil
}

// headers takes a part of a block of headers.
func (r *listener) headers(stream uint32, part []byte, whole, ends bool) error {
	r.ends = ends
	if r.sent += len(part); r.sent > maxHeaders {
		return fmt.Errorf("headers of more than %d bytes", maxHeaders)
	}
	if _, err := r.decoder.Write(part); err != nil {
		return err
	}
	if !whole {
		return nil
	}
	if err := r.decoder.Close(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.streams[stream]
	switch {
	case l == nil:
		return nil // given up
	case r.bad != nil || r.code == 0 && l.answer.code == 0:
		r.refuse(l, cmp.Or(r.bad, errors.New("an answer without a status")))
		return nil
	case r.code != 0 && l.answer.code != 0:
		r.refuse(l, errors.New("a second answer"))
		return nil
	case r.code == http.StatusNoContent || r.code == http.StatusNotModified: // the length is of what is not sent
		l.answer.code, l.length = r.code, -1
	case r.code >= 200:
		l.answer.code, l.length = r.code, r.length
	}
	if ends {
		r.complete(l)
	}
	return nil
}

// data discards a part of a body.
func (r *listener) data(head http2.FrameHeader) error {
	if head.StreamID == 0 {
		return fmt.Errorf("a body of no stream")
	}
	body := int(head.Length)
	if head.Flags.Has(http2.FlagDataPadded) && body > 0 {
		pad, err := r.in.ReadByte()
		if err != nil {
			return err
		}
		if body -= 1 + int(pad); body < 0 {
			return fmt.Errorf("a frame of %d bytes, %d of them padding", head.Length, pad)
		}
		_, err = r.in.Discard(int(head.Length) - 1)
		if err != nil {
			return err
		}
	} else if _, err := r.in.Discard(body); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.credit(head, body)
	return nil
}

// credit counts a part of a body, and lets the server send as much again.
func (r *listener) credit(head http2.FrameHeader, body int) {
	if r.owed += int(head.Length); r.owed > window/2 {
		_ = r.session.frames.WriteWindowUpdate(0, uint32(r.owed)) // to a buffer
		r.owed = 0
	}
	l := r.streams[head.StreamID]
	if l == nil {
		return // given up
	}
	l.answer.body += int64(body)
	if head.Flags.Has(http2.FlagDataEndStream) {
		r.complete(l)
	} else if l.credit += int(head.Length); l.credit > window/2 {
		_ = r.session.frames.WriteWindowUpdate(l.id, uint32(l.credit))
		l.credit = 0
	}
}

// complete ends a stream that the server has ended.
func (r *listener) complete(l *http2Lane) {
	var f *client.Failure
	if l.answer.code == 0 || l.length >= 0 && l.answer.body != l.length {
		f = &client.Failure{At: l.stage(), Err: io.ErrUnexpectedEOF}
	}
	r.done(l, f)
}

// abandon gives up a stream on which the server broke the protocol.
func (r *listener) abandon(e http2.StreamError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.streams[e.StreamID]; l != nil {
		r.refuse(l, e)
	}
}

// refuse ends a stream whose response is not valid. The caller holds the lock.
func (r *listener) refuse(l *http2Lane, why error) {
	_ = r.session.frames.WriteRSTStream(l.id, http2.ErrCodeProtocol) // to a buffer
	r.done(l, &client.Failure{At: l.stage(), Err: why, As: request.Malformed})
}
