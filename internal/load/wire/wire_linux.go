package wire

import (
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strings"

	"github.com/safchain/ethtool"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/cputime"
	"linerate/internal/hint"
	"linerate/internal/port"
)

// What a user types here.
const (
	setUp     = "ip link set dev %s up"
	setMTU    = "ip link set dev %s mtu %d"
	elsewhere = "in another network namespace: ip netns exec NAME linerate …"
)

func look(name string) (Device, error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return Device{}, unknown(name, err)
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
	addrs, err := netlink.AddrList(link, netlink.FAMILY_ALL)
	if err != nil {
		return d, fmt.Errorf("read the addresses of %s: %w", name, err)
	}
	for _, a := range addrs {
		if ip, ok := netip.AddrFromSlice(a.IP); ok {
			bits, _ := a.Mask.Size()
			d.Addrs = append(d.Addrs, netip.PrefixFrom(ip.Unmap(), bits))
		}
	}
	return d, nil
}

// queues is how many receive queues a device uses; most if it cannot tell.
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

func unknown(name string, cause error) error {
	var known []string
	if links, err := netlink.LinkList(); err == nil {
		for _, l := range links {
			known = append(known, l.Attrs().Name)
		}
	}
	return noDevice(name, cause, known)
}

// Neighbours returns the MAC addresses that the device's namespace knows of
// its neighbours.
func Neighbours(d Device, in port.Place) (map[netip.Addr]net.HardwareAddr, error) {
	known := map[netip.Addr]net.HardwareAddr{}
	err := in(func() error {
		list, err := netlink.NeighList(d.Index, netlink.FAMILY_ALL)
		for _, n := range list {
			ip, ok := netip.AddrFromSlice(n.IP)
			if ok && len(n.HardwareAddr) == 6 && n.State&(netlink.NUD_FAILED|netlink.NUD_INCOMPLETE|netlink.NUD_NOARP) == 0 {
				known[ip.Unmap()] = n.HardwareAddr
			}
		}
		return err
	})
	return known, err
}

// NextHop returns the address that frames to dst leave the device towards.
func NextHop(d Device, dst netip.Addr, in port.Place) (hop netip.Addr, err error) {
	err = in(func() error {
		routes, err := netlink.RouteGetWithOptions(dst.AsSlice(), &netlink.RouteGetOptions{Oif: d.Name})
		if err != nil || len(routes) == 0 {
			return fmt.Errorf("no route to %s through %s: %w", dst, d.Name, err)
		}
		hop = dst
		if gw, ok := netip.AddrFromSlice(routes[0].Gw); ok {
			hop = gw.Unmap()
		}
		return nil
	})
	return hop, err
}

// OnCPU runs f on a locked operating-system thread, pinned to a CPU
// (−1: not), with every signal but SIGURG blocked, so that nothing but Wake
// interrupts a long system call of f.
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
	all.Val[bit/64] &^= 1 << (bit % 64) // words are of 64 bits on amd64 and arm64
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old); err != nil {
		return nil, fmt.Errorf("block signals: %w", err)
	}
	return func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }, nil
}

// Wake interrupts a system call of a thread that OnCPU started.
func Wake(tid int) { _ = unix.Tgkill(unix.Getpid(), tid, unix.SIGURG) }

// Index is a device's number in the calling thread's namespace.
func Index(name string) (int, error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return 0, unknown(name, err)
	}
	return link.Attrs().Index, nil
}
