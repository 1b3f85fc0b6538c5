package packetload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/cputime"
	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/testbed"
)

// Name is the engine's, as in load.Sent.
const Name = "af_packet"

type engine struct{}

// New returns the engine.
func New() load.Engine { return engine{} }

// Name is "af_packet".
func (engine) Name() string { return Name }

// Available tries what the engine is made of: a packet socket.
func (engine) Available() error {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return load.NotHere(wire.NotPermitted(fmt.Errorf("open a packet socket: %w", err)))
	}
	return unix.Close(fd)
}

// Generator sends one load.Spec.
type Generator struct {
	spec    load.Spec
	in      testbed.Place
	device  wire.Device
	framer  *load.Framer
	socket  *wire.Socket // for end-of-stream frames
	workers []*worker
	stop    atomic.Bool
}

// NewGenerator opens a socket per worker and builds the flows' headers.
func (engine) NewGenerator(spec load.Spec, in testbed.Place) (load.Generator, error) {
	g := &Generator{spec: spec, in: in}
	if err := g.prepare(); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

func (g *Generator) prepare() (err error) {
	if g.device, err = wire.Look(g.spec.Device, g.in); err != nil {
		return err
	}
	if g.spec.SrcMAC == nil {
		g.spec.SrcMAC = g.device.MAC
	}
	if g.framer, err = load.NewFramer(g.spec); err != nil {
		return err
	}
	if err := wire.Fits(g.device, g.spec.Sizes); err != nil {
		return err
	}
	if g.socket, err = wire.Open(g.device, g.in); err != nil {
		return err
	}
	cpus := g.cpus()
	for i, cpu := range cpus {
		w, err := newWorker(g, cpu, i, len(cpus))
		if err != nil {
			return err
		}
		g.workers = append(g.workers, w)
	}
	return nil
}

// cpus lists where workers run: no more of them than flows.
func (g *Generator) cpus() []int {
	if len(g.spec.CPUs) == 0 {
		return []int{-1}
	}
	return g.spec.CPUs[:min(len(g.spec.CPUs), g.framer.Flows().Count)]
}

// Close closes the sockets.
func (g *Generator) Close() error {
	for _, w := range g.workers {
		w.socket.Close()
	}
	if g.socket != nil {
		g.socket.Close()
	}
	return nil
}

// Probe has nothing to see: any device takes the frames of a packet socket.
func (g *Generator) Probe(context.Context) error { return nil }

const (
	startTimeout = 5 * time.Second
	pollEvery    = 5 * time.Millisecond
	reportEvery  = 100 * time.Millisecond
	beforeEnding = 10 * time.Millisecond
)

// transmission is one run of a generator.
type transmission struct {
	limit  load.Limit
	target float64 // frames per second, 0: maximum
	run    uint16
	meter  *cputime.Meter
}

// Run sends until the limit or ctx ends.
func (g *Generator) Run(ctx context.Context, o load.Offer, progress func(load.Sent)) (load.Sent, error) {
	t := transmission{limit: o.Limit, target: o.Rate.FramesPerSecond(g.spec.Sizes), run: load.RunAt(wire.Monotonic())}
	t.meter = cputime.NewMeter(g.cpus())
	g.stop.Store(false)
	ready := make(chan struct{}, len(g.workers))
	begin := make(chan uint64, len(g.workers))
	ended := make(chan error, len(g.workers))
	for i, w := range g.workers {
		w.reset(g, i, t)
		go func() {
			ended <- g.in(func() error {
				return wire.OnCPU(w.cpu, func(int) error {
					return t.meter.Worker(func() error { return w.send(&g.stop, ready, begin) })
				})
			})
		}()
	}
	if err := g.begin(ready, begin, ended); err != nil {
		return load.Sent{}, err
	}
	if err := g.await(ctx, t, ended, progress); err != nil {
		return load.Sent{}, err
	}
	return g.finish(ctx, t)
}

// begin lets all workers start at one time.
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

func (g *Generator) await(ctx context.Context, t transmission, ended chan error, progress func(load.Sent)) error {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
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
		case <-tick.C:
			if progress != nil {
				s, _ := g.account(t)
				progress(s)
			}
		}
	}
	return all
}

// account adds up the workers.
func (g *Generator) account(t transmission) (load.Sent, []wire.Worker) {
	refused := uint64(0)
	sent := load.Sent{Engine: Name, TargetPPS: t.target, Refused: &refused}
	var shares []wire.Worker
	for _, w := range g.workers {
		n := w.sent.Load()
		sent.TxPackets += n
		sent.TxBytes += w.bytes.Load() + 4*n
		sent.Unsent += w.unsent.Load()
		sent.Seconds = max(sent.Seconds, float64(w.elapsed.Load())/1e9)
		shares = append(shares, wire.Worker{Flows: w.flows, Total: n, Counts: w.sequences})
	}
	if sent.Seconds > 0 {
		sent.TxPPS = float64(sent.TxPackets) / sent.Seconds
	}
	if sent.TargetPPS > 0 && sent.Seconds > 0 {
		sent.PacingError = math.Abs(sent.TxPPS/sent.TargetPPS - 1)
	}
	return sent, shares
}

func (g *Generator) finish(ctx context.Context, t transmission) (load.Sent, error) {
	host := t.meter.HostTime()
	time.Sleep(beforeEnding)
	sent, shares := g.account(t)
	sent.Host = &host
	sent.Short = sent.ShortBecause()
	stamp := load.Stamp{Stream: g.spec.Stream, Run: t.run, Time: wire.Monotonic()}
	if err := g.socket.SendEnds(ctx, g.device, g.framer, stamp, shares); err != nil {
		sent.Warnings = append(sent.Warnings, fmt.Sprintf("no end of stream was sent, so that a receiver cannot know the loss: %v", err))
	}
	if n := len(g.spec.CPUs) - len(g.workers); n > 0 {
		sent.Warnings = append(sent.Warnings, fmt.Sprintf("%d of %d CPUs sent nothing: a flow is sent from one CPU, and there are %d flows", n, len(g.spec.CPUs), len(g.workers)))
	}
	return sent, ctx.Err()
}

// errSend explains a failed send.
func errSend(device string, err error) error {
	return hint.With(fmt.Errorf("send through %s: %w", device, err), "is the device still up? ip link show dev %s", device)
}
