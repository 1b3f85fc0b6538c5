package xdpload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// Name is the name of the engine, as in load.Sent.
const Name = "xdp"

// Batch sizes: the number of frames that the kernel creates before passing them to
// the device, and the size of its page pool; powers of two, at most 256. Paced
// frames wait for the end of their batch, so those batches are short. On one CPU a
// batch must not fill a veth's ring of 256; with the peer on another CPU the pool
// must cover what is in the ring, or pages are constantly freed and allocated.
const (
	pacedBatch = 16
	batch      = 64
	largeBatch = 256
)

// Generator sends one load.Spec.
type Generator struct {
	spec    load.Spec
	in      port.Place
	device  wire.Device
	framer  *load.Framer
	workers []*worker
	socket  *wire.Socket
	refused *refusedCounter
	// port and refusals are shared by all workers.
	port, refusals *ebpf.Map
	// large selects large batches from now on: the peer is on another CPU.
	large bool
	// probed is set once the device has accepted a frame.
	probed bool
}

// NewGenerator loads the programs that send spec.
func (engine) NewGenerator(spec load.Spec, in port.Place) (load.Generator, error) {
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
	if g.socket, err = wire.Open(g.device, g.in); err != nil {
		return err
	}
	if err := g.in(g.loadWorkers); err != nil {
		return err
	}
	if g.refused, err = newRefusedCounter(g.device, g.port, g.refusals); err != nil {
		return err
	}
	return g.in(g.fits)
}

func (g *Generator) loadWorkers() error {
	if err := g.openPort(); err != nil {
		return err
	}
	cpus := wire.CPUsOf(g.spec, g.framer)
	for i, cpu := range cpus {
		flows := (g.framer.Flows().Count - i + len(cpus) - 1) / len(cpus)
		w := &worker{liveCall: liveCall{cpu: cpu}, flows: flows}
		if err := g.load(w, i, len(cpus)); err != nil {
			return err
		}
		g.workers = append(g.workers, w)
	}
	return nil
}

// openPort creates the map through which all workers redirect to the device.
func (g *Generator) openPort() (err error) {
	spec, err := loadGenerate()
	if err != nil {
		return fmt.Errorf("read the generator's program: %w", err)
	}
	if g.port, err = ebpf.NewMap(spec.Maps[generateMapPort]); err != nil {
		return loadError("make a device map", err)
	}
	if g.refusals, err = ebpf.NewMap(spec.Maps[generateMapRefusals]); err != nil {
		return loadError("make a map", err)
	}
	if err := g.port.Put(uint32(0), uint32(g.device.Index)); err != nil {
		return hint.With(fmt.Errorf("redirect to %s: %w", g.device.Name, err), "the af_packet engine needs no such map")
	}
	return nil
}

// load loads a worker's program and fills its maps.
func (g *Generator) load(w *worker, first, step int) error {
	w.frame = make([]byte, max(0, slices.Max(g.spec.Sizes)-4))
	g.framer.Put(w.frame, first)
	l := loading{what: "the generator's program", variables: map[string]any{generateVarConfig: g.config(w, first, step)},
		entries: map[string]int{generateMapFlows: w.flows, generateMapLengths: len(g.spec.Sizes)},
		shared:  map[string]*ebpf.Map{generateMapPort: g.port, generateMapRefusals: g.refusals}}
	if g.framer.Flows().Random {
		l.entries[generateMapSequences] = w.flows
	}
	if err := l.into(&w.objs, loadGenerate); err != nil {
		return err
	}
	return g.fill(w, first, step)
}

func (g *Generator) config(w *worker, first, step int) generateGenerateConfig {
	c := generateGenerateConfig{
		Flows: uint32(w.flows), FirstFlow: uint32(first), FlowStep: uint32(step),
		Sizes: uint32(len(g.spec.Sizes)), Length: uint32(len(w.frame)),
		Elephant: g.framer.Flows().ElephantOf(first, step),
		Random:   flag(g.framer.Flows().Random) * uint32(max(1, g.framer.Flows().Train)), Ipv6: flag(g.framer.IPv6()),
	}
	head := make([]byte, 80)
	copy(head, w.frame)
	load.PutStamp(head[g.framer.StampAt():], load.Stamp{Stream: g.spec.Stream})
	for i := range c.Head {
		c.Head[i] = binary.LittleEndian.Uint64(head[8*i:])
	}
	if g.framer.IPv6() {
		c.Head[2] &^= 0xffff << 16 // payload length
	} else {
		c.Head[5] &= 0xffff << 16 // the stream, after a zero checksum
		if len(g.spec.Sizes) > 1 {
			c.Head[2] &^= 0xffff // total length
		}
	}
	return c
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// fill writes the worker's flows, frame lengths and port to its maps.
func (g *Generator) fill(w *worker, first, step int) error {
	flows := make([]generateGenerateFlow, w.flows)
	frame := make([]byte, len(w.frame))
	for i := range flows {
		flows[i] = g.flow(frame, first+i*step)
	}
	return errors.Join(put(w.objs.Flows, "flows", flows), fillLengths(w.objs.Lengths, g.spec.Sizes))
}

// fillLengths writes the frame lengths without FCS.
func fillLengths(m *ebpf.Map, sizes []int) error {
	return put(m, "frame sizes", list.Map(sizes, func(n int) uint32 { return uint32(n - 4) }))
}

// flow returns the words of a flow that bpf/generate.bpf.c writes into a frame.
func (g *Generator) flow(frame []byte, number int) generateGenerateFlow {
	g.framer.Put(frame, number)
	le := binary.LittleEndian
	if g.framer.IPv6() {
		f := generateGenerateFlow{A: le.Uint64(frame[32:]), B: le.Uint64(frame[48:]), Port: le.Uint16(frame[56:])}
		sum := uint32(17) << 8 // the next header, as a little-endian word
		for at := 22; at < 58; at += 2 {
			sum += uint32(le.Uint16(frame[at:]))
		}
		f.Sum = sum + uint32(g.spec.Stream>>8|g.spec.Stream<<8)
		return f
	}
	f := generateGenerateFlow{A: le.Uint64(frame[24:]), B: le.Uint64(frame[32:])}
	if len(g.spec.Sizes) > 1 {
		f.A &^= 0xffff
		f.B &^= 0xffff << 48
		for at := 14; at < 34; at += 2 {
			if at != 16 && at != 24 { // except the total length and the checksum
				f.Sum += uint32(le.Uint16(frame[at:]))
			}
		}
		for f.Sum > 0xffff {
			f.Sum = f.Sum&0xffff + f.Sum>>16
		}
	}
	return f
}

// Close frees the programs and the socket.
func (g *Generator) Close() error {
	for _, w := range g.workers {
		w.objs.Close()
	}
	if g.refused != nil {
		g.refused.Close()
	}
	if g.socket != nil {
		g.socket.Close()
	}
	for _, m := range []*ebpf.Map{g.port, g.refusals} {
		m.Close() // nil is allowed
	}
	return nil
}

// refusedCounter counts redirected frames that a device refuses.
type refusedCounter struct {
	objs  refusedObjects
	links []link.Link
}

func newRefusedCounter(d wire.Device, port, refusals *ebpf.Map) (*refusedCounter, error) {
	r := &refusedCounter{}
	config := refusedRefusedConfig{Ifindex: uint32(d.Index), Netns: d.Netns, Map: ^uint32(0)}
	if info, err := port.Info(); err == nil {
		if id, ok := info.ID(); ok {
			config.Map = uint32(id)
		}
	}
	l := loading{what: "the program that counts refused frames", variables: map[string]any{refusedVarConfig: config}, shared: map[string]*ebpf.Map{refusedMapRefusals: refusals}}
	if err := l.into(&r.objs, loadRefused); err != nil {
		return nil, err
	}
	for _, p := range []*ebpf.Program{r.objs.Refused, r.objs.TurnedAway} {
		l, err := link.AttachTracing(link.TracingOptions{Program: p, AttachType: ebpf.AttachTraceRawTp})
		if err != nil {
			r.Close()
			return nil, loadError("attach the program that counts refused frames", err)
		}
		r.links = append(r.links, l)
	}
	return r, nil
}

// Count returns how many frames were refused so far, and the last error, or nil.
func (r *refusedCounter) Count() (n uint64, reason error) {
	var v refusedRefusals
	if r.objs.Refusals.Lookup(uint32(0), &v) != nil {
		return 0, nil
	}
	if v.Error < 0 {
		reason = syscall.Errno(-v.Error)
	}
	return v.Refused, reason
}

// Close detaches the program.
func (r *refusedCounter) Close() error {
	for _, l := range r.links {
		l.Close()
	}
	return r.objs.Close()
}
