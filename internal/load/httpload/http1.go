package httpload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"linerate/internal/load/client"
)

// maxHeaders bounds an answer's headers.
const maxHeaders = 1 << 20

// http1 is a lane of HTTP/1.1 with its own connection.
type http1 struct {
	wire
	heads   [][]byte
	buf     []byte // what has come and was not looked at is buf[from:to]
	from    int
	to      int
	careful *bufio.Reader    // of a connection whose answers are net/http's to read; nil: none
	more    io.LimitedReader // what it reads of the connection, bounded while it reads heads
}

func newHTTP1(r *source, on client.Events) *http1 {
	return &http1{wire: r.wire(on), heads: r.heads, buf: make([]byte, r.bufferSize())}
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

// Do asks for a target and reads the answer whole.
func (l *http1) Do(target int, deadline time.Time) client.Answer {
	fresh, f := l.ready(deadline)
	if f != nil {
		return answer{}.with(f)
	}
	if fresh {
		l.from, l.to, l.careful = 0, 0, nil
	}
	a, keep, f := l.exchange(target, deadline)
	if f != nil || !keep || l.newEach {
		l.Close()
	}
	l.last = deadline
	return a.with(f)
}

// exchange asks and reads the answer.
func (l *http1) exchange(target int, deadline time.Time) (a answer, keep bool, f *client.Failure) {
	if l.from < l.to || l.careful != nil && l.careful.Buffered() > 0 {
		return a, false, &client.Failure{At: client.Waiting, Err: errUnasked}
	}
	_ = l.raw.Until(deadline, l.timeout) // a closed connection says so at the next step
	if _, err := l.conn.Write(l.heads[target]); err != nil {
		return a, false, &client.Failure{At: client.Waiting, Err: err}
	}
	if l.careful != nil {
		return l.carefully()
	}
	h, is, err := l.head()
	if err != nil {
		return a, false, &client.Failure{At: client.Waiting, Err: err}
	}
	if is == unusual {
		l.more.R = io.MultiReader(bytes.NewReader(bytes.Clone(l.buf[l.from:l.to])), l.conn)
		l.careful = bufio.NewReaderSize(&l.more, len(l.buf))
		l.from, l.to = 0, 0
		return l.carefully()
	}
	a.code = h.code
	a.body, err = l.skip(h.length)
	if err != nil {
		return a, false, &client.Failure{At: client.Reading, Err: err}
	}
	return a, !h.last, nil
}

// errUnasked is the error for a server that sends more than the answer: it would be taken for
// the next one, which took no time.
var errUnasked = errors.New("the server sent more than the response")

// head reads an answer's head, if it is one of the usual; an unusual one is left
// where it is.
func (l *http1) head() (h head, is shape, err error) {
	for {
		h, n, is := parseHead(l.buf[l.from:l.to])
		if is == usual {
			l.from += n
		}
		if is != partial {
			return h, is, nil
		}
		if l.from > 0 { // what a former answer left
			l.from, l.to = 0, copy(l.buf, l.buf[l.from:l.to])
		}
		if l.to == len(l.buf) {
			return h, unusual, nil // long
		}
		more, err := l.conn.Read(l.buf[l.to:])
		if l.to += more; err != nil && more == 0 {
			return h, is, cutShort(err, l.to)
		}
	}
}

// cutShort is what the end of a connection means after so many bytes.
func cutShort(err error, had int) error {
	if errors.Is(err, io.EOF) && had > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

// skip reads a body and returns how much of it came.
func (l *http1) skip(length int64) (n int64, err error) {
	n = min(length, int64(l.to-l.from))
	l.from += int(n)
	for n < length {
		m, err := l.conn.Read(l.buf[:min(int64(len(l.buf)), length-n)])
		if n += int64(m); err != nil && n < length {
			return n, cutShort(err, 1)
		}
	}
	return n, nil
}

// carefully reads an answer of any shape.
func (l *http1) carefully() (a answer, keep bool, f *client.Failure) {
	l.more.N = maxHeaders
	resp, err := http.ReadResponse(l.careful, nil)
	for err == nil && resp.StatusCode < 200 { // interim (RFC 9110 15.2)
		resp, err = http.ReadResponse(l.careful, nil)
	}
	if err != nil {
		if l.more.N <= 0 {
			err = fmt.Errorf("headers of more than %d bytes", maxHeaders)
		}
		return a, false, &client.Failure{At: client.Waiting, Err: err}
	}
	l.more.N = math.MaxInt64 // a body has no bound but time
	a.code = resp.StatusCode
	a.body, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close() // read to its end, or failed
	if err != nil {
		return a, false, &client.Failure{At: client.Reading, Err: err}
	}
	return a, !resp.Close, nil
}
