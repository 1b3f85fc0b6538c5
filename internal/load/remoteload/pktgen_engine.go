package remoteload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/load"
	"linerate/internal/port"
)

// Counts are an interface's packet counters.
type Counts struct{ Received, Sent uint64 }

// Machine is a machine on which pkt-gen runs.
type Machine struct {
	Host host.Piper
	// Count reads the counters of an interface on the machine.
	Count func(ctx context.Context, device string) (Counts, error)
}

// PktGen drives netmap's pkt-gen(8). A receiver completes the account of its
// stream's generators: concurrent ones have different streams.
type PktGen struct {
	// Generate and Receive are additional options for the generator and the receiver.
	Generate, Receive   []string
	Generator, Receiver Machine

	program string // replaces the program in tests
	mu      sync.Mutex
	last    map[int]load.Sent // what a stream's generator sent since its receiver was reset
}

var _ load.Engine = (*PktGen)(nil)

// Name returns the name of the engine.
func (e *PktGen) Name() string { return "pkt-gen" }

func (e *PktGen) name() string { return cmp.Or(e.program, e.Name()) }

// Available returns nil: whether the program exists shows when it runs.
func (e *PktGen) Available() error { return nil }

// NewGenerator refuses traffic that pkt-gen cannot send.
func (e *PktGen) NewGenerator(spec load.Spec, _ port.Place) (load.Generator, error) {
	switch {
	case len(spec.Sizes) != 1:
		return nil, hint.With(fmt.Errorf("pkt-gen sends frames of one size, and the workload has %d", len(spec.Sizes)), "give the workload one size")
	case spec.Flows.Random:
		return nil, hint.With(errors.New("pkt-gen sends its flows in turn, and the workload wants them in random order"), "remove order: random")
	case spec.Flows.Elephant > 0:
		return nil, hint.With(errors.New("pkt-gen sends all flows at the same rate, and the workload has an elephant"), "remove elephant")
	}
	if _, err := e.sending(job{spec: spec}); err != nil {
		return nil, err
	}
	return &pktGenerator{e, spec}, nil
}

// NewReceiver starts counting.
func (e *PktGen) NewReceiver(device string, _ port.Place, w load.Watch) (load.Receiver, error) {
	r := &pktReceiver{e: e, stream: w.Stream, device: device}
	return r, r.Reset()
}

type pktGenerator struct {
	e    *PktGen
	spec load.Spec
}

// machine returns the machine of the spec's side; a receiver's machine can generate too.
func (g *pktGenerator) machine() Machine {
	return at(g.spec.Side, g.e.Generator, g.e.Receiver, g.e.Generator)
}

// Probe does nothing: pkt-gen's frames are ordinary.
func (g *pktGenerator) Probe(context.Context) error { return nil }

// Close does nothing: each run ends its program.
func (g *pktGenerator) Close() error { return nil }

// Run runs the program once.
func (g *pktGenerator) Run(ctx context.Context, o load.Offer) (load.Sent, error) {
	argv, err := g.e.sending(job{g.spec, o})
	if err != nil {
		return load.Sent{}, err
	}
	machine := g.machine()
	before, err := machine.Count(ctx, g.spec.Device)
	if err != nil {
		return load.Sent{}, err
	}
	text, err := g.generate(ctx, argv, o)
	after, failed := machine.Count(context.WithoutCancel(ctx), g.spec.Device)
	if err := errors.Join(ctx.Err(), err, failed); err != nil {
		return load.Sent{}, err
	}
	sent, err := g.account(text, o, after.Sent-before.Sent)
	if err == nil {
		g.e.add(int(g.spec.Stream), sent)
	}
	return sent, err
}

// generate lets the program send for the duration of the offer. pkt-gen has no time limit, so it is
// interrupted when the duration, counted from when it is ready, has passed.
func (g *pktGenerator) generate(ctx context.Context, argv []string, o load.Offer) (string, error) {
	length := o.Limit.Duration + pktGenIdle(o)
	p, err := start(ctx, g.machine().Host, argv, started+patience+2*length)
	if err != nil {
		return "", err
	}
	if o.Limit.Duration == 0 {
		return p.end()
	}
	begun, cancel := context.WithTimeout(ctx, started)
	defer cancel()
	if err := p.await(begun, pktGenReady); err != nil {
		p.interrupt()
		_, _ = p.end() // without traffic its account is of no use
		return "", fmt.Errorf("start the generator: %w", err)
	}
	over := time.AfterFunc(length, p.interrupt)
	defer over.Stop()
	return p.end()
}

// account derives the account from the program's output, checked against the interface's counters.
func (g *pktGenerator) account(text string, o load.Offer, counted uint64) (load.Sent, error) {
	a, err := readPktGen(text)
	if err != nil {
		return load.Sent{}, err
	}
	s := load.Sent{Engine: g.e.Name(), TxPackets: a.packets, Seconds: cmp.Or(a.seconds, o.Limit.Duration.Seconds()), TargetPPS: o.Rate.FramesPerSecond(g.spec.Sizes)}
	switch {
	case leftInRings(o, a.packets, counted):
		s.TxPackets = counted
	case counted > 0 && differ(counted, a.packets):
		s.Warnings = append(s.Warnings, fmt.Sprintf("pkt-gen says it sent %d frames, and %s counts %d", a.packets, g.spec.Device, counted))
	}
	s.TxBytes = s.TxPackets * uint64(g.spec.Sizes[0])
	s.Pace()
	if due := uint64(s.TargetPPS * o.Limit.Duration.Seconds()); due > s.TxPackets && o.Limit.Packets == 0 {
		s.Unsent = due - s.TxPackets
	}
	return s, nil
}

// ringful is how many frames a card's rings may hold in total.
const ringful = 1 << 16

// leftInRings reports whether pkt-gen, interrupted at full speed, counted frames
// as sent that were only in its rings: it waits for the rings to empty except
// when interrupted (sender_body in pkt-gen.c). Counters of an interface that
// counts only part of what it sends, as some do in netmap mode, are ignored.
func leftInRings(o load.Offer, said, counted uint64) bool {
	return o.Rate == (load.Rate{}) && o.Limit.Packets == 0 && counted < said && said-counted <= ringful && counted > said/2
}

// differ compares counts, allowing for frames that an interface sends unsolicited.
func differ(a, b uint64) bool {
	d := float64(max(a, b) - min(a, b))
	return d > chatter+0.001*float64(b)
}

// chatter is how many unsolicited frames machines may send meanwhile.
const chatter = 20

func (e *PktGen) add(stream int, s load.Sent) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last == nil {
		e.last = map[int]load.Sent{}
	}
	l := e.last[stream]
	l.TxPackets += s.TxPackets
	l.TxBytes += s.TxBytes
	l.Seconds += s.Seconds
	e.last[stream] = l
}

func (e *PktGen) sent(stream int) load.Sent {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last[stream]
}

func (e *PktGen) forget(stream int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.last, stream)
}
