package forward

import (
	"context"
	"errors"
	"fmt"
	"time"

	"linerate/internal/load"
	"linerate/internal/port"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Chain is a path of frames: a generator and a receiver on two ports, with the DUT
// or nothing in between. It is loaded once, and used as long as the ports exist.
type Chain struct {
	gen        load.Generator
	rx         load.Receiver
	contention func() time.Duration
	now        func() time.Time
	// idle is set if the thread that contention watches is idle without traffic.
	idle   bool
	settle func(context.Context) error // waits until the warm-up has passed the DUT; may be nil
}

// Ran is the result of one run over a chain.
type Ran struct {
	Sent     load.Sent
	Received load.Received
	// Contention is how long the watched thread waited for other programs.
	Contention time.Duration
}

// Chain loads generators and receivers. thread is the DUT's thread, 0 if it has no
// separate one.
func (u *Setup) Chain(paths []testbed.Way, thread int) (*Chain, error) {
	cpus := u.Bed.Describe().CPUs
	watched, contention := u.Machine.Meter(paths[0].Generator.In, cpus.Generator)
	if thread > 0 {
		// The generator may wait as long as it keeps its headroom; the DUT
		// must not.
		contention = u.Machine.Watch(thread, cpus.DUT)
	}
	l := loading{spec: u.Spec(), part: u.Part, bed: u.Bed, engine: u.Engine, paths: len(paths)}
	for _, p := range paths {
		if err := l.add(p, watched); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	gen, rx := load.Together(l.ways)
	return &Chain{gen: gen, rx: rx, contention: contention, idle: thread > 0, now: u.Machine.Now}, nil
}

// loading is a chain being loaded, way by way.
type loading struct {
	spec   *study.Spec
	part   study.Part
	bed    testbed.Bed
	engine load.Engine
	paths  int // if there are several, each has its own addresses and an equal share of the load
	ways   []load.Way
}

func (l *loading) close() (err error) {
	for _, w := range l.ways {
		err = errors.Join(err, w.Generator.Close(), w.Receiver.Close())
	}
	return err
}

// add loads a path, in the directions of the part's traffic.
func (l *loading) add(p testbed.Way, watched port.Place) error {
	wire := study.Endpoints{From: p.Generator, To: p.Receiver}
	between := wire
	if l.paths == 1 {
		dut := l.bed.DUT()
		between = study.Endpoints{From: dut.Generator, To: dut.Receiver}
	}
	spec, err := study.Traffic(l.spec, l.part, wire, between)
	if err != nil {
		return err
	}
	if cpu := l.bed.Describe().CPUs.Generator; cpu >= 0 {
		spec.CPUs = []int{cpu}
	}
	back := spec.Back
	spec.Back = nil
	if err := l.one(spec, p.Generator, p.Receiver, watched); err != nil || back == nil {
		return err
	}
	return l.one(*back, p.Receiver, p.Generator, p.Receiver.In)
}

// one loads the sender and the receiver for one direction, as a separate stream.
func (l *loading) one(spec load.Spec, from, to port.Port, in port.Place) error {
	spec.Side, spec.Stream, spec.Ends = from.Side, uint16(stream+len(l.ways)), ends
	watch := load.Watch{Stream: int(spec.Stream), MaxFlows: 2 * l.spec.Offers(l.part).Flows, Side: to.Side, Flows: study.KindOf(l.part) == study.KindFlows}
	rx, err := l.engine.NewReceiver(to.Device, to.In, watch)
	if err != nil {
		return fmt.Errorf("receive on %s: %w", to.Device, err)
	}
	gen, err := l.engine.NewGenerator(spec, in)
	if err != nil {
		return errors.Join(fmt.Errorf("generate on %s: %w", from.Device, err), rx.Close())
	}
	l.ways = append(l.ways, load.Way{Name: from.Name() + " → " + to.Name(), Share: 1 / float64(l.paths), Generator: gen, Receiver: rx})
	return nil
}

// Close closes generator and receiver.
func (c *Chain) Close() {
	c.gen.Close()
	c.rx.Close()
}

// Reset discards the receiver's counts.
func (c *Chain) Reset() error { return c.rx.Reset() }

// Run warms up, resets the counts, and measures. It calls ready in between.
func (c *Chain) Run(ctx context.Context, o load.Offer, warmup float64, ready func() error) (Ran, error) {
	if err := c.warm(ctx, o.Rate, warmup); err != nil {
		return Ran{}, err
	}
	if ready != nil {
		if err := ready(); err != nil {
			return Ran{}, err
		}
	}
	c.contention()
	start := c.now()
	sent, err := c.gen.Run(ctx, o)
	out := Ran{Sent: sent, Contention: c.contention()}
	whole := c.now().Sub(start).Seconds()
	if err != nil {
		return out, fmt.Errorf("generator: %w", err)
	}
	if out.Received, err = c.rx.Finish(ctx, patience); err != nil {
		return out, fmt.Errorf("receiver: %w", err)
	}
	// The generator ran longer than the measured traffic: some of the waiting
	// was during its setup and end-of-stream frames.
	if share := out.Received.Seconds / whole; share < 1 && !c.idle {
		out.Contention = time.Duration(float64(out.Contention) * share)
	}
	return out, nil
}

// warm sends for a while and discards the result, so that caches, flow
// entries and the receiver's maps reach their steady state.
func (c *Chain) warm(ctx context.Context, rate load.Rate, seconds float64) error {
	if seconds <= 0 {
		return nil
	}
	limit := load.Limit{Duration: time.Duration(seconds * float64(time.Second))}
	if _, err := c.gen.Run(ctx, load.Offer{Rate: rate, Limit: limit}); err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	if _, err := c.rx.Finish(ctx, patience); err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	if c.settle != nil {
		if err := c.settle(ctx); err != nil {
			return fmt.Errorf("warm-up: %w", err)
		}
	}
	if err := c.rx.Reset(); err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	return ctx.Err()
}
