package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"linerate/internal/load"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/bedfile"
)

// stream is the id of a lab's traffic, and the first one's where it takes several
// ways; namespaces keep labs apart.
const stream = 1

// patience is how long a receiver waits for the end of a stream.
const patience = 2 * time.Second

// ends is how often the end of a stream is told. The queues of namespaces hold a
// millisecond's worth of frames, and are empty by then: the second is for luck.
const ends = 2

// bypassTries is how often a trial tries to measure its block's chain without
// DUT when other programs are in the way.
const bypassTries = 3

// trial runs one slot: reset, warm-up, traffic, drain, gates. Errors are the
// study's or the testbed's; what merely went wrong this time makes the trial
// invalid instead.
func (r *run) trial(ctx context.Context, slot study.Slot, part study.Part) (study.Trial, error) {
	t := study.Trial{Part: part.Name, Variant: slot.Variant, Block: slot.Block, Order: slot.Order, Mode: part.Mode,
		Retry: slot.Retry, Reasons: []string{}, Metrics: map[string]float64{}}
	variant, _ := r.task.Spec.Variant(slot.Variant)
	if why := r.forbids(variant); why != "" {
		return unavailable(t, why), nil
	}
	o := study.Observation{Load1: r.Machine.Load1()}
	applied, err := r.bed.Reset(ctx, variant.Apply())
	var un *testbed.ErrUnavailable
	if errors.As(err, &un) {
		return unavailable(t, un.Error()), nil
	}
	if err != nil {
		return t, fmt.Errorf("set up the variant: %w", err)
	}
	o.Applied = applied
	bypass, err := r.bypass(ctx, part, slot.Block, &o)
	if err != nil {
		return t, err
	}
	measure := r.measure
	switch {
	case part.Search != nil:
		measure = r.search
	case part.Flood != "":
		measure = r.flood
	}
	failed, err := measure(ctx, part, &o)
	if err != nil {
		return t, err
	}
	t.Observed = &o
	t.Metrics, t.Reasons = study.Judge(part, r.task.Spec.Gates, o, bypass)
	if failed != nil {
		t.Reasons = append([]string{failed.Error()}, t.Reasons...)
	}
	t.Valid = len(t.Reasons) == 0
	return t, nil
}

// forbids says why a variant's declared host settings may not be applied.
func (r *run) forbids(v study.Variant) string {
	if kind := r.out.Testbeds[string(r.mode)].Kind; v.OS != "" && systems[kind] != "" && v.OS != systems[kind] {
		return fmt.Sprintf("it needs a DUT of %s, and testbed %s is of %s", v.OS, kind, systems[kind])
	}
	host := v.HostScope()
	if len(host) == 0 || r.AllowHost {
		return ""
	}
	return fmt.Sprintf("%s is global to the kernel (scope: host), and settings of the host are not allowed in this run", host[0].Setting())
}

// systems are the operating systems of the DUTs of testbeds.
var systems = map[string]string{testbed.KindNetns: "linux", testbed.KindJails: "freebsd"}

func unavailable(t study.Trial, why string) study.Trial {
	t.Unavailable = why
	t.Reasons = []string{"unavailable: " + why}
	return t
}

// bypass is the block's chain time without DUT: from the record, or measured
// now. Mode overload needs none.
func (r *run) bypass(ctx context.Context, part study.Part, block int, o *study.Observation) (float64, error) {
	if part.Mode != testbed.Cost {
		return 0, nil
	}
	if ns, ok := study.BypassOf(r.task.Done, block); ok {
		return ns, nil
	}
	gen, sink, err := r.bed.Bypass()
	if err != nil {
		return 0, fmt.Errorf("wire generator and receiver without a DUT: %w", err)
	}
	offer, err := part.Offer(part.Seconds / 2)
	if err != nil {
		return 0, err
	}
	c, err := r.chain([]testbed.Way{{Generator: gen, Receiver: sink, Share: 1}}, part, 0)
	if err != nil {
		return 0, err
	}
	defer c.close()
	var b study.BypassRun
	for range bypassTries {
		run, err := c.run(ctx, offer, part.Warmup, nil)
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil {
			break // the bypass gate will say that it is missing
		}
		b = study.BypassRun{Sent: run.sent, Received: run.received, Contention: run.contention.Seconds()}
		if b.NS = study.BypassTime(r.task.Spec.Gates, b); b.NS > 0 {
			break
		}
		if err := c.rx.Reset(); err != nil {
			return 0, fmt.Errorf("measure without a DUT: %w", err)
		}
	}
	o.Bypass = &b
	return b.NS, nil
}

// measure runs the trial's traffic through the DUT. failed is what went wrong
// with the traffic; err is what can never go right.
func (r *run) measure(ctx context.Context, part study.Part, o *study.Observation) (failed, err error) {
	offer, err := part.Offer(part.Seconds)
	if err != nil {
		return nil, err
	}
	c, err := r.chain(testbed.WaysOf(r.bed), part, r.bed.DUTThread())
	if err != nil {
		return nil, err
	}
	defer c.close()
	cpus := r.bed.Describe().CPUs
	watched := distinct(cpus)
	before, err := r.check(watched)
	if err != nil {
		return nil, err
	}
	if part.Mode == testbed.Overload {
		// What is still queued before a slow DUT must not be counted as
		// the trial's own.
		c.settle = r.bed.Settle
	}
	var dead *dropWatch
	tell, err := r.telemetry(ctx, o)
	if err != nil {
		return nil, err
	}
	ask, err := r.prober(part, r.bed.Generator(), dutOf(r.bed))
	if err != nil {
		return nil, err
	}
	defer ask.close()
	asked := func() {}
	run, failed := c.run(ctx, offer, part.Warmup, func() error {
		if o.Before, err = r.bed.Counters(); err == nil {
			dead, err = watchDrops(dropsOf(r.bed))
		}
		asked = ask.during(offer.Limit.Duration)
		return err
	})
	asked()
	if err != nil {
		return nil, fmt.Errorf("read the DUT's counters: %w", err)
	}
	settled := r.bed.Settle(ctx)
	if o.After, err = r.bed.Counters(); err != nil {
		return nil, fmt.Errorf("read the DUT's counters: %w", err)
	}
	if dead != nil { // else the traffic never began
		if o.Drops, err = dead.since(); err != nil {
			return nil, err
		}
	}
	after, err := r.check(watched)
	if err != nil {
		return nil, err
	}
	tell()
	if err := ask.note(o); err != nil {
		return nil, err
	}
	o.CPUs = compare(before, after)
	o.Sent, o.Received, o.Contention = run.sent, run.received, run.contention.Seconds()
	return errors.Join(failed, settled), nil
}

// telemetry begins to watch what the DUT's own counters say, where it has some
// to read; tell ends it. A DUT that will not tell afterwards has no telemetry.
func (r *run) telemetry(ctx context.Context, o *study.Observation) (tell func(), err error) {
	o.Machines = r.task.Spec.OnMachines()
	o.Uncounted = r.bed.Describe().Kind == bedfile.KindPorts
	bed, ok := r.bed.(testbed.Telemeter)
	if !ok {
		return func() {}, nil
	}
	before, err := bed.Telemetry(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what the DUT says of itself: %w", err)
	}
	return func() {
		if after, err := bed.Telemetry(ctx); err == nil {
			o.DUT = after.Since(before)
		}
	}, nil
}

// chain is what frames pass: a generator and a receiver on two ports, with the
// DUT or nothing between them. It is loaded once, and used until the ports go.
type chain struct {
	gen        load.Generator
	rx         load.Receiver
	contention func() time.Duration
	now        func() time.Time
	// idle: what contention watches does nothing but for the traffic.
	idle   bool
	settle func(context.Context) error // waits until the warm-up is through; may be nil
}

// ran is what one run over a chain came to.
type ran struct {
	sent       load.Sent
	received   load.Received
	contention time.Duration
}

// chain loads generators and receivers. thread is the DUT's, where it works in
// one of its own.
func (r *run) chain(paths []testbed.Way, part study.Part, thread int) (*chain, error) {
	cpus := r.bed.Describe().CPUs
	watched, contention := r.Machine.Meter(paths[0].Generator.In, cpus.Generator)
	if thread > 0 {
		// The generator may wait as long as it keeps its headroom; the
		// DUT must not.
		contention = r.Machine.Watch(thread, cpus.DUT)
	}
	l := loading{run: r, part: part, several: len(paths) > 1}
	for _, p := range paths {
		if err := l.add(p, watched); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	gen, rx := load.Together(l.ways)
	return &chain{gen: gen, rx: rx, contention: contention, idle: thread > 0, now: r.Machine.Now}, nil
}

// loading is a chain that is being loaded, way by way.
type loading struct {
	run     *run
	part    study.Part
	several bool // paths, each with addresses of its own
	ways    []load.Way
}

func (l *loading) close() (err error) {
	for _, w := range l.ways {
		err = errors.Join(err, w.Generator.Close(), w.Receiver.Close())
	}
	return err
}

// add loads a path, in the directions of the part's traffic.
func (l *loading) add(p testbed.Way, watched testbed.Place) error {
	wire := study.Endpoints{From: p.Generator, To: p.Receiver}
	between := study.Endpoints{From: l.run.bed.Generator(), To: l.run.bed.Receiver()}
	if l.several {
		between = wire
	}
	spec, err := l.run.task.Spec.Traffic(l.part, wire, between)
	if err != nil {
		return err
	}
	if cpu := l.run.bed.Describe().CPUs.Generator; cpu >= 0 {
		spec.CPUs = []int{cpu}
	}
	back := spec.Back
	spec.Back = nil
	if err := l.one(spec, p.Generator, p.Receiver, watched, p.Share); err != nil || back == nil {
		return err
	}
	return l.one(*back, p.Receiver, p.Generator, p.Receiver.In, p.Share)
}

// one loads what sends and receives in one direction, as a stream of its own.
func (l *loading) one(spec load.Spec, from, to testbed.Port, in testbed.Place, share float64) error {
	spec.Side, spec.Stream, spec.Ends = from.Side, uint16(stream+len(l.ways)), ends
	watch := load.Watch{Stream: int(spec.Stream), MaxFlows: 2 * l.run.task.Spec.Offers(l.part).Flows, Side: to.Side}
	rx, err := l.run.Engine.NewReceiver(to.Device, to.In, watch)
	if err != nil {
		return fmt.Errorf("receive on %s: %w", to.Device, err)
	}
	gen, err := l.run.Engine.NewGenerator(spec, in)
	if err != nil {
		return errors.Join(fmt.Errorf("generate on %s: %w", from.Device, err), rx.Close())
	}
	l.ways = append(l.ways, load.Way{Name: from.Name() + " → " + to.Name(), Share: share, Generator: gen, Receiver: rx})
	return nil
}

func (c *chain) close() {
	c.gen.Close()
	c.rx.Close()
}

// run warms up, forgets, then measures. ready is called between the two.
func (c *chain) run(ctx context.Context, o load.Offer, warmup float64, ready func() error) (ran, error) {
	if err := c.warm(ctx, o.Rate, warmup); err != nil {
		return ran{}, err
	}
	if ready != nil {
		if err := ready(); err != nil {
			return ran{}, err
		}
	}
	c.contention()
	start := c.now()
	sent, err := c.gen.Run(ctx, o, nil)
	out := ran{sent: sent, contention: c.contention()}
	whole := c.now().Sub(start).Seconds()
	if err != nil {
		return out, fmt.Errorf("generator: %w", err)
	}
	if out.received, err = c.rx.Finish(ctx, patience); err != nil {
		return out, fmt.Errorf("receiver: %w", err)
	}
	// The generator ran longer than the traffic it is judged by: its
	// set-up and end-of-stream frames took their share of the waiting.
	if share := out.received.Seconds / whole; share < 1 && !c.idle {
		out.contention = time.Duration(float64(out.contention) * share)
	}
	return out, nil
}

// warm sends for a while and forgets it: caches, flow entries and the
// receiver's maps are then as they stay.
func (c *chain) warm(ctx context.Context, rate load.Rate, seconds float64) error {
	if seconds <= 0 {
		return nil
	}
	limit := load.Limit{Duration: time.Duration(seconds * float64(time.Second))}
	if _, err := c.gen.Run(ctx, load.Offer{Rate: rate, Limit: limit}, nil); err != nil {
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

// cpuState is one look at a CPU.
type cpuState struct {
	cpu    int
	spin   float64
	stolen time.Duration
	at     time.Time
}

// check times a spin on each CPU and reads what was stolen from it.
func (r *run) check(cpus []int) ([]cpuState, error) {
	var out []cpuState
	for _, cpu := range cpus {
		spin, err := r.Machine.Spin(cpu)
		if err != nil {
			return nil, fmt.Errorf("calibrate CPU %d: %w", cpu, err)
		}
		stolen, err := r.Machine.Stolen(cpu)
		if err != nil {
			return nil, fmt.Errorf("read the stolen time of CPU %d: %w", cpu, err)
		}
		out = append(out, cpuState{cpu, spin, stolen, r.Machine.Now()})
	}
	return out, nil
}

func compare(before, after []cpuState) []study.CPUCheck {
	out := make([]study.CPUCheck, len(before))
	for i, b := range before {
		a := after[i]
		out[i] = study.CPUCheck{CPU: b.cpu, SpinBefore: b.spin, SpinAfter: a.spin}
		if d := a.at.Sub(b.at); d > 0 {
			out[i].Steal = float64(a.stolen-b.stolen) / float64(d)
		}
	}
	return out
}

// distinct lists the CPUs in use, each once.
func distinct(c testbed.CPUs) []int {
	var out []int
	for _, cpu := range []int{c.Generator, c.DUT, c.Receiver} {
		seen := false
		for _, o := range out {
			seen = seen || o == cpu
		}
		if cpu >= 0 && !seen {
			out = append(out, cpu)
		}
	}
	return out
}
