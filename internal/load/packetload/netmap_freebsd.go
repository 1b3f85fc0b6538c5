package packetload

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/load/wire"
	"linerate/internal/port"
)

// memoryMost bounds what is mapped of a port.
const memoryMost = 8 << 30

// Open registers a port for one direction (wire.Door): a ring of it to send
// on, all of them to receive from.
func OpenNetmap(o wire.Order) (wire.Opened, error) {
	d, err := wire.Look(o.Device, port.Here)
	if err != nil {
		return wire.Opened{}, err
	}
	h, err := newHeader(o.Device)
	if err != nil {
		return wire.Opened{}, err
	}
	fd, err := unix.Open("/dev/netmap", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return wire.Opened{}, noNetmap(err)
	}
	body := &register{mode: modeOneNIC, ringID: uint16(o.Ring), flags: txRingsOnly}
	if o.Receive {
		body = &register{mode: modeAllNIC, flags: rxRingsOnly | noTxPoll}
	}
	err = control(fd, &h, body)
	if err != nil {
		unix.Close(fd)
		return wire.Opened{}, hint.With(fmt.Errorf("register %s with netmap: %w", o.Device, err),
			"dev.netmap.admode=2 (emulation) serves any interface; another program may have it registered")
	}
	d.Queues = int(body.txRings)
	return wire.Opened{File: os.NewFile(uintptr(fd), "/dev/netmap"), Device: d, Offset: body.offset, Memory: body.memory}, nil
}

// control makes a request (NIOCCTRL). The kernel reads the body where the
// header says: neither may move meanwhile.
func control(fd int, h *header, body *register) error {
	type request struct {
		header
		body register
	}
	r := &request{header: *h, body: *body}
	r.header.body = uint64(uintptr(unsafe.Pointer(&r.body)))
	err := wire.Ioctl(fd, nioCtrl, unsafe.Pointer(r))
	*body = r.body
	return err
}

func noNetmap(err error) error {
	err = fmt.Errorf("open /dev/netmap: %w", err)
	if os.IsNotExist(err) {
		return load.NotHere(hint.With(err, "GENERIC has it; else kldload netmap, or device netmap in the kernel"))
	}
	return load.NotHere(wire.NotPermitted(err))
}

type netmapEngine struct{ open wire.Door }

// New returns the engine. open opens its ports: Open here, or a testbed's Door
// in its jails.
func NewNetmap(open wire.Door) load.Engine { return netmapEngine{open} }

func (netmapEngine) Name() string { return Netmap }

// Available tries to open /dev/netmap.
func (netmapEngine) Available() error {
	fd, err := unix.Open("/dev/netmap", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return noNetmap(err)
	}
	return unix.Close(fd)
}

// mapped is a registered port with its memory.
type mapped struct {
	opened wire.Opened
	memory []byte
	rings  []ring
}

func (e netmapEngine) mapped(o wire.Order) (*mapped, error) {
	o.Kind = Netmap
	opened, err := e.open(o)
	if err != nil {
		return nil, err
	}
	m := &mapped{opened: opened}
	if err := m.attach(o.Receive); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

func (m *mapped) attach(receive bool) (err error) {
	if m.opened.Memory == 0 || m.opened.Memory > memoryMost {
		return fmt.Errorf("netmap shares %d bytes", m.opened.Memory)
	}
	m.memory, err = unix.Mmap(m.fd(), 0, int(m.opened.Memory), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map netmap's memory: %w", err)
	}
	if m.rings, err = rings(m.memory, m.opened.Offset, receive); err != nil {
		return err
	}
	if len(m.rings) == 0 {
		return fmt.Errorf("netmap gave no ring of %s", m.opened.Device.Name)
	}
	return nil
}

func (m *mapped) fd() int { return int(m.opened.File.Fd()) }

func (m *mapped) close() error {
	if m.memory != nil {
		_ = unix.Munmap(m.memory)
		m.memory = nil
	}
	return m.opened.File.Close()
}

// NewGenerator registers a ring per worker and builds the flows' headers.
func (e netmapEngine) NewGenerator(spec load.Spec, in port.Place) (load.Generator, error) {
	first, err := e.mapped(wire.Order{Device: spec.Device})
	if err != nil {
		return nil, err
	}
	if n := len(spec.CPUs); n > first.opened.Device.Queues {
		_ = first.close()
		return nil, hint.With(hint.Usagef("%d CPUs: %s has %d rings to send on, one for each", n, spec.Device, first.opened.Device.Queues), "name fewer CPUs")
	}
	ring := 0
	return NewGenerator(Config{
		Engine: Netmap, Spec: spec, In: in, Device: first.opened.Device, First: &netmapPort{first},
		Open: func() (Port, error) {
			ring++
			m, err := e.mapped(wire.Order{Device: spec.Device, Ring: ring})
			if err != nil {
				return nil, err
			}
			return &netmapPort{m}, nil
		},
		Stuck: "is its other end up? ifconfig PEER up",
	})
}

// lookFor is how long a look waits for frames, in ms.
const lookFor = 10

// NewReceiver registers all receive rings of a device: what arrives goes to this
// program and not to the network stack. A frame's time of arrival is that of the
// look at its batch.
func (e netmapEngine) NewReceiver(device string, _ port.Place, w load.Watch) (load.Receiver, error) {
	m, err := e.mapped(wire.Order{Device: device, Receive: true})
	if err != nil {
		return nil, err
	}
	clock := wire.NewClock()
	r := &Receiver{engine: Netmap, watch: w, shut: m.close}
	r.read = func() (err error) {
		fds := []unix.PollFd{{Fd: int32(m.fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, lookFor); err != nil && err != unix.EINTR {
			return fmt.Errorf("wait for frames: %w", err)
		}
		now := clock.Now()
		r.mu.Lock()
		defer r.mu.Unlock()
		for i := range m.rings {
			err = errors.Join(err, m.rings[i].take(func(f []byte) { r.count(f, now) }))
		}
		return err
	}
	return r, r.start()
}

// netmapPort sends through one ring.
type netmapPort struct{ *mapped }

// Send fills what is free of the ring and has the kernel send it.
func (p *netmapPort) Send(frames [][]byte) (int, error) {
	r := &p.rings[0]
	if r.free() == 0 {
		if err := p.sync(); err != nil {
			return 0, err
		}
	}
	n, err := r.put(frames)
	if err != nil || n == 0 {
		return n, err
	}
	return n, p.sync()
}

func (p *netmapPort) sync() error {
	if err := wire.IoctlAtOnce(p.fd(), nioTxSync); err != nil {
		return hint.With(fmt.Errorf("send through %s: %w", p.opened.Device.Name, err), "is the device still up? ifconfig %s", p.opened.Device.Name)
	}
	return nil
}

func (p *netmapPort) Close() error { return p.close() }
