package wire

import (
	"fmt"
	"net"
	"runtime"
	"strings"

	"github.com/safchain/ethtool"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/cputime"
	"linerate/internal/hint"
)

// Commands for advice on this system.
const (
	setUp     = "ip link set dev %s up"
	setMTU    = "ip link set dev %s mtu %d"
	elsewhere = "in another network namespace: ip netns exec NAME linerate …"
)

func look(name string) (Device, error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return Device{}, noDevice(name, err)
	}
	a := link.Attrs()
	d := Device{
		Name: name, Index: a.Index, MAC: a.HardwareAddr, MTU: a.MTU, Veth: link.Type() == "veth",
		Up: a.Flags&net.FlagUp != 0, Queues: queues(name, a.NumRxQueues), Carrier: a.OperState != netlink.OperDown && a.OperState != netlink.OperLowerLayerDown,
	}
	var st unix.Stat_t
	if err := unix.Stat("/proc/thread-self/ns/net", &st); err == nil {
		d.Netns = uint32(st.Ino)
	}
	return d, nil
}

// queues returns how many receive queues a device uses; most if that is unknown.
func queues(name string, most int) int {
	e, err := ethtool.NewEthtool()
	if err != nil {
		return max(1, most)
	}
	defer e.Close()
	c, err := e.GetChannels(name)
	if err != nil {
		return max(1, most)
	}
	return max(1, int(c.RxCount+c.CombinedCount))
}

// OnCPU runs f on a locked operating-system thread, pinned to a CPU (−1: not
// pinned), with all signals but SIGURG blocked, so that only Wake interrupts
// a long system call in f.
func OnCPU(cpu int, f func(tid int) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.CPUSet
	if cpu >= 0 {
		if err := unix.SchedGetaffinity(0, &before); err != nil {
			return fmt.Errorf("read this thread's CPUs: %w", err)
		}
		if err := cputime.Pin(0, cpu); err != nil {
			allowed, _ := cputime.Allowed()
			return hint.With(fmt.Errorf("pin a worker to CPU %d: %w", cpu, err), "this process may use CPUs %s", strings.Trim(strings.ReplaceAll(fmt.Sprint(allowed), " ", ","), "[]"))
		}
		defer func() { _ = unix.SchedSetaffinity(0, &before) }()
	}
	restore, err := blockSignals()
	if err != nil {
		return err
	}
	defer restore()
	return f(unix.Gettid())
}

func blockSignals() (restore func(), err error) {
	var all, old unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	bit := uint(unix.SIGURG) - 1
	all.Val[bit/64] &^= 1 << (bit % 64) // words have 64 bits on amd64 and arm64
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old); err != nil {
		return nil, fmt.Errorf("block signals: %w", err)
	}
	return func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }, nil
}

// Wake interrupts a system call of a thread that OnCPU started.
func Wake(tid int) { _ = unix.Tgkill(unix.Getpid(), tid, unix.SIGURG) }

// Index returns a device's index in the calling thread's namespace.
func Index(name string) (int, error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return 0, noDevice(name, err)
	}
	return link.Attrs().Index, nil
}
