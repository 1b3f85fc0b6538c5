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

var _ load.Interleaver = interleaver{}

// NewBPF returns the engine. open opens its descriptors: OpenBPF on this host, or a
// testbed's Door in its jails.
func NewBPF(open wire.Door) load.Engine { return bpfEngine{open, dropped} }

// InterleavingBPF returns the engine with support for several lanes in turn
// (load.Interleaver). The time of a slice is what spent returns: it includes neither
// the generator's system calls nor other programs.
func InterleavingBPF(open wire.Door, spent Spent) load.Engine {
	return interleaver{bpfEngine{open, dropped}, spent}
}

func (bpfEngine) Name() string { return BPF }

// Available checks that a bpf descriptor can be opened.
func (bpfEngine) Available() error {
	fd, err := openBPF()
	if err != nil {
		return load.NotHere(err)
	}
	return unix.Close(fd)
}

func openBPF() (int, error) {
	fd, err := unix.Open("/dev/bpf", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, wire.NotPermitted(fmt.Errorf("open /dev/bpf: %w", err))
	}
	return fd, nil
}

// dropped returns how many frames a descriptor's buffer had no room for.
func dropped(f *os.File) (uint32, error) {
	var s unix.BpfStat
	if err := wire.Ioctl(int(f.Fd()), unix.BIOCGSTATS, unsafe.Pointer(&s)); err != nil {
		return 0, fmt.Errorf("read the statistics of bpf: %w", err)
	}
	return s.Drop, nil
}

// bufferMost is the buffer size that a receiver requests; the kernel limits
// it to net.bpf.maxbufsize.
const bufferMost = 1 << 20

// The directions of BIOCSDIRECTION (net/bpf.h).
const directionIn = 0

// readTimeout is the time after which a read returns what has arrived.
var readTimeout = unix.Timeval{Usec: 10_000}

// OpenBPF opens a bpf descriptor for one direction of a device (wire.Door).
func OpenBPF(o wire.Order) (wire.Opened, error) {
	d, err := wire.Look(o.Device, port.Here)
	if err != nil {
		return wire.Opened{}, err
	}
	fd, err := openBPF()
	if err != nil {
		return wire.Opened{}, err
	}
	out := wire.Opened{File: os.NewFile(uintptr(fd), "/dev/bpf"), Device: d}
	if o.Receive {
		out.Buffer, err = receiving(fd, o.Device)
	} else {
		err = sending(fd, o.Device)
	}
	if err != nil {
		out.File.Close()
		return wire.Opened{}, err
	}
	return out, nil
}

// attach binds a descriptor to a device, with a buffer up to the given size,
// and returns the buffer's length.
func attach(fd int, device string, buffer uint32) (int, error) {
	_ = wire.Ioctl(fd, unix.BIOCSBLEN, unsafe.Pointer(&buffer))
	var request [32]byte // struct ifreq
	copy(request[:15], device)
	if err := wire.Ioctl(fd, unix.BIOCSETIF, unsafe.Pointer(&request)); err != nil {
		return 0, fmt.Errorf("bind a bpf descriptor to %s: %w", device, err)
	}
	if err := wire.Ioctl(fd, unix.BIOCGBLEN, unsafe.Pointer(&buffer)); err != nil {
		return 0, fmt.Errorf("read the buffer length of bpf: %w", err)
	}
	return int(buffer), nil
}

// sending configures a descriptor to write whole frames and capture none.
func sending(fd int, device string) error {
	if _, err := attach(fd, device, 4096); err != nil {
		return err
	}
	nothing := [1]unix.BpfInsn{{Code: unix.BPF_RET | unix.BPF_K}}
	program := unix.BpfProgram{Len: 1, Insns: &nothing[0]}
	yes := uint32(1)
	return errors.Join(
		wrap("capture nothing", wire.Ioctl(fd, unix.BIOCSETF, unsafe.Pointer(&program))),
		wrap("send frames with their own source address", wire.Ioctl(fd, unix.BIOCSHDRCMPLT, unsafe.Pointer(&yes))))
}

// receiving configures a descriptor to capture arriving frames, with their times.
func receiving(fd int, device string) (int, error) {
	n, err := attach(fd, device, bufferMost)
	if err != nil {
		return 0, err
	}
	direction, stamps := uint32(directionIn), uint32(unix.BPF_T_NANOTIME_MONOTONIC)
	timeout := readTimeout
	return n, errors.Join(
		wrap("capture what arrives only", wire.Ioctl(fd, unix.BIOCSDIRECTION, unsafe.Pointer(&direction))),
		wrap("ask for monotonic time stamps", wire.Ioctl(fd, unix.BIOCSTSTAMP, unsafe.Pointer(&stamps))),
		wrap("set a read timeout", wire.Ioctl(fd, unix.BIOCSRTIMEOUT, unsafe.Pointer(&timeout))))
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return hint.With(fmt.Errorf("bpf: %s: %w", what, err), "is this FreeBSD 13 or later?")
}
