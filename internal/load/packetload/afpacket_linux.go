package packetload

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// AFPacket is the name of the engine, as in load.Sent.
const AFPacket = "af_packet"

type engine struct{}

// NewAFPacket returns the engine on AF_PACKET sockets.
func NewAFPacket() load.Engine { return engine{} }

func (engine) Name() string { return AFPacket }

// Available checks that a packet socket can be opened.
func (engine) Available() error {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return load.NotHere(wire.NotPermitted(fmt.Errorf("open a packet socket: %w", err)))
	}
	return unix.Close(fd)
}

// NewGenerator opens a socket for each worker and builds the flows' headers.
func (engine) NewGenerator(spec load.Spec, in port.Place) (load.Generator, error) {
	return newGenerator(spec, in)
}

func newGenerator(spec load.Spec, in port.Place) (*Generator, error) {
	d, err := wire.Look(spec.Device, in)
	if err != nil {
		return nil, err
	}
	longest := 0
	for _, n := range spec.Sizes {
		longest = max(longest, n-18)
	}
	return NewGenerator(Config{
		Engine: AFPacket, Spec: spec, In: in, Device: d,
		Open:  func() (Port, error) { return openPort(d, in) },
		Stuck: fmt.Sprintf("is its other end up, and its MTU not smaller? ip link set dev PEER up mtu %d", longest),
	})
}

// message is the kernel's struct mmsghdr.
type message struct {
	header unix.Msghdr
	sent   uint32
	_      uint32
}

// outPort sends batches through a packet socket (sendmmsg(2)).
type outPort struct {
	*wire.Socket
	device   string
	vectors  [Batch]unix.Iovec
	messages [Batch]message
}

func openPort(d wire.Device, in port.Place) (*outPort, error) {
	s, err := wire.Open(d, in)
	if err != nil {
		return nil, err
	}
	p := &outPort{Socket: s, device: d.Name}
	for i := range p.messages {
		p.messages[i].header = unix.Msghdr{Iov: &p.vectors[i], Iovlen: 1}
	}
	return p, nil
}

// Send sends frames with one system call.
func (p *outPort) Send(frames [][]byte) (int, error) {
	for i, f := range frames {
		p.vectors[i] = unix.Iovec{Base: &f[0], Len: uint64(len(f))}
	}
	k, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(p.FD()), uintptr(unsafe.Pointer(&p.messages[0])), uintptr(len(frames)), 0, 0, 0)
	switch {
	case errno == 0:
		return int(k), nil
	case errors.Is(errno, unix.ENOBUFS), errors.Is(errno, unix.EAGAIN), errors.Is(errno, unix.EINTR):
		return 0, nil
	}
	return 0, hint.With(fmt.Errorf("send through %s: %w", p.device, errno), "is the device still up? ip link show dev %s", p.device)
}
