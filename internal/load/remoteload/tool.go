package remoteload

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/load"
	"linerate/internal/port"
	"linerate/internal/tooltext"
)

// Counts are an interface's counters, in packets since some time in the past.
type Counts struct{ Received, Sent uint64 }

// Machine is where a program runs.
type Machine struct {
	Host host.Piper
	// Count reads the counters of an interface there.
	Count func(ctx context.Context, device string) (Counts, error)
}

// Tool is a program that generates or receives.
type Tool struct {
	Name string // for people
	// Generate and Receive make the command lines; Receive is nil where the
	// receiver's interface alone counts.
	Generate, Receive func(Job) ([]string, error)
	// Sent and Got read what they print; Ready, if not "", is what the
	// receiver prints when it begins, and a generator that Stops.
	Sent, Got func(text string) (tooltext.Account, error)
	Ready     string
	// Stops: the generator knows no time, and is interrupted when it is over:
	// that begins when it is Ready.
	Stops bool
	// Idle is how long the offer's first frame takes beyond that.
	Idle func(load.Offer) time.Duration
}

// Job is what a program is to do.
type Job struct {
	Spec  load.Spec
	Offer load.Offer
}

// ToolEngine drives a tool. A receiver closes the account of the generators of its
// stream: those that work at the same time have different streams.
type ToolEngine struct {
	Tool                Tool
	Generator, Receiver Machine

	mu   sync.Mutex
	last map[int]load.Sent // what a stream's generator did since its receiver was reset
}

var _ load.Engine = (*ToolEngine)(nil)

// Name is the tool's.
func (e *ToolEngine) Name() string { return e.Tool.Name }

// Available is nil: whether the program is there shows when it runs.
func (e *ToolEngine) Available() error { return nil }

// NewGenerator prepares a command line; a tool that cannot do the traffic says so.
func (e *ToolEngine) NewGenerator(spec load.Spec, _ port.Place) (load.Generator, error) {
	if len(spec.Sizes) != 1 {
		return nil, hint.With(fmt.Errorf("%s sends frames of one size, and the workload has %d", e.Tool.Name, len(spec.Sizes)), "give the workload one size")
	}
	if spec.Flows.Random {
		return nil, hint.With(fmt.Errorf("%s sends its flows in turn, and the workload wants them in random order", e.Tool.Name), "remove order: random")
	}
	if spec.Flows.Elephant > 0 {
		return nil, hint.With(fmt.Errorf("%s sends as much of each flow, and the workload has an elephant", e.Tool.Name), "remove elephant")
	}
	if _, err := e.Tool.Generate(Job{Spec: spec}); err != nil {
		return nil, err
	}
	return &toolGenerator{e, at(spec.Side, &e.Generator, &e.Receiver, &e.Generator), spec}, nil
}

// NewReceiver starts to count.
func (e *ToolEngine) NewReceiver(device string, _ port.Place, w load.Watch) (load.Receiver, error) {
	r := &toolReceiver{e: e, at: at(w.Side, &e.Generator, &e.Receiver, &e.Receiver), stream: w.Stream, device: device}
	return r, r.Reset()
}

type toolGenerator struct {
	e    *ToolEngine
	at   *Machine
	spec load.Spec
}

// Probe is nil: other programs' frames are plain.
func (g *toolGenerator) Probe(context.Context) error { return nil }

// Close ends nothing: a run ends its program.
func (g *toolGenerator) Close() error { return nil }

// Run runs the program once.
func (g *toolGenerator) Run(ctx context.Context, o load.Offer, _ func(load.Sent)) (load.Sent, error) {
	argv, err := g.e.Tool.Generate(Job{g.spec, o})
	if err != nil {
		return load.Sent{}, err
	}
	before, err := g.at.Count(ctx, g.spec.Device)
	if err != nil {
		return load.Sent{}, err
	}
	text, err := g.generate(ctx, argv, o)
	after, failed := g.at.Count(context.WithoutCancel(ctx), g.spec.Device)
	if err := errors.Join(ctx.Err(), err, failed); err != nil {
		return load.Sent{}, err
	}
	sent, err := g.account(text, o, after.Sent-before.Sent)
	if err == nil {
		g.e.add(int(g.spec.Stream), sent)
	}
	return sent, err
}

// generate has the program send, for as long as the offer says.
func (g *toolGenerator) generate(ctx context.Context, argv []string, o load.Offer) (string, error) {
	t := &g.e.Tool
	length := o.Limit.Duration
	if t.Idle != nil {
		length += t.Idle(o)
	}
	p, err := start(ctx, g.at.Host, argv, started+patience+2*length)
	if err != nil {
		return "", err
	}
	if !t.Stops || o.Limit.Duration == 0 {
		return p.end()
	}
	if t.Ready != "" {
		begun, cancel := context.WithTimeout(ctx, started)
		defer cancel()
		err = p.await(begun, t.Ready)
	}
	if err != nil {
		p.interrupt()
		_, _ = p.end() // without traffic its account is of no use
		return "", fmt.Errorf("start the generator: %w", err)
	}
	over := time.AfterFunc(length, p.interrupt)
	defer over.Stop()
	return p.end()
}

// account is what was sent, as the program says; its interface counts where it
// does not, and is heard where it does.
func (g *toolGenerator) account(text string, o load.Offer, counted uint64) (load.Sent, error) {
	a, err := g.e.Tool.Sent(text)
	if err != nil {
		return load.Sent{}, fmt.Errorf("%s: %w", g.e.Tool.Name, err)
	}
	s := load.Sent{Engine: g.e.Tool.Name, TxPackets: a.Packets, Seconds: a.Seconds, TargetPPS: o.Rate.FramesPerSecond(g.spec.Sizes)}
	if s.Seconds == 0 {
		s.Seconds = o.Limit.Duration.Seconds()
	}
	switch {
	case !a.Counted, g.leftInRings(o, a.Packets, counted):
		s.TxPackets = counted
	case counted > 0 && differ(counted, a.Packets):
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s says it sent %d frames, and %s counts %d", g.e.Tool.Name, a.Packets, g.spec.Device, counted))
	}
	s.TxBytes = s.TxPackets * uint64(g.spec.Sizes[0])
	s.Pace()
	if due := uint64(s.TargetPPS * o.Limit.Duration.Seconds()); due > s.TxPackets && o.Limit.Packets == 0 {
		s.Unsent = due - s.TxPackets
	}
	return s, nil
}

// ringful is how many frames a card's rings may hold, all together.
const ringful = 1 << 16

// leftInRings tells whether a program that was interrupted at full speed counted as
// sent what it had only put into its rings: pkt-gen waits for those to empty, but
// when it is interrupted (sender_body in pkt-gen.c). An interface that counts
// a part of what it sends, as some do in netmap mode, is not believed.
func (g *toolGenerator) leftInRings(o load.Offer, said, counted uint64) bool {
	return g.e.Tool.Stops && o.Rate == (load.Rate{}) && o.Limit.Packets == 0 && counted < said && said-counted <= ringful && counted > said/2
}

// differ allows for what an interface sends unasked.
func differ(a, b uint64) bool {
	d := float64(max(a, b) - min(a, b))
	return d > chatter+0.001*float64(b)
}

// chatter is how many unsolicited frames machines may send meanwhile.
const chatter = 20

func (e *ToolEngine) add(stream int, s load.Sent) {
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

func (e *ToolEngine) sent(stream int) load.Sent {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last[stream]
}

func (e *ToolEngine) forget(stream int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.last, stream)
}

// Command makes a command line of a template: words in which {name} stands for
// what Words has of that name.
func Command(template []string) func(Job) ([]string, error) {
	return func(j Job) ([]string, error) {
		r := strings.NewReplacer(pairs(j)...)
		argv := make([]string, len(template))
		for i, w := range template {
			argv[i] = r.Replace(w)
		}
		return argv, nil
	}
}
