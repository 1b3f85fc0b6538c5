package bpfload

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/sender"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

type engine struct{ open wire.Door }

// New returns the engine. open opens its descriptors: Open here, or a testbed's
// Door in its jails.
func New(open wire.Door) load.Engine { return engine{open} }

// Name is "bpf".
func (engine) Name() string { return Name }

// Available tries what the engine is made of: a bpf descriptor.
func (engine) Available() error {
	fd, err := unix.Open("/dev/bpf", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return load.NotHere(wire.NotPermitted(fmt.Errorf("open /dev/bpf: %w", err)))
	}
	return unix.Close(fd)
}

// NewGenerator opens a descriptor per worker and builds the flows' headers.
func (e engine) NewGenerator(spec load.Spec, in port.Place) (load.Generator, error) {
	return e.generator(spec, in)
}

func (e engine) generator(spec load.Spec, in port.Place) (*sender.Generator, error) {
	first, err := e.open(wire.Order{Kind: Name, Device: spec.Device})
	if err != nil {
		return nil, err
	}
	spare := &outPort{first.File, spec.Device}
	return sender.New(sender.Config{
		Engine: Name, Spec: spec, In: in, Device: first.Device,
		Open: func() (sender.Port, error) {
			if p := spare; p != nil {
				spare = nil
				return p, nil
			}
			o, err := e.open(wire.Order{Kind: Name, Device: spec.Device})
			if err != nil {
				return nil, err
			}
			return &outPort{o.File, spec.Device}, nil
		},
		Stuck: "is its other end up, and its MTU not smaller? ifconfig PEER up",
	})
}

// port writes frames, one to a system call.
type outPort struct {
	file   *os.File
	device string
}

// Send writes frames until the device has no room.
func (p *outPort) Send(frames [][]byte) (int, error) {
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

// Close closes the descriptor.
func (p *outPort) Close() error { return p.file.Close() }
