// Package packetload generates and counts traffic in user space. A common generator
// fills, paces and accounts for batches of frames; each engine provides Ports, its
// access to a device. AF_PACKET (Linux) needs only CAP_NET_RAW, sends frames of any
// size and works on any device, but is slower than xdpload. bpf(4) takes a system call
// per frame, but every FreeBSD has it for every interface. For netmap(4), remoteload
// runs pkt-gen, which is part of netmap and was faster than an engine here.
package packetload

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// Config configures a Generator for an engine.
type Config struct {
	Engine string // as in load.Sent.Engine
	Spec   load.Spec
	In     port.Place // where workers run
	Device wire.Device
	// First, if not nil, is an already open Port for the first worker, which also
	// sends the end-of-stream frames; if it is nil, Open opens it too. NewGenerator
	// closes First if it fails.
	First Port
	// Open opens a Port; it is called once for every other worker.
	Open func() (Port, error)
	// Stuck is advice for a device that refuses every frame.
	Stuck string
}

// Generator sends one load.Spec.
type Generator struct {
	Config
	framer  *load.Framer
	workers []*worker
	stop    atomic.Bool
}

var _ load.Generator = (*Generator)(nil)

// NewGenerator opens a Port for each worker and builds the flows' headers. If Spec has
// no source address, it uses the device's.
func NewGenerator(c Config) (*Generator, error) {
	g := &Generator{Config: c}
	err := g.prepare()
	if err == nil {
		return g, nil
	}
	if len(g.workers) == 0 && c.First != nil {
		err = errors.Join(err, c.First.Close())
	}
	return nil, errors.Join(err, g.Close())
}

func (g *Generator) prepare() (err error) {
	if g.Spec.SrcMAC == nil {
		g.Spec.SrcMAC = g.Device.MAC
	}
	if g.framer, err = load.NewFramer(g.Spec); err != nil {
		return err
	}
	if err := wire.Fits(g.Device, g.Spec.Sizes); err != nil {
		return err
	}
	cpus := wire.CPUsOf(g.Spec, g.framer)
	for i, cpu := range cpus {
		w, err := newWorker(g, cpu, i, len(cpus))
		if err != nil {
			return err
		}
		g.workers = append(g.workers, w)
	}
	return nil
}

// Close closes the ports.
func (g *Generator) Close() error {
	var all error
	for _, w := range g.workers {
		all = errors.Join(all, w.port.Close())
	}
	g.workers = nil
	return all
}

// Probe does nothing: every device accepts the frames of a Port.
func (g *Generator) Probe(context.Context) error { return nil }

const (
	startTimeout = 5 * time.Second
	beforeEnding = 10 * time.Millisecond
)

// transmission is one run of a generator.
type transmission struct {
	limit  load.Limit
	target float64 // frames per second; 0: maximum
	run    uint16
}

// Run sends until the limit, or until ctx is done.
func (g *Generator) Run(ctx context.Context, o load.Offer) (load.Sent, error) {
	t := transmission{limit: o.Limit, target: o.Rate.FramesPerSecond(g.Spec.Sizes), run: load.RunAt(wire.Monotonic())}
	g.stop.Store(false)
	ready := make(chan struct{}, len(g.workers))
	begin := make(chan uint64, len(g.workers))
	ended := make(chan error, len(g.workers))
	for i, w := range g.workers {
		w.reset(g, i, t)
		go func() {
			ended <- g.In(func() error {
				return wire.OnCPU(w.cpu, func(int) error {
					return w.send(&g.stop, ready, begin)
				})
			})
		}()
	}
	if err := g.begin(ready, begin, ended); err != nil {
		return load.Sent{}, err
	}
	if err := g.await(ctx, ended); err != nil {
		return load.Sent{}, err
	}
	return g.finish(ctx, t)
}

// begin starts all workers at the same time.
func (g *Generator) begin(ready chan struct{}, begin chan uint64, ended chan error) error {
	for range g.workers {
		var err error
		select {
		case <-ready:
			continue
		case err = <-ended:
		case <-time.After(startTimeout):
			err = fmt.Errorf("the workers did not start within %v", startTimeout)
		}
		g.stop.Store(true)
		close(begin)
		return err
	}
	start := wire.Monotonic()
	for range g.workers {
		begin <- start
	}
	return nil
}

func (g *Generator) await(ctx context.Context, ended chan error) error {
	var all error
	for left := len(g.workers); left > 0; {
		select {
		case err := <-ended:
			left--
			if err != nil {
				all = errors.Join(all, err)
				g.stop.Store(true)
			}
		case <-ctx.Done():
			g.stop.Store(true)
			ctx = context.Background()
		}
	}
	return all
}

// account sums up the workers.
func (g *Generator) account(t transmission) (load.Sent, []wire.Worker) {
	refused := uint64(0)
	sent := load.Sent{Engine: g.Engine, TargetPPS: t.target, Refused: &refused}
	var shares []wire.Worker
	for _, w := range g.workers {
		n := w.sent.Load()
		sent.TxPackets += n
		sent.TxBytes += w.bytes.Load() + 4*n
		sent.Unsent += w.unsent.Load()
		sent.Seconds = max(sent.Seconds, float64(w.elapsed.Load())/1e9)
		shares = append(shares, wire.Worker{Total: n})
	}
	sent.Pace()
	return sent, shares
}

func (g *Generator) finish(ctx context.Context, t transmission) (load.Sent, error) {
	time.Sleep(beforeEnding)
	sent, shares := g.account(t)
	send := func(frame []byte) error { return one(g.workers[0].port, frame) }
	wire.CloseRun(ctx, send, g.Spec, g.framer, t.run, shares, &sent)
	return sent, ctx.Err()
}

// Batch is the largest number of frames that a worker sends at once.
const Batch = 64

// Port is one worker's access to a device. Only that worker uses it.
type Port interface {
	// Send sends frames, in order, and returns how many the device accepted.
	// If these are fewer, without an error, it has no room for the rest at
	// present. The worker may reuse the frames' memory when Send returns.
	Send(frames [][]byte) (int, error)
	Close() error
}

// sendTries is how often a single frame is tried, 1 ms apart.
const sendTries = 500

// one sends a single frame, retrying while the device has no room for it.
func one(p Port, frame []byte) error {
	for range sendTries {
		n, err := p.Send([][]byte{frame})
		if n > 0 || err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("the device has no room for " + fmt.Sprintf("a frame of %d bytes", len(frame)))
}

// Stepper sends a Spec from the calling thread, a few frames at a time:
// interleaving engines build their slices from it. It uses the first worker
// of a Generator, which must not run meanwhile.
type Stepper struct{ w *worker }

// Stepper begins a run of the generator's stream.
func (g *Generator) Stepper(run uint16) *Stepper {
	w := g.workers[0]
	w.reset(g, 0, transmission{run: run})
	return &Stepper{w}
}

// CPU returns the CPU for the generator's worker; −1: any.
func (s *Stepper) CPU() int { return s.w.cpu }

// Step sends n frames, at most Batch, and returns how many the device accepted
// and how long the system calls took, in ns.
func (s *Stepper) Step(n int) (frames int, took uint64, err error) {
	var never atomic.Bool
	bytes := s.w.fill(n, s.w.clock.Now())
	begun := s.w.clock.Now()
	frames, err = s.w.push(n, &never)
	took = s.w.clock.Now() - begun
	s.w.sent.Add(uint64(frames))
	s.w.bytes.Add(bytes)
	return frames, took, err
}

// Account returns what was sent since the Stepper was made, and what of that arrived.
func (s *Stepper) Account(got load.Received) load.LaneAccount {
	a := load.LaneAccount{RxPackets: got.RxPackets, RxBytes: got.RxBytes, Duplicated: got.Duplicated, Reordered: got.Reordered, Flows: got.FlowsSeen}
	s.Sent(&a)
	a.Lost = a.TxPackets - min(a.TxPackets, a.RxPackets)
	return a
}

// Sent adds to an account what was sent since the Stepper was made.
func (s *Stepper) Sent(a *load.LaneAccount) {
	a.TxPackets = s.w.sent.Load()
	a.TxBytes = s.w.bytes.Load() + 4*a.TxPackets
}
