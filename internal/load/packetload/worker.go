package packetload

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/wait"
)

// refusedFor is how long a device may refuse all frames.
const refusedFor = uint64(2 * time.Second)

// worker sends its share of the flows through its port.
type worker struct {
	spec    load.Spec
	framer  *load.Framer
	device  string
	stuck   string
	port    Port
	cpu     int
	first   int // its flows are first, first + step, …
	step    int
	flows   int
	headers []byte // of every flow, if all frames have the same size
	sums    []uint64

	buffers [Batch][]byte
	frames  [Batch][]byte // the used parts of the buffers

	clock             wire.Clock
	stamp             load.Stamp
	duration          time.Duration // 0: no limit
	limit             uint64
	interval          float64 // ns between frames; 0: maximum rate
	flow, size        int
	round             uint32
	elephant          uint32 // share of the frames that the first flow sends, in 2⁻³²; 0: like the others
	least             int    // the first flow that is not the elephant
	owed, big         uint32 // owed to the elephant, in 2⁻³² of a frame; its next sequence number
	random            uint64
	left              int      // in random order: remaining consecutive frames of the current flow
	sequences         []uint32 // for random order
	sent, bytes       atomic.Uint64
	unsent, elapsed   atomic.Uint64
	headerLen, length int
}

func newWorker(g *Generator, cpu, first, step int) (*worker, error) {
	w := &worker{
		spec: g.Spec, framer: g.framer, device: g.Device.Name, stuck: g.Stuck, cpu: cpu, first: first, step: step,
		flows: (g.framer.Flows().Count - first + step - 1) / step, headerLen: g.framer.StampAt(), clock: wire.NewClock(),
	}
	if w.port = g.First; first > 0 || w.port == nil {
		var err error
		if w.port, err = g.Open(); err != nil {
			return nil, err
		}
	}
	longest := 0
	for _, n := range g.Spec.Sizes {
		longest = max(longest, n-4)
	}
	w.length = longest
	for i := range w.buffers {
		w.buffers[i] = make([]byte, longest)
		w.frames[i] = w.buffers[i]
	}
	if len(g.Spec.Sizes) == 1 {
		w.precompute()
	}
	return w, nil
}

// precompute builds the headers of every flow, which depend only on the flow.
func (w *worker) precompute() {
	w.headers = make([]byte, w.flows*w.headerLen)
	b := make([]byte, w.length)
	for i := range w.flows {
		w.framer.Put(b, w.first+i*w.step)
		if w.framer.IPv6() {
			w.sums = append(w.sums, w.framer.PartialSum(b))
		}
		copy(w.headers[i*w.headerLen:], b[:w.headerLen])
	}
}

// reset prepares the worker's state for a run.
func (w *worker) reset(g *Generator, i int, t transmission) {
	w.stamp = load.Stamp{Stream: g.Spec.Stream, Run: t.run}
	w.limit, w.interval, w.duration = math.MaxUint64, 0, t.limit.Duration
	if n := t.limit.Packets; n > 0 {
		w.limit = (n + uint64(len(g.workers)-1-i)) / uint64(len(g.workers))
	}
	if pps := t.target / float64(len(g.workers)); pps > 0 {
		w.interval = 1e9 / pps
	}
	w.elephant = g.framer.Flows().ElephantOf(w.first, w.step)
	if w.least = 0; w.elephant > 0 {
		w.least = 1
	}
	w.flow, w.size, w.round, w.owed, w.big, w.left, w.sequences = w.least, 0, 0, 0, 0, 0, nil
	w.random = (g.Spec.Seed+uint64(i)+1)*0x9E3779B97F4A7C15 | 1
	if g.framer.Flows().Random {
		w.sequences = make([]uint32, w.flows)
	}
	for _, c := range []*atomic.Uint64{&w.sent, &w.bytes, &w.unsent, &w.elapsed} {
		c.Store(0)
	}
}

// send sends until the limit, or until stop.
func (w *worker) send(stop *atomic.Bool, ready chan<- struct{}, begin <-chan uint64) error {
	ready <- struct{}{}
	start, ok := <-begin
	if !ok {
		return nil
	}
	duration := uint64(math.MaxInt64)
	if w.duration > 0 {
		duration = uint64(w.duration)
	}
	var sent, bytes uint64
	now := w.clock.Now()
	for !stop.Load() && sent < w.limit {
		now = w.clock.Now()
		if now < start {
			continue
		}
		if now-start >= duration {
			now = start + duration
			break
		}
		n := w.due(sent, now-start)
		if n == 0 {
			w.rest(sent, now-start)
			continue
		}
		bytes += w.fill(n, now)
		done, err := w.push(n, stop)
		if err != nil {
			return err
		}
		for _, f := range w.frames[done:n] { // the run is over: these frames remain unsent
			bytes -= uint64(len(f))
		}
		sent += uint64(done)
		w.sent.Store(sent)
		w.bytes.Store(bytes)
		w.elapsed.Store(now - start)
	}
	w.close(sent, now-min(now, start))
	return nil
}

// due returns how many frames to send now.
func (w *worker) due(sent, since uint64) int {
	n := uint64(Batch)
	if w.interval > 0 {
		n = min(n, uint64(float64(since)/w.interval)+1-min(sent, uint64(float64(since)/w.interval)+1))
	}
	return int(min(n, w.limit-sent))
}

// longest is the longest that a worker sleeps at a time, so that it notices a stop.
const longest = 5 * time.Millisecond

// nap sleeps; tests count its calls.
var nap = wait.Nap

// rest yields the processor while the next frame, or the end, is far enough away for a nap.
// The worker spins for the rest of the time, since sleeps are inexact.
func (w *worker) rest(sent, since uint64) {
	next := float64(sent) * w.interval
	if w.duration > 0 {
		next = min(next, float64(w.duration))
	}
	if d := time.Duration(next-float64(since)) - wait.Late; d > wait.Late {
		nap(min(d, longest))
	}
}

// close computes the duration, and how many due frames were not sent.
func (w *worker) close(sent, elapsed uint64) {
	if w.interval > 0 {
		if sent >= w.limit {
			elapsed = max(elapsed, uint64(float64(sent)*w.interval))
		}
		due := uint64(math.Ceil(float64(elapsed) / w.interval))
		due = min(due, w.limit)
		w.unsent.Store(due - min(due, sent))
	} else if sent >= w.limit {
		elapsed = max(elapsed, 1)
	}
	w.elapsed.Store(elapsed)
}

// fill writes the next n frames, all stamped with the same time, and returns
// their total length.
func (w *worker) fill(n int, now uint64) (length uint64) {
	w.stamp.Time = now
	for i := range n {
		flow, sequence := w.next()
		w.stamp.Flow, w.stamp.Sequence = uint32(w.first+flow*w.step), sequence
		b := w.buffers[i]
		if w.headers == nil {
			b = b[:w.spec.Sizes[w.size]-4]
			if w.size++; w.size == len(w.spec.Sizes) {
				w.size = 0
			}
			w.framer.Put(b, int(w.stamp.Flow))
			w.framer.Stamp(b, w.stamp)
			w.frames[i] = b
		} else {
			copy(b, w.headers[flow*w.headerLen:(flow+1)*w.headerLen])
			load.PutStamp(b[w.headerLen:], w.stamp)
			if w.sums != nil {
				binary.BigEndian.PutUint16(b[w.headerLen-2:], load.Checksum(b[w.headerLen:w.headerLen+load.StampBytes], w.sums[flow]))
			}
		}
		length += uint64(len(b))
	}
	return length
}

// next chooses a flow, as an index into this worker's, and its sequence number. It
// spreads the elephant's frames evenly among the others (Bresenham's algorithm).
func (w *worker) next() (flow int, sequence uint32) {
	if w.elephant > 0 {
		if w.owed += w.elephant; w.owed < w.elephant {
			w.big++
			return 0, w.big - 1
		}
	}
	if w.sequences != nil {
		if w.left--; w.left < 0 {
			// xorshift64* (Vigna 2016), upper half
			w.random ^= w.random >> 12
			w.random ^= w.random << 25
			w.random ^= w.random >> 27
			w.flow = w.least + int((w.random*0x2545F4914F6CDD1D>>32)*uint64(w.flows-w.least)>>32)
			w.left = max(1, w.framer.Flows().Train) - 1
		}
		sequence = w.sequences[w.flow]
		w.sequences[w.flow]++
		return w.flow, sequence
	}
	flow, sequence = w.flow, w.round
	if w.flow++; w.flow == w.flows {
		w.flow = w.least
		w.round++
	}
	return flow, sequence
}

// push sends the first n frames, retrying those for which the device had no room.
func (w *worker) push(n int, stop *atomic.Bool) (sent int, err error) {
	var since uint64 // start of the device's refusals
	for sent < n {
		k, err := w.port.Send(w.frames[sent:n])
		if err != nil {
			return sent, err
		}
		if sent += k; k > 0 {
			since = 0
			continue
		}
		now := w.clock.Now()
		since = cmp.Or(since, now)
		if stop.Load() {
			return sent, nil
		}
		if now-since > refusedFor {
			return sent, hint.With(fmt.Errorf("%s has refused every frame for %v", w.device, time.Duration(refusedFor)), "%s", w.stuck)
		}
	}
	return sent, nil
}
