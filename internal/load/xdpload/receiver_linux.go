package xdpload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// pageFlows and slots match bpf/receive.bpf.c.
const (
	pageFlows = 1024
	slots     = load.MaxRuns
)

// Receiver counts what arrives at a device.
type Receiver struct {
	objs    receiveObjects
	link    link.Link
	device  wire.Device
	generic bool

	reader  *ringbuf.Reader
	reading sync.WaitGroup
	mu      sync.Mutex
	only    int
	flows   bool
	ends    load.Endings
	broken  error // why ends are no longer read
}

// NewReceiver attaches the receiver in driver mode, or in generic mode if
// that is not possible.
func (engine) NewReceiver(device string, in port.Place, w load.Watch) (load.Receiver, error) {
	d, err := wire.Look(device, in)
	if err != nil {
		return nil, err
	}
	r := &Receiver{device: d, only: w.Stream, flows: w.Flows}
	if err := in(func() error { return r.loadAndAttach(w) }); err != nil {
		return nil, err
	}
	if r.reader, err = ringbuf.NewReader(r.objs.Ends); err != nil {
		r.Close()
		return nil, fmt.Errorf("read end-of-stream frames: %w", err)
	}
	r.reading.Add(1)
	go r.readEnds(r.reader.ReadInto)
	return r, nil
}

// loadAndAttach loads the program and attaches it in driver mode, or in
// generic mode if that is not possible.
func (r *Receiver) loadAndAttach(w load.Watch) error {
	var errs []error
	for _, mode := range []link.XDPAttachFlags{link.XDPDriverMode, link.XDPGenericMode} {
		r.generic = mode == link.XDPGenericMode
		if err := r.load(w); err != nil {
			return err
		}
		l, err := link.AttachXDP(link.XDPOptions{Program: r.objs.Receive, Interface: r.device.Index, Flags: mode})
		if err == nil {
			r.link = l
			return nil
		}
		r.objs.Close()
		if errors.Is(err, unix.EBUSY) || errors.Is(err, unix.EEXIST) {
			return hint.With(fmt.Errorf("%s already has an XDP program: %w", r.device.Name, err),
				"another receiver may be running; see ip link show dev %s, and detach what is left: ip link set dev %s xdp off", r.device.Name, r.device.Name)
		}
		errs = append(errs, err)
	}
	return loadError("attach the receiver to "+r.device.Name, errors.Join(errs...))
}

// load loads the program. In driver mode each receive queue runs on one CPU
// at a time; otherwise the account of a flow needs a lock.
func (r *Receiver) load(w load.Watch) error {
	pages := (cmp.Or(w.MaxFlows, load.DefaultFlows) + pageFlows - 1) / pageFlows
	entries := map[string]int{receiveMapFlows: pages * pageFlows}
	if w.Flows {
		entries[receiveMapDelays] = pages * pageFlows
	}
	config := receiveReceiveConfig{Stream: int32(max(-1, w.Stream)), Pages: uint32(pages),
		Shared: flag(r.generic || r.device.Queues > 1), Delays: flag(w.Flows)}
	return loading{what: "the receiver's program", variables: map[string]any{receiveVarConfig: config}, entries: entries}.into(&r.objs, loadReceive)
}

// readEnds reads end-of-stream frames until the reader is closed, or fails, which the
// account then reports.
func (r *Receiver) readEnds(next func(*ringbuf.Record) error) {
	defer r.reading.Done()
	var rec ringbuf.Record
	for {
		switch err := next(&rec); {
		case errors.Is(err, ringbuf.ErrClosed):
			return
		case err != nil:
			r.mu.Lock()
			defer r.mu.Unlock()
			r.broken = fmt.Errorf("read end-of-stream frames: %w", err)
			return
		}
		r.end(rec.RawSample)
	}
}

func (r *Receiver) end(raw []byte) {
	if len(raw) < 4 {
		return
	}
	n := int(raw[0]) | int(raw[1])<<8
	if n > len(raw)-4 {
		return
	}
	found, ok := load.FindStamp(raw[4 : 4+n])
	if !ok || found.Kind != load.End || r.only >= 0 && int(found.Stream) != r.only {
		return
	}
	m, err := load.ReadEnding(found.Rest)
	if err != nil {
		return
	}
	m.Closed = found.Time
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends.Add(load.StreamRun{Stream: found.Stream, Run: found.Run}, m)
}

// Snapshot returns the account so far.
func (r *Receiver) Snapshot() (load.Received, error) {
	streams, err := r.streams()
	if err != nil {
		return load.Received{}, err
	}
	other, err := r.other()
	if err != nil {
		return load.Received{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken != nil {
		return load.Received{}, r.broken
	}
	got := load.Summarise(Name, streams, &r.ends, other.Foreign, other.NoSlot)
	if other.EndsMissed > 0 {
		got.Warnings = append(got.Warnings, fmt.Sprintf("%d end-of-stream frames came faster than they were read: where loss is unknown, that is why", other.EndsMissed))
	}
	if r.generic {
		got.Warnings = append(got.Warnings, "the driver of "+r.device.Name+" takes no XDP program: frames are counted in the generic way, which is slower")
	}
	return got, nil
}

// streams reads the counters of every stream, over all CPUs.
func (r *Receiver) streams() ([]load.StreamCount, error) {
	var table receiveReceiveTable
	if err := r.objs.Table.Get(&table); err != nil {
		return nil, fmt.Errorf("read the receiver's table: %w", err)
	}
	var all []load.StreamCount
	for slot, key := range table.Key {
		if key == 0 {
			continue
		}
		var perCPU []receiveReceiveStream
		if err := r.objs.Streams.Lookup(uint32(slot), &perCPU); err != nil {
			return nil, fmt.Errorf("read the receiver's counters: %w", err)
		}
		s := load.StreamCount{Of: load.StreamRun{Stream: uint16((key - 1) >> 12), Run: uint16((key - 1) & 0xfff)}}
		for i := range perCPU {
			add(&s, &perCPU[i])
		}
		all = append(all, s)
	}
	return all, nil
}

func add(s *load.StreamCount, c *receiveReceiveStream) {
	s.Received += c.Received
	s.Bytes += c.Bytes
	s.Duplicated += c.Duplicated
	s.Reordered += c.Reordered
	s.Flows += c.Flows
	s.Untracked += c.Untracked
	if c.Received == 0 {
		return
	}
	if s.First == 0 || c.First < s.First {
		s.First = c.First
	}
	s.Last = max(s.Last, c.Last)
	s.Latency.Merge(load.Histogram{Counts: c.Latency[:], Least: c.Least - 1, Most: c.Most})
}

func (r *Receiver) other() (sum receiveReceiveOther, err error) {
	var perCPU []receiveReceiveOther
	if err := r.objs.Other.Lookup(uint32(0), &perCPU); err != nil {
		return sum, fmt.Errorf("read the receiver's counters: %w", err)
	}
	for _, c := range perCPU {
		sum.Foreign += c.Foreign
		sum.NoSlot += c.NoSlot
		sum.EndsMissed += c.EndsMissed
	}
	return sum, nil
}

// Finish waits until the account is complete and nothing more arrives.
func (r *Receiver) Finish(ctx context.Context, patience time.Duration) (load.Received, error) {
	got, err := wire.Finish(ctx, r.Snapshot, patience)
	if err != nil || !r.flows {
		return got, err
	}
	got.Flows, err = r.perFlow()
	return got, err
}

// Reset discards the counts.
func (r *Receiver) Reset() error {
	var table receiveReceiveTable
	if err := r.objs.Table.Get(&table); err != nil {
		return fmt.Errorf("read the receiver's table: %w", err)
	}
	if err := r.objs.Table.Set(receiveReceiveTable{}); err != nil {
		return fmt.Errorf("reset the receiver's table: %w", err)
	}
	r.mu.Lock()
	r.ends.Renew()
	r.mu.Unlock()
	used := min(table.Used*pageFlows, r.objs.Flows.MaxEntries())
	err := zeroed[receiveReceiveFlow](r.objs.Flows, used)
	if r.flows {
		err = errors.Join(err, zeroed[receiveReceiveDelays](r.objs.Delays, used))
	}
	return errors.Join(err, r.resetCounters(table))
}

// resetBatch is how many flows are reset at once: zeroes for millions of
// flows would take as much memory as their accounts.
const resetBatch = 1 << 16

func zeroed[T any](m *ebpf.Map, used uint32) error {
	if used == 0 {
		return nil
	}
	keys, zero := make([]uint32, min(used, resetBatch)), make([]T, min(used, resetBatch))
	for from := uint32(0); from < used; from += resetBatch {
		n := min(used-from, resetBatch)
		for i := range keys[:n] {
			keys[i] = from + uint32(i)
		}
		if _, err := m.BatchUpdate(keys[:n], zero[:n], &ebpf.BatchOptions{}); err != nil {
			return fmt.Errorf("reset the receiver's flows: %w", err)
		}
	}
	return nil
}

func (r *Receiver) resetCounters(table receiveReceiveTable) error {
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return fmt.Errorf("count the CPUs: %w", err)
	}
	for slot, key := range table.Key {
		if key == 0 {
			continue
		}
		if err := r.objs.Streams.Put(uint32(slot), make([]receiveReceiveStream, cpus)); err != nil {
			return fmt.Errorf("reset the receiver's counters: %w", err)
		}
	}
	if err := r.objs.Other.Put(uint32(0), make([]receiveReceiveOther, cpus)); err != nil {
		return fmt.Errorf("reset the receiver's counters: %w", err)
	}
	return nil
}

// Close detaches the receiver.
func (r *Receiver) Close() error {
	if r.link != nil {
		r.link.Close()
	}
	if r.reader != nil {
		r.reader.Close()
		r.reading.Wait()
	}
	return r.objs.Close()
}

// perFlow reads the accounts of individual flows.
func (r *Receiver) perFlow() (out []load.FlowReceived, err error) {
	var table receiveReceiveTable
	if err := r.objs.Table.Get(&table); err != nil {
		return nil, fmt.Errorf("read the receiver's table: %w", err)
	}
	perSlot := len(table.Page) / slots
	for at, page := range table.Page {
		if page == 0 || page*pageFlows > r.objs.Flows.MaxEntries() {
			continue // beyond the pool: its frames were untracked
		}
		for i := range uint32(pageFlows) {
			one, err := r.flow((page-1)*pageFlows+i, at%perSlot*pageFlows+int(i))
			if err != nil {
				return nil, err
			}
			if one.Received > 0 {
				out = append(out, one)
			}
		}
	}
	return out, nil
}

// flow returns the account at an index of the map.
func (r *Receiver) flow(place uint32, number int) (load.FlowReceived, error) {
	var f receiveReceiveFlow
	var d receiveReceiveDelays
	if err := r.objs.Flows.Lookup(place, &f); err != nil {
		return load.FlowReceived{}, fmt.Errorf("read the account of flow %d: %w", number, err)
	}
	if err := r.objs.Delays.Lookup(place, &d); err != nil {
		return load.FlowReceived{}, fmt.Errorf("read the delays of flow %d: %w", number, err)
	}
	kept := min(int(d.Trains), len(d.Delay))
	return load.FlowReceived{Flow: number, Received: f.Received, Expected: uint64(f.Next), Delays: d.Delay[:kept]}, nil
}
