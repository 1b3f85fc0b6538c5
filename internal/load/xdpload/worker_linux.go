package xdpload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/cputime"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// worker is one program on one CPU with its share of the flows.
type worker struct {
	objs  generateObjects
	cpu   int
	flows int
	frame []byte
	batch atomic.Uint32
	tid   atomic.Int32
	ended chan struct{} // closed when the run is over; err is set before
	err   error
}

const (
	// pause is how long a worker at maximum rate holds back when the device
	// refused frames: less than a veth's ring of 256 frames takes to empty.
	pause = 10 * time.Microsecond
	// catchUp is by how much a paced worker that is late exceeds its rate.
	catchUp = 4
)

// reset makes a worker's state that of a run not begun.
func (w *worker) reset(g *Generator, i int, t transmission) error {
	c := generateGenerateControl{Limit: math.MaxUint64, Run: runWord(t.run), Pause: uint64(pause), Batch: uint64(g.batch(t))}
	w.batch.Store(g.batch(t))
	if n := t.limit.Packets; n > 0 {
		c.Limit = (n + uint64(len(g.workers)-1-i)) / uint64(len(g.workers))
	}
	if pps := t.target / float64(len(g.workers)); pps > 0 {
		c.Interval = max(1, uint64(math.Round(65536e9/pps)))
		c.Least = c.Interval / catchUp
	}
	s := generateGenerateState{Refused: t.refused, Random: (g.spec.Seed+uint64(i)+1)*0x9E3779B97F4A7C15 | 1}
	if err := errors.Join(w.objs.Control.Set(c), w.objs.State.Set(s)); err != nil {
		return fmt.Errorf("reset the generator: %w", err)
	}
	if g.framer.Flows().Random {
		return w.clearSequences()
	}
	return nil
}

func runWord(run uint16) uint64 {
	b := make([]byte, load.StampBytes)
	load.PutStamp(b, load.Stamp{Run: run})
	return uint64(binary.LittleEndian.Uint32(b[2:]))
}

func (w *worker) clearSequences() error {
	keys, zero := make([]uint32, w.flows), make([]uint32, w.flows)
	for i := range keys {
		keys[i] = uint32(i)
	}
	if _, err := w.objs.Sequences.BatchUpdate(keys, zero, nil); err != nil {
		return fmt.Errorf("reset the flows' sequences: %w", err)
	}
	return nil
}

// start runs the program for ever, on the worker's CPU.
func (w *worker) start(in port.Place, m *cputime.Meter) {
	w.ended, w.err = make(chan struct{}), nil
	w.tid.Store(0)
	go func() {
		defer close(w.ended)
		w.err = in(func() error {
			return wire.OnCPU(w.cpu, func(tid int) error {
				w.tid.Store(int32(tid))
				defer w.tid.Store(0)
				return m.Worker(w.forever)
			})
		})
	}()
}

// rebatch goes on with batches of n frames, in a new call.
func (w *worker) rebatch(n uint32) error {
	var c generateGenerateControl
	if err := w.objs.Control.Get(&c); err != nil {
		return fmt.Errorf("read the generator's control: %w", err)
	}
	c.Batch = uint64(n)
	if err := w.objs.Control.Set(c); err != nil {
		return fmt.Errorf("set the batch: %w", err)
	}
	w.batch.Store(n)
	if tid := w.tid.Load(); tid != 0 {
		wire.Wake(int(tid))
	}
	return nil
}

// testRun is the kernel's union bpf_attr for BPF_PROG_TEST_RUN. The call is
// made by hand because ebpf.Program.Run starts it again after a signal, and a
// signal is the only way to end an endless one.
type testRun struct {
	fd, retval, sizeIn, sizeOut  uint32
	dataIn, dataOut              uint64
	repeat, duration             uint32
	contextSizeIn, contextSizeOt uint32
	contextIn, contextOut        uint64
	flags, cpu, batch, _         uint32
}

// forever is one endless call: each costs 15 to 35 ms to set up. It ends when
// the program is done and Wake interrupts it.
func (w *worker) forever() error {
	defer runtime.KeepAlive(w.frame)
	for {
		err := runLive(w.objs.Generate.FD(), w.frame, math.MaxInt32, w.batch.Load())
		if err != nil && !errors.Is(err, unix.EINTR) {
			return loadError("run the generator's program", err)
		}
		if s, err := w.state(); err != nil || s.Done != 0 {
			return err
		}
	}
}

func runLive(fd int, frame []byte, repeat, batch uint32) error {
	attr := testRun{
		fd: uint32(fd), sizeIn: uint32(len(frame)), dataIn: uint64(uintptr(unsafe.Pointer(&frame[0]))),
		repeat: repeat, flags: unix.BPF_F_TEST_XDP_LIVE_FRAMES, batch: batch,
	}
	_, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_PROG_TEST_RUN, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	runtime.KeepAlive(frame)
	if errno != 0 {
		return errno
	}
	return nil
}

func (w *worker) state() (s generateGenerateState, err error) {
	if err := w.objs.State.Get(&s); err != nil {
		return s, fmt.Errorf("read the generator's state: %w", err)
	}
	return s, nil
}

// stop ends a worker: its program first, then the call that runs it.
func (w *worker) stop() error {
	var c generateGenerateControl
	if err := w.objs.Control.Get(&c); err != nil {
		return fmt.Errorf("read the generator's control: %w", err)
	}
	if s, err := w.state(); err == nil && s.Done == 0 {
		c.Start, c.Deadline = max(1, c.Start), 1
		if err := w.objs.Control.Set(c); err != nil {
			return fmt.Errorf("stop the generator: %w", err)
		}
	}
	endCall(w.ended, &w.tid, func() bool { s, err := w.state(); return err != nil || s.Done != 0 })
	return w.err
}

// endCall waits until the endless call of a program has ended, and wakes the
// thread that is in it once the program is done: a signal that came before the
// call is lost, so that it is sent until then.
func endCall(ended <-chan struct{}, tid *atomic.Int32, done func() bool) {
	for {
		if t := tid.Load(); t != 0 && done() {
			wire.Wake(int(t))
		}
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
		}
	}
}
