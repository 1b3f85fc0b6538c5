//go:build linux || freebsd

package packetload

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// bpfEngine is the engine without its FreeBSD-only parts: how descriptors are opened,
// and how many frames a receiving descriptor had no room for since it was opened.
type bpfEngine struct {
	open    wire.Door
	dropped func(*os.File) (uint32, error)
}

// NewGenerator opens a descriptor for each worker and builds the flows' headers.
func (e bpfEngine) NewGenerator(spec load.Spec, in port.Place) (load.Generator, error) {
	return e.generator(spec, in)
}

func (e bpfEngine) generator(spec load.Spec, in port.Place) (*Generator, error) {
	order := wire.Order{Kind: BPF, Device: spec.Device}
	first, err := e.open(order)
	if err != nil {
		return nil, err
	}
	return NewGenerator(Config{
		Engine: BPF, Spec: spec, In: in, Device: first.Device, First: &bpfPort{first.File, spec.Device},
		Open: func() (Port, error) {
			o, err := e.open(order)
			if err != nil {
				return nil, err
			}
			return &bpfPort{o.File, spec.Device}, nil
		},
		Stuck: "is its other end up, and its MTU not smaller? ifconfig PEER up",
	})
}

// NewReceiver opens a descriptor that receives every arriving frame.
func (e bpfEngine) NewReceiver(device string, _ port.Place, w load.Watch) (load.Receiver, error) {
	r, err := e.capture(device, w, true)
	if err == nil {
		err = r.start()
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// capture opens a receiving descriptor and starts its account. Without wait,
// reads do not block.
func (e bpfEngine) capture(device string, w load.Watch, wait bool) (*Receiver, error) {
	o, err := e.open(wire.Order{Kind: BPF, Device: device, Receive: true})
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(int(o.File.Fd()), !wait); err != nil {
		return nil, errors.Join(fmt.Errorf("read %s without waiting: %w", device, err), o.File.Close())
	}
	buffer := make([]byte, o.Buffer)
	r := &Receiver{engine: BPF, watch: w, shut: o.File.Close, dropped: func() (uint32, error) { return e.dropped(o.File) }}
	r.read = func() error {
		n, err := unix.Read(int(o.File.Fd()), buffer)
		switch {
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR), errors.Is(err, unix.EWOULDBLOCK):
			return nil
		case err != nil:
			return fmt.Errorf("read captured frames: %w", err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		eachFrame(buffer[:n], r.count)
		return nil
	}
	if err := r.Reset(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// bpfPort writes frames, one per system call.
type bpfPort struct {
	file   *os.File
	device string
}

// Send writes frames until the device has no room.
func (p *bpfPort) Send(frames [][]byte) (int, error) {
	fd := int(p.file.Fd())
	for i, f := range frames {
		_, err := unix.Write(fd, f)
		switch {
		case err == nil:
		case errors.Is(err, unix.ENOBUFS), errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
			return i, nil
		default:
			return i, hint.With(fmt.Errorf("send a frame of %d bytes through %s: %w", len(f), p.device, err), "is the device still up? ifconfig %s", p.device)
		}
	}
	return len(frames), nil
}

func (p *bpfPort) Close() error { return p.file.Close() }
