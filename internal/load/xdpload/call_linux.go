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

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// testRun is the kernel's union bpf_attr for BPF_PROG_TEST_RUN. The call is
// made directly because ebpf.Program.Run restarts it after a signal, and a
// signal is the only way to end an endless call.
type testRun struct {
	fd, retval, sizeIn, sizeOut  uint32
	dataIn, dataOut              uint64
	repeat, duration             uint32
	contextSizeIn, contextSizeOt uint32
	contextIn, contextOut        uint64
	flags, cpu, batch, _         uint32
}

// runLive runs a program on live frames, repeat times in batches.
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

// liveCall is one endless call of a program on one CPU: setting up a call takes
// 15 to 35 ms.
type liveCall struct {
	cpu   int
	frame []byte
	batch atomic.Uint32
	tid   atomic.Int32
	ended chan struct{} // closed when the call has ended; err is set before
	err   error
}

// start runs the program until done reports that it has finished.
func (c *liveCall) start(in port.Place, program *ebpf.Program, done func() (bool, error)) {
	c.ended, c.err = make(chan struct{}), nil
	c.tid.Store(0)
	go func() {
		defer close(c.ended)
		c.err = in(func() error {
			return wire.OnCPU(c.cpu, func(tid int) error {
				c.tid.Store(int32(tid))
				defer c.tid.Store(0)
				return c.forever(program, done)
			})
		})
	}()
}

// forever repeats the call until the program is done and wake interrupts the call.
func (c *liveCall) forever(program *ebpf.Program, done func() (bool, error)) error {
	defer runtime.KeepAlive(c.frame)
	for {
		err := runLive(program.FD(), c.frame, math.MaxInt32, c.batch.Load())
		if err != nil && !errors.Is(err, unix.EINTR) {
			return loadError("run the generator's program", err)
		}
		if over, err := done(); err != nil || over {
			return err
		}
	}
}

// wake interrupts the call.
func (c *liveCall) wake() {
	if tid := c.tid.Load(); tid != 0 {
		wire.Wake(int(tid))
	}
}

// end waits until the call has ended, and wakes its thread once the program is done.
// A signal that arrives before the call is lost, so it is repeated.
func (c *liveCall) end(done func() (bool, error)) error {
	for {
		if over, err := done(); err != nil || over {
			c.wake()
		}
		select {
		case <-c.ended:
			return c.err
		case <-time.After(time.Millisecond):
		}
	}
}

func read[T any](v *ebpf.Variable, what string) (value T, err error) {
	if err = v.Get(&value); err != nil {
		err = fmt.Errorf("read the generator's %s: %w", what, err)
	}
	return value, err
}

// change modifies a program's control variable.
func change[T any](v *ebpf.Variable, how func(*T)) error {
	c, err := read[T](v, "control")
	if err != nil {
		return err
	}
	how(&c)
	if err := v.Set(c); err != nil {
		return fmt.Errorf("set the generator's control: %w", err)
	}
	return nil
}

// put writes the first values of an array.
func put[T any](m *ebpf.Map, what string, values []T) error {
	keys := make([]uint32, len(values))
	for i := range keys {
		keys[i] = uint32(i)
	}
	if _, err := m.BatchUpdate(keys, values, nil); err != nil {
		return fmt.Errorf("write %d %s: %w", len(values), what, err)
	}
	return nil
}

// worker is a program on one CPU, with its share of the flows.
type worker struct {
	liveCall
	objs  generateObjects
	flows int
}

const (
	// pause is how long a worker at maximum rate pauses when the device refused
	// frames: less than the time that a veth's ring of 256 frames takes to empty.
	pause = 10 * time.Microsecond
	// catchUp is the factor by which a late paced worker exceeds its rate.
	catchUp = 4
)

// reset prepares a worker's state for a run.
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
	s := generateGenerateState{Refused: t.refused, Random: randomFrom(g.spec.Seed + uint64(i))}
	if err := errors.Join(w.objs.Control.Set(c), w.objs.State.Set(s)); err != nil {
		return fmt.Errorf("reset the generator: %w", err)
	}
	if g.framer.Flows().Random {
		return put(w.objs.Sequences, "sequences of flows", make([]uint32, w.flows))
	}
	return nil
}

// randomFrom derives a nonzero state from a seed.
func randomFrom(seed uint64) uint64 { return (seed+1)*0x9E3779B97F4A7C15 | 1 }

func runWord(run uint16) uint64 {
	b := make([]byte, load.StampBytes)
	load.PutStamp(b, load.Stamp{Run: run})
	return uint64(binary.LittleEndian.Uint32(b[2:]))
}

// rebatch continues with batches of n frames, in a new call.
func (w *worker) rebatch(n uint32) error {
	if err := change(w.objs.Control, func(c *generateGenerateControl) { c.Batch = uint64(n) }); err != nil {
		return err
	}
	w.batch.Store(n)
	w.wake()
	return nil
}

func (w *worker) state() (generateGenerateState, error) {
	return read[generateGenerateState](w.objs.State, "state")
}

func (w *worker) done() (bool, error) {
	s, err := w.state()
	return s.Done != 0, err
}

// release lets a worker send from start on. The deadline must be set before the
// program sees the start.
func (w *worker) release(start uint64, duration time.Duration) error {
	err := change(w.objs.Control, func(c *generateGenerateControl) {
		if c.Deadline = math.MaxUint64; duration > 0 {
			c.Deadline = start + uint64(duration)
		}
	})
	if err != nil {
		return err
	}
	return change(w.objs.Control, func(c *generateGenerateControl) { c.Start = start })
}

// stop stops a worker: first its program, then the call that runs it.
func (w *worker) stop() error {
	if over, err := w.done(); err == nil && !over {
		err := change(w.objs.Control, func(c *generateGenerateControl) { c.Start, c.Deadline = max(1, c.Start), 1 })
		if err != nil {
			return err
		}
	}
	return w.end(w.done)
}
