package remoteload

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Link is a pipe to this program on another machine. Its methods are safe for
// concurrent use.
type Link struct {
	name  string
	pipe  io.ReadWriteCloser
	hello Hello

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan response
	broken  error
}

// grace is how long a cancelled request may take to complete its account.
const grace = 10 * time.Second

// Connect performs the handshake with the far side. name is the machine's
// name in messages. The link takes ownership of the pipe.
func Connect(ctx context.Context, name string, pipe io.ReadWriteCloser) (*Link, error) {
	l := &Link{name: name, pipe: pipe, waiting: map[uint64]chan response{}}
	go l.read()
	r, err := l.call(ctx, request{Op: opHello})
	switch {
	case err != nil:
	case r.Hello == nil || r.Hello.Protocol != Protocol:
		err = fmt.Errorf("%s: another linerate answers there", name)
	default:
		l.hello = *r.Hello
		return l, nil
	}
	return nil, errors.Join(err, l.Close())
}

// Hello is what the far side reported about itself.
func (l *Link) Hello() Hello { return l.hello }

// Close ends the far program and all its traffic.
func (l *Link) Close() error {
	l.fail(errors.New("the link is closed"))
	return l.pipe.Close()
}

// Broken returns why the link is unusable, or nil.
func (l *Link) Broken() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

func (l *Link) read() {
	lines := bufio.NewScanner(l.pipe)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var r response
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			l.fail(fmt.Errorf("it answers %.80q", lines.Text()))
			return
		}
		l.mu.Lock()
		c := l.waiting[r.ID]
		delete(l.waiting, r.ID)
		l.mu.Unlock()
		if c != nil {
			c <- r
		}
	}
	err := lines.Err()
	if err == nil {
		err = errors.New("the connection was lost")
	}
	l.fail(err)
}

// fail ends all waiting requests.
func (l *Link) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken == nil && strings.HasPrefix(err.Error(), l.name+": ") {
		l.broken = err // the pipe's error already names the machine
	} else if l.broken == nil {
		l.broken = fmt.Errorf("%s: %w", l.name, err)
	}
	for id, c := range l.waiting {
		close(c)
		delete(l.waiting, id)
	}
}

// call sends a request and waits for the response. If the context is done it
// cancels the request, but still waits for its account.
func (l *Link) call(ctx context.Context, q request) (response, error) {
	answer, id, err := l.send(q)
	if err != nil {
		return response{}, err
	}
	select {
	case r, ok := <-answer:
		return l.take(r, ok)
	case <-ctx.Done():
	}
	_, _, _ = l.send(request{Op: opCancel, Handle: id})
	select {
	case r, ok := <-answer:
		r, err := l.take(r, ok)
		if err == nil {
			err = ctx.Err()
		}
		return r, errors.Join(ctx.Err(), err)
	case <-time.After(grace):
		return response{}, fmt.Errorf("%s does not answer: %w", l.name, ctx.Err())
	}
}

func (l *Link) take(r response, ok bool) (response, error) {
	if !ok {
		return response{}, l.Broken()
	}
	if err := r.Error.err(); err != nil {
		return r, fmt.Errorf("%s: %w", l.name, err)
	}
	return r, nil
}

func (l *Link) send(q request) (chan response, uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return nil, 0, l.broken
	}
	l.next++
	q.ID = l.next
	answer := make(chan response, 1)
	if q.Op != opCancel {
		l.waiting[q.ID] = answer
	}
	line, err := json.Marshal(q)
	if err == nil {
		_, err = l.pipe.Write(append(line, '\n'))
	}
	if err != nil {
		delete(l.waiting, q.ID)
		return nil, 0, fmt.Errorf("%s: %w", l.name, err)
	}
	return answer, q.ID, nil
}
