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

// engine is the engine without what only FreeBSD has: how its descriptors are opened,
// and how many frames a receiving one had no room for since it was opened.
type bpfEngine struct {
	open    wire.Door
	dropped func(*os.File) (uint32, error)
}

// NewGenerator opens a descriptor per worker and builds the flows' headers.
func (e bpfEngine) NewGenerator(spec load.Spec, in port.Place) (load.Generator, error) {
	return e.generator(spec, in)
}

func (e bpfEngine) generator(spec load.Spec, in port.Place) (*Generator, error) {
	first, err := e.open(wire.Order{Kind: BPF, Device: spec.Device})
	if err != nil {
		return nil, err
	}
	spare := &bpfOutPort{first.File, spec.Device}
	g, err := NewGenerator(Config{
		Engine: BPF, Spec: spec, In: in, Device: first.Device,
		Open: func() (Port, error) {
			if p := spare; p != nil {
				spare = nil
				return p, nil
			}
			o, err := e.open(wire.Order{Kind: BPF, Device: spec.Device})
			if err != nil {
				return nil, err
			}
			return &bpfOutPort{o.File, spec.Device}, nil
		},
		Stuck: "is its other end up, and its MTU not smaller? ifconfig PEER up",
	})
	if err != nil && spare != nil { // what was refused before a port was wanted
		err = errors.Join(err, spare.Close())
	}
	return g, err
}

// outPort writes frames, one to a system call.
type bpfOutPort struct {
	file   *os.File
	device string
}

// Send writes frames until the device has no room.
func (p *bpfOutPort) Send(frames [][]byte) (int, error) {
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

func (p *bpfOutPort) Close() error { return p.file.Close() }
