package remoteload

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"linerate/internal/load"
	"linerate/internal/port"
)

// server serves one pipe.
type server struct {
	engine load.Engine
	hello  Hello
	mu     sync.Mutex // protects the fields below
	out    *json.Encoder
	next   uint64
	open   map[uint64]io.Closer          // generators and receivers
	ends   map[uint64]context.CancelFunc // by ID of running requests
}

// Serve answers requests from in until it ends or ctx is done; then it stops
// all traffic and closes everything.
func Serve(ctx context.Context, in io.Reader, out io.Writer, engine load.Engine, hello Hello) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hello.Protocol, hello.Engine = Protocol, engine.Name()
	s := &server{engine: engine, hello: hello, out: json.NewEncoder(out),
		open: map[uint64]io.Closer{}, ends: map[uint64]context.CancelFunc{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	var wg sync.WaitGroup
	for lines.Scan() {
		var q request
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		if q.Op == opCancel {
			s.cancel(q.Handle)
			continue
		}
		rctx, end := context.WithCancel(ctx)
		s.mu.Lock()
		s.ends[q.ID] = end
		s.mu.Unlock()
		wg.Go(func() { s.answer(rctx, q) })
	}
	cancel()
	wg.Wait()
	for h := range s.next {
		_ = s.close(h + 1)
	}
	return lines.Err()
}

func (s *server) cancel(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if end := s.ends[id]; end != nil {
		end()
	}
}

func (s *server) answer(ctx context.Context, q request) {
	r := s.do(ctx, q)
	r.ID = q.ID
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends[q.ID]()
	delete(s.ends, q.ID)
	_ = s.out.Encode(r) // a broken pipe ends the reading loop
}

// do executes a request; errors are in the response.
func (s *server) do(ctx context.Context, q request) (r response) {
	var err error
	switch q.Op {
	case opHello:
		r.Hello = &s.hello
	case opGenerator, opReceiver:
		r.Handle, err = s.make(q)
	case opClose:
		err = s.close(q.Handle)
	default:
		s.mu.Lock()
		of := s.open[q.Handle]
		s.mu.Unlock()
		err = r.fill(ctx, of, q)
	}
	r.Error = toWire(err)
	return r
}

// make creates a generator or a receiver.
func (s *server) make(q request) (handle uint64, err error) {
	var made io.Closer
	switch {
	case q.Op == opGenerator && q.Spec != nil:
		made, err = s.engine.NewGenerator(*q.Spec, port.Here)
	case q.Op == opReceiver && q.Watch != nil:
		made, err = s.engine.NewReceiver(q.Device, port.Here, *q.Watch)
	default:
		err = fmt.Errorf("request %q is not whole", q.Op)
	}
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.open[s.next] = made
	return s.next, nil
}

// fill executes a request on a generator or receiver, and fills in the response.
func (r *response) fill(ctx context.Context, of io.Closer, q request) (err error) {
	g, generates := of.(load.Generator)
	rx, receives := of.(load.Receiver)
	switch {
	case generates && q.Op == opProbe:
		return g.Probe(ctx)
	case generates && q.Op == opRun && q.Offer != nil:
		r.Sent = &load.Sent{}
		*r.Sent, err = g.Run(ctx, *q.Offer)
		return err
	case receives && q.Op == opReset:
		return rx.Reset()
	case receives && q.Op == opSnapshot:
		r.Received = &load.Received{}
		*r.Received, err = rx.Snapshot()
	case receives && q.Op == opFinish:
		r.Received = &load.Received{}
		*r.Received, err = rx.Finish(ctx, q.Patience)
	default:
		return fmt.Errorf("request %q to %d: nothing there can do it", q.Op, q.Handle)
	}
	r.Delays = r.Received.Delays
	return err
}

func (s *server) close(handle uint64) error {
	s.mu.Lock()
	of := s.open[handle]
	delete(s.open, handle)
	s.mu.Unlock()
	if of == nil {
		return nil
	}
	return of.Close()
}
