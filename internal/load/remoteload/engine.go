package remoteload

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"linerate/internal/load"
	"linerate/internal/port"
)

// Engine generates on one machine and receives on another, or on the same one.
type Engine struct {
	Generator, Receiver *Side
}

// Side is one machine of an engine. A lost link is reestablished: the trial in
// progress fails, and the next one continues.
type Side struct {
	Start func(ctx context.Context) (*Link, error)

	mu   sync.Mutex
	link *Link
}

// Link returns the link to the machine.
func (s *Side) Link(ctx context.Context) (*Link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link != nil && s.link.Broken() == nil {
		return s.link, nil
	}
	if s.link != nil {
		s.link.Close()
	}
	var err error
	s.link, err = s.Start(ctx)
	return s.link, err
}

// Close ends the far program.
func (s *Side) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == nil {
		return nil
	}
	return s.link.Close()
}

// hello returns what the machine reported; empty before the first link.
func (s *Side) hello() Hello {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == nil {
		return Hello{}
	}
	return s.link.Hello()
}

// reconnect bounds how long to wait for a lost machine.
const reconnect = time.Minute

// ask sends a request to a side on behalf of methods without a context.
func (s *Side) ask(q request) (*Link, response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), reconnect)
	defer cancel()
	l, err := s.Link(ctx)
	if err != nil {
		return nil, response{}, err
	}
	r, err := l.call(ctx, q)
	return l, r, err
}

var _ load.Engine = (*Engine)(nil)

// Name returns the names of the far engines.
func (e *Engine) Name() string {
	g, r := e.Generator.hello().Engine, e.Receiver.hello().Engine
	if g == r {
		return g
	}
	return g + " → " + r
}

// Available checks whether both machines can be reached.
func (e *Engine) Available() error {
	ctx, cancel := context.WithTimeout(context.Background(), reconnect)
	defer cancel()
	if _, err := e.Generator.Link(ctx); err != nil {
		return err
	}
	_, err := e.Receiver.Link(ctx)
	return err
}

// Ready connects to a side's machine, so that later only traffic passes its wires.
func (e *Engine) Ready(ctx context.Context, side port.Side) error {
	_, err := at(side, e.Generator, e.Receiver, e.Generator).Link(ctx)
	return err
}

// Close ends the far programs.
func (e *Engine) Close() error { return errors.Join(e.Generator.Close(), e.Receiver.Close()) }

// OneClock reports whether both sides are the same machine, so that their
// times can be subtracted.
func (e *Engine) OneClock() bool {
	g, r := e.Generator.hello().Boot, e.Receiver.hello().Boot
	return g != "" && g == r
}

// at returns the value for a side; usual is the default for the kind of work.
func at[T any](side port.Side, generator, receiver, usual T) T {
	switch side {
	case port.GeneratorSide:
		return generator
	case port.ReceiverSide:
		return receiver
	}
	return usual
}

// NewGenerator prepares the spec's side; the place is determined by the link.
func (e *Engine) NewGenerator(spec load.Spec, _ port.Place) (load.Generator, error) {
	l, r, err := at(spec.Side, e.Generator, e.Receiver, e.Generator).ask(request{Op: opGenerator, Spec: &spec})
	if err != nil {
		return nil, err
	}
	return &generator{l, r.Handle}, nil
}

// NewReceiver starts counting on the watch's side.
func (e *Engine) NewReceiver(device string, _ port.Place, w load.Watch) (load.Receiver, error) {
	l, r, err := at(w.Side, e.Generator, e.Receiver, e.Receiver).ask(request{Op: opReceiver, Device: device, Watch: &w})
	if err != nil {
		return nil, err
	}
	return &receiver{l, r.Handle, e.OneClock()}, nil
}

type generator struct {
	link   *Link
	handle uint64
}

func (g *generator) Probe(ctx context.Context) error {
	_, err := g.link.call(ctx, request{Op: opProbe, Handle: g.handle})
	return err
}

// Run sends the traffic.
func (g *generator) Run(ctx context.Context, o load.Offer) (load.Sent, error) {
	r, err := g.link.call(ctx, request{Op: opRun, Handle: g.handle, Offer: &o})
	if r.Sent == nil {
		if err == nil {
			err = fmt.Errorf("%s did not report what it sent", g.link.name)
		}
		return load.Sent{}, err
	}
	return *r.Sent, err
}

func (g *generator) Close() error { return closeFar(g.link, g.handle) }

type receiver struct {
	link     *Link
	handle   uint64
	oneClock bool
}

func (r *receiver) Snapshot() (load.Received, error) {
	return r.ask(context.Background(), request{Op: opSnapshot})
}

func (r *receiver) Finish(ctx context.Context, patience time.Duration) (load.Received, error) {
	return r.ask(ctx, request{Op: opFinish, Patience: patience})
}

func (r *receiver) ask(ctx context.Context, q request) (load.Received, error) {
	q.Handle = r.handle
	a, err := r.link.call(ctx, q)
	if a.Received == nil {
		if err == nil {
			err = fmt.Errorf("%s does not report what arrived", r.link.name)
		}
		return load.Received{}, err
	}
	got := *a.Received
	if r.oneClock && (len(a.Delays.Counts) == 0 || len(a.Delays.Counts) == load.Buckets) {
		got.Delays = a.Delays
	}
	if !r.oneClock {
		got.Latency = nil // two clocks differ by more than any latency
	}
	return got, err
}

func (r *receiver) Reset() error {
	_, err := r.link.call(context.Background(), request{Op: opReset, Handle: r.handle})
	return err
}

func (r *receiver) Close() error { return closeFar(r.link, r.handle) }

// closeFar closes an object on the far side; after the link broke, it is already closed.
func closeFar(l *Link, handle uint64) error {
	if l.Broken() != nil {
		return nil
	}
	_, err := l.call(context.Background(), request{Op: opClose, Handle: handle})
	return err
}
