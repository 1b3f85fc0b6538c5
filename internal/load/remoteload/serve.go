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

// server answers one pipe.
type server struct {
	engine load.Engine
	hello  Hello
	mu     sync.Mutex // of what follows
	out    *json.Encoder
	next   uint64
	gens   map[uint64]load.Generator
	recvs  map[uint64]load.Receiver
	ends   map[uint64]context.CancelFunc // of requests under way
}

// Serve answers what is asked on in until it ends or ctx does; then all traffic
// is stopped and everything is closed.
func Serve(ctx context.Context, in io.Reader, out io.Writer, engine load.Engine, hello Hello) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hello.Protocol, hello.Engine = Protocol, engine.Name()
	s := &server{engine: engine, hello: hello, out: json.NewEncoder(out),
		gens: map[uint64]load.Generator{}, recvs: map[uint64]load.Receiver{}, ends: map[uint64]context.CancelFunc{}}
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
	s.closeAll()
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
	_ = s.out.Encode(r) // a pipe that broke ends the loop that reads it
}

func (s *server) do(ctx context.Context, q request) response {
	switch q.Op {
	case opHello:
		return response{Hello: &s.hello}
	case opGenerator, opReceiver:
		return s.open(q)
	case opProbe, opRun:
		return s.generate(ctx, q)
	case opSnapshot, opFinish, opReset:
		return s.receive(ctx, q)
	case opClose:
		return response{Error: toWire(s.close(q.Handle))}
	}
	return response{Error: toWire(fmt.Errorf("unknown request %q", q.Op))}
}

func (s *server) open(q request) response {
	var g load.Generator
	var r load.Receiver
	var err error
	switch {
	case q.Spec != nil:
		g, err = s.engine.NewGenerator(*q.Spec, port.Here)
	case q.Watch != nil:
		r, err = s.engine.NewReceiver(q.Device, port.Here, *q.Watch)
	default:
		err = fmt.Errorf("request %q is not whole", q.Op)
	}
	if err != nil {
		return response{Error: toWire(err)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	if g != nil {
		s.gens[s.next] = g
	} else {
		s.recvs[s.next] = r
	}
	return response{Handle: s.next}
}

func (s *server) generate(ctx context.Context, q request) response {
	s.mu.Lock()
	g := s.gens[q.Handle]
	s.mu.Unlock()
	switch {
	case g == nil:
		return response{Error: toWire(fmt.Errorf("no generator %d", q.Handle))}
	case q.Op == opProbe:
		return response{Error: toWire(g.Probe(ctx))}
	case q.Offer == nil:
		return response{Error: toWire(fmt.Errorf("request %q is not whole", q.Op))}
	}
	sent, err := g.Run(ctx, *q.Offer)
	return response{Sent: &sent, Error: toWire(err)}
}

func (s *server) receive(ctx context.Context, q request) response {
	s.mu.Lock()
	r := s.recvs[q.Handle]
	s.mu.Unlock()
	if r == nil {
		return response{Error: toWire(fmt.Errorf("no receiver %d", q.Handle))}
	}
	var got load.Received
	var err error
	switch q.Op {
	case opSnapshot:
		got, err = r.Snapshot()
	case opFinish:
		got, err = r.Finish(ctx, q.Patience)
	case opReset:
		return response{Error: toWire(r.Reset())}
	}
	return response{Received: &got, Delays: got.Delays, Error: toWire(err)}
}

func (s *server) close(handle uint64) error {
	s.mu.Lock()
	g, r := s.gens[handle], s.recvs[handle]
	delete(s.gens, handle)
	delete(s.recvs, handle)
	s.mu.Unlock()
	if g != nil {
		return g.Close()
	}
	if r != nil {
		return r.Close()
	}
	return nil
}

func (s *server) closeAll() {
	for h := range s.next {
		_ = s.close(h + 1)
	}
}
