package wire

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
)

// Commands for advice on this system.
const (
	setUp     = "ifconfig %s up"
	setMTU    = "ifconfig %s mtu %d"
	elsewhere = "in a jail: jexec NAME linerate …"
)

func look(name string) (Device, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return Device{}, noDevice(name, errors.New("no such network interface"))
	}
	d := Device{Name: name, Index: i.Index, MAC: i.HardwareAddr, MTU: i.MTU, Up: i.Flags&net.FlagUp != 0,
		Carrier: i.Flags&net.FlagRunning != 0, Queues: 1}
	return d, nil
}

// NotPermitted adds advice to an error from missing privileges.
func NotPermitted(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return hint.With(err, "run it as root; in a jail, with a devfs that shows /dev/bpf")
	}
	return err
}

// cpuset(2): the mask of this thread.
const (
	cpuLevelWhich = 3
	cpuWhichTID   = 1
	cpuSetWords   = 16 // 1024 CPUs, CPU_SETSIZE since FreeBSD 14; 256 before
)

type cpuMask [cpuSetWords]uint64

// OnCPU runs f on a locked operating-system thread, pinned to a CPU (−1: not
// pinned).
func OnCPU(cpu int, f func(tid int) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if cpu >= 0 {
		var before cpuMask
		words, err := affinity(unix.SYS_CPUSET_GETAFFINITY, &before, 0)
		if err != nil {
			return fmt.Errorf("read this thread's CPUs: %w", err)
		}
		var only cpuMask
		only[cpu/64%cpuSetWords] = 1 << (cpu % 64)
		if _, err := affinity(unix.SYS_CPUSET_SETAFFINITY, &only, words); err != nil {
			return hint.With(fmt.Errorf("pin a worker to CPU %d: %w", cpu, err), "this process may use the CPUs that cpuset -g lists")
		}
		defer func() { _, _ = affinity(unix.SYS_CPUSET_SETAFFINITY, &before, words) }()
	}
	return f(0)
}

// affinity calls the kernel with a mask of the given number of words; 0: with
// the shortest mask that the kernel accepts, whose length it returns.
func affinity(call uintptr, mask *cpuMask, words int) (int, error) {
	var errno unix.Errno
	for n := max(1, words); n <= cpuSetWords; n *= 2 {
		_, _, errno = unix.Syscall6(call, cpuLevelWhich, cpuWhichTID, ^uintptr(0), uintptr(8*n), uintptr(unsafe.Pointer(mask)), 0)
		if errno == 0 {
			return n, nil
		}
		if words > 0 || errno != unix.ERANGE {
			break
		}
	}
	return 0, errno
}

// Ioctl calls ioctl(2).
func Ioctl(fd int, request uintptr, arg unsafe.Pointer) error {
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
		switch errno {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return errno
		}
	}
}
