package xdpload

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

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

// zero resets the first n values of an array.
func zero(m *ebpf.Map, n int) error {
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = uint32(i)
	}
	if _, err := m.BatchUpdate(keys, make([]uint32, n), nil); err != nil {
		return fmt.Errorf("reset the flows' sequences: %w", err)
	}
	return nil
}
