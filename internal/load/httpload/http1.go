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

// maxHeaders bounds the size of a response's headers.
const maxHeaders = 1 << 20

// http1 is an HTTP/1.1 lane with its own connection.
type http1 struct {
	wire
	heads [][]byte
	in    *bufio.Reader
	more  io.LimitedReader // limits reading of the connection while reading headers
	buf   []byte
}

// headOf returns a request as sent on the wire.
func headOf(s *Spec, path string) ([]byte, error) {
	var b bytes.Buffer
	if err := s.request(path).Write(&b); err != nil {
		return nil, fmt.Errorf("write a request of %s: %w", path, err)
	}
	return b.Bytes(), nil
}

// Do requests a target and reads the whole response.
func (l *http1) Do(target int, deadline time.Time) client.Answer {
	fresh, f := l.ready(deadline)
	if f != nil {
		return answer{}.with(f)
	}
	if fresh {
		l.more.R = l.conn
		l.in.Reset(&l.more)
	}
	a, keep, f := l.exchange(target, deadline)
	if f != nil || !keep || l.newEach {
		l.Close()
	}
	l.last = deadline
	return a.with(f)
}

// errUnasked is the error for a server that sends more than the response: the excess would be
// taken for the next response, which would appear to take no time.
var errUnasked = errors.New("the server sent more than the response")

// exchange sends a request and reads the response.
func (l *http1) exchange(target int, deadline time.Time) (a answer, keep bool, f *client.Failure) {
	if l.in.Buffered() > 0 {
		return a, false, &client.Failure{At: client.Waiting, Err: errUnasked}
	}
	_ = l.raw.SetDeadline(deadline) // a closed connection causes an error in the next step
	if _, err := l.conn.Write(l.heads[target]); err != nil {
		return a, false, &client.Failure{At: client.Waiting, Err: err}
	}
	l.more.N = maxHeaders
	resp, err := http.ReadResponse(l.in, nil)
	for err == nil && resp.StatusCode < 200 { // interim response (RFC 9110 §15.2)
		resp, err = http.ReadResponse(l.in, nil)
	}
	if err != nil {
		if l.more.N <= 0 {
			err = fmt.Errorf("headers of more than %d bytes", maxHeaders)
		}
		return a, false, &client.Failure{At: client.Waiting, Err: err}
	}
	l.more.N = math.MaxInt64 // a body is limited only by time
	a.code = resp.StatusCode
	a.body, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, resp.Body, l.buf)
	_ = resp.Body.Close() // it was read completely, or failed
	if err != nil {
		return a, false, &client.Failure{At: client.Reading, Err: err}
	}
	return a, !resp.Close, nil
}
