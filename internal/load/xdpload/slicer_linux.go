package xdpload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

const (
	// maxEntries is the largest number of slices that one run can record.
	maxEntries = 1 << 16
	// firstStream is the stream of the first lane; the others follow.
	firstStream = 1
	// drainFor is how long frames may be in flight after a run.
	drainFor = 100 * time.Millisecond
)

// slicer sends one load.Spec over several lanes (load.Slicer).
type slicer struct {
	spec   load.Spec
	framer *load.Framer
	back   *load.Framer // for the other direction, or nil
	call   liveCall
	objs   slicesObjects
	rx     Receiver // for all lanes
}

var _ load.Interleaver = engine{}

// NewSlicer loads one generator and one receiver for n lanes.
func (engine) NewSlicer(spec load.Spec, n int) (load.Slicer, error) {
	if n < 1 || n*spec.Ways() > load.MaxLanes {
		return nil, fmt.Errorf("%d lanes: from 1 to %d", n, load.MaxLanes/spec.Ways())
	}
	spec.Stream = 0 // each lane has its own stream
	s := &slicer{spec: spec, call: liveCall{cpu: -1}}
	s.call.batch.Store(batch)
	if len(spec.CPUs) > 0 {
		s.call.cpu = spec.CPUs[0]
	}
	var err error
	if s.framer, err = load.NewFramer(spec); err != nil {
		return nil, err
	}
	if spec.Back != nil {
		if s.back, err = load.NewFramer(*spec.Back); err != nil {
			return nil, err
		}
	}
	if err := s.load(n); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// load loads the programs of receiver and generator, and fills the maps.
func (s *slicer) load(n int) error {
	flows := s.framer.Flows().Count
	n *= s.spec.Ways()
	perLane := (flows + pageFlows - 1) / pageFlows * pageFlows
	s.rx = Receiver{only: -1, device: wire.Device{Queues: 1}}
	if err := s.rx.load(load.Watch{Stream: -1, MaxFlows: n * perLane}); err != nil {
		return err
	}
	// Frame and flow words are built by the plain generator.
	g := &Generator{spec: s.spec, framer: s.framer}
	back := &Generator{spec: s.spec, framer: s.back}
	s.call.frame = make([]byte, max(0, slices.Max(s.spec.Sizes)-4))
	s.framer.Put(s.call.frame, 0)
	c := g.config(&worker{flows: flows, liveCall: liveCall{frame: s.call.frame}}, 0, 1)
	l := loading{what: "the generator's program", variables: map[string]any{slicesVarConfig: slicesGenerateConfig(c)},
		entries: map[string]int{slicesMapFlows: flows * s.spec.Ways(), slicesMapLengths: len(s.spec.Sizes), slicesMapEntries: maxEntries},
		shared:  map[string]*ebpf.Map{slicesMapStreams: s.rx.objs.Streams}}
	if s.back != nil {
		frame := make([]byte, len(s.call.frame))
		s.back.Put(frame, 0)
		l.variables[slicesVarBack] = back.config(&worker{flows: flows, liveCall: liveCall{frame: frame}}, 0, 1).Head
	}
	if s.framer.Flows().Random {
		l.entries[slicesMapSequences] = n * flows
	}
	if err := l.into(&s.objs, loadSlices); err != nil {
		return err
	}
	return s.fill(flows, g, back)
}

// fill writes the flows, followed by those of the way back, and the frame lengths.
func (s *slicer) fill(flows int, g, back *Generator) error {
	words := make([]slicesGenerateFlow, flows*s.spec.Ways())
	frame := make([]byte, len(s.call.frame))
	for i := range words {
		of := g
		if i >= flows {
			of = back
		}
		words[i] = slicesGenerateFlow(of.flow(frame, i%flows))
	}
	return errors.Join(put(s.objs.Flows, "flows", words), fillLengths(s.objs.Lengths, s.spec.Sizes))
}

// Run sends over the lanes until the plan is complete or ctx is done.
func (s *slicer) Run(ctx context.Context, lanes []load.Lane, p load.SlicePlan) (load.Sliced, error) {
	if len(p.Order) > maxEntries {
		round := len(lanes) * max(1, p.Turn)
		p.Order = p.Order[:maxEntries/round*round]
	}
	run := load.RunAt(wire.Monotonic())
	if err := s.rearm(lanes, p, run); err != nil {
		return load.Sliced{}, err
	}
	detach, err := s.attach(lanes)
	defer detach()
	if err != nil {
		return load.Sliced{}, err
	}
	s.call.start(lanes[0].From.In, s.objs.Slices, s.done)
	err = errors.Join(s.await(ctx, p), s.stop())
	if err != nil || ctx.Err() != nil {
		return load.Sliced{}, errors.Join(err, ctx.Err())
	}
	return s.account(len(lanes), run)
}

// rearm resets the programs' state for a new run.
func (s *slicer) rearm(lanes []load.Lane, p load.SlicePlan, run uint16) error {
	if err := s.rx.Reset(); err != nil {
		return err
	}
	var table receiveReceiveTable
	for i := range len(lanes) * s.spec.Ways() { // where the generator looks up what has arrived
		table.Key[(firstStream+i)%slots] = (uint64(firstStream+i)<<12 | uint64(run)) + 1
	}
	c := slicesSlicesControl{
		Limit: uint64(p.Limit), Run: runWord(run), Slice: uint64(p.Slice), Batch: batch,
		Round: uint32(len(lanes) * max(1, p.Turn)), Turn: uint32(max(1, p.Turn)), First: firstStream, Guard: batches(p.Guard), Warm: batches(p.Warm),
		Slices: uint32(len(p.Order)), Least: uint32(p.Least), Permit: math.MaxUint32,
		Ways: uint32(s.spec.Ways()),
	}
	if p.Before != nil {
		c.Permit = 0
	}
	state := slicesSlicesState{Random: randomFrom(s.spec.Seed)}
	err := errors.Join(s.rx.objs.Table.Set(table), s.objs.Control.Set(c), s.objs.State.Set(state),
		s.objs.Lanes.Set([load.MaxLanes]slicesSlicesLane{}))
	if err != nil {
		return fmt.Errorf("reset the generator: %w", err)
	}
	entries := list.Map(p.Order, func(lane uint8) slicesSlicesEntry { return slicesSlicesEntry{Lane: uint32(lane)} })
	if err := put(s.objs.Entries, "slices", entries); err != nil {
		return err
	}
	if s.framer.Flows().Random {
		return put(s.objs.Sequences, "sequences of flows", make([]uint32, len(lanes)*s.spec.Ways()*s.framer.Flows().Count))
	}
	return nil
}

// batches returns the number of batches in n frames, at least one.
func batches(n int) uint32 { return uint32(max(1, (n+batch-1)/batch)) }

// attach connects the generator to the lanes and the receiver to their ends.
func (s *slicer) attach(lanes []load.Lane) (detach func(), err error) {
	var links []link.Link
	detach = func() {
		for _, l := range links {
			l.Close()
		}
	}
	forth, back := make([]port.Port, len(lanes)), make([]port.Port, len(lanes))
	for i, lane := range lanes {
		forth[i], back[i] = lane.From, lane.To
	}
	if err := s.receive(back, &links); err != nil {
		return detach, err
	}
	if s.back == nil {
		return detach, s.lead(forth, 0)
	}
	return detach, errors.Join(s.receive(forth, &links), s.lead(forth, 0), s.lead(back, 1))
}

// receive attaches the receiver to ports in one place.
func (s *slicer) receive(ports []port.Port, links *[]link.Link) error {
	return ports[0].In(func() error {
		for _, p := range ports {
			index, err := wire.Index(p.Device)
			if err != nil {
				return err
			}
			l, err := link.AttachXDP(link.XDPOptions{Program: s.rx.objs.Receive, Interface: index, Flags: link.XDPDriverMode})
			if err != nil {
				return loadError("attach the receiver to "+p.Device, err)
			}
			*links = append(*links, l)
		}
		return nil
	})
}

// lead connects one way of every lane to its port, all in one place.
func (s *slicer) lead(ports []port.Port, way int) error {
	return ports[0].In(func() error {
		for i, p := range ports {
			index, err := wire.Index(p.Device)
			if err != nil {
				return err
			}
			if err := s.objs.Ports.Put(uint32(i*s.spec.Ways()+way), uint32(index)); err != nil {
				return hint.With(fmt.Errorf("redirect to %s: %w", p.Device, err), "use %s", hint.Option("engine", "af_packet"))
			}
		}
		return nil
	})
}

func (s *slicer) state() (slicesSlicesState, error) {
	return read[slicesSlicesState](s.objs.State, "state")
}

func (s *slicer) done() (bool, error) {
	state, err := s.state()
	return state.Done != 0, err
}

// await waits until the program is done or ctx is done. With Before it
// releases the program slice by slice.
func (s *slicer) await(ctx context.Context, p load.SlicePlan) error {
	every := pollEvery
	if p.Before != nil {
		every = 200 * time.Microsecond
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	next := 0
	for {
		state, err := s.state()
		if err != nil || state.Done != 0 {
			return err
		}
		if p.Before != nil && int(state.Index) == next && next < len(p.Order) {
			if err := s.permit(p, next); err != nil {
				return err
			}
			next += max(1, p.Turn)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.call.ended:
			return s.call.err
		case <-tick.C:
		}
	}
}

// permit calls Before for a turn, and lets it begin.
func (s *slicer) permit(p load.SlicePlan, index int) error {
	if err := p.Before(int(p.Order[index])); err != nil {
		return err
	}
	return change(s.objs.Control, func(c *slicesSlicesControl) { c.Permit = uint32(index + max(1, p.Turn)) })
}

// stop stops the program, then the call that runs it.
func (s *slicer) stop() error {
	if err := change(s.objs.Control, func(c *slicesSlicesControl) { c.Slices = 0 }); err != nil {
		return err
	}
	return s.call.end(s.done)
}

// Close frees the programs.
func (s *slicer) Close() error { return errors.Join(s.objs.Close(), s.rx.objs.Close()) }

// account reads what was measured, sent and received.
func (s *slicer) account(lanes int, run uint16) (load.Sliced, error) {
	state, err := s.state()
	if err != nil {
		return load.Sliced{}, err
	}
	out := load.Sliced{Engine: Name, Seconds: float64(state.Now-state.Start) / 1e9}
	if out.Slices, err = s.entries(int(state.Index)); err != nil {
		return out, err
	}
	for deadline := time.Now().Add(drainFor); ; time.Sleep(5 * time.Millisecond) {
		lost, err := s.lanes(&out, lanes, run)
		if err != nil || lost == 0 || time.Now().After(deadline) {
			return out, err
		}
	}
}

// entries reads the first n slices.
func (s *slicer) entries(n int) ([]load.Slice, error) {
	if n == 0 {
		return nil, nil
	}
	keys, entries := make([]uint32, n), make([]slicesSlicesEntry, n)
	var cursor ebpf.MapBatchCursor
	got, err := s.objs.Entries.BatchLookup(&cursor, keys, entries, nil)
	if err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) || got < n {
		return nil, fmt.Errorf("read %d slices, got %d: %w", n, got, err)
	}
	slices := make([]load.Slice, n)
	for i, e := range entries {
		slices[i] = load.Slice{Lane: int(e.Lane), Flags: load.SliceFlag(e.Flags), Frames: e.Frames, NS: e.Ns, At: e.At}
	}
	return slices, nil
}

// lanes completes the lanes' accounts, and returns how many frames have not
// arrived.
func (s *slicer) lanes(out *load.Sliced, n int, run uint16) (lost uint64, err error) {
	var sent [load.MaxLanes]slicesSlicesLane
	if err := s.objs.Lanes.Get(&sent); err != nil {
		return 0, fmt.Errorf("read the lanes: %w", err)
	}
	streams, err := s.rx.streams()
	if err != nil {
		return 0, err
	}
	out.Lanes = make([]load.LaneAccount, n)
	for i := range n * s.spec.Ways() {
		a := load.LaneAccount{TxPackets: sent[i].Sent, TxBytes: sent[i].Bytes + 4*sent[i].Sent}
		for _, r := range streams {
			if r.Of == (load.StreamRun{Stream: uint16(firstStream + i), Run: run}) {
				a.RxPackets, a.RxBytes, a.Duplicated, a.Reordered, a.Flows = r.Received, r.Bytes, r.Duplicated, r.Reordered, r.Flows
			}
		}
		a.Lost = a.TxPackets - min(a.TxPackets, a.RxPackets)
		l := &out.Lanes[i/s.spec.Ways()]
		*l = l.Plus(a)
		lost += a.Lost
	}
	return lost, nil
}
