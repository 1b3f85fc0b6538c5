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

	"linerate/internal/hint"
	"linerate/internal/testbed"
)

// Look reads a device's properties.
func Look(name string, in testbed.Place) (d Device, err error) {
	err = in(func() error {
		d, err = look(name)
		return err
	})
	return d, err
}

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
	if !d.Up {
		return d, hint.With(fmt.Errorf("device %s is down", name), "ip link set dev %s up", name)
	}
	if !d.Carrier {
		return d, hint.With(fmt.Errorf("device %s has no carrier", name), "is its other end up? on a veth: ip link set dev PEER up")
	}
	if len(d.MAC) != 6 {
		return d, hint.With(fmt.Errorf("device %s is not an Ethernet device", name), "traffic needs an interface with a MAC address")
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

func noDevice(name string, cause error) error {
	var known []string
	if links, err := netlink.LinkList(); err == nil {
		for _, l := range links {
			known = append(known, l.Attrs().Name)
		}
	}
	err := fmt.Errorf("device %q: %w", name, cause)
	if near := hint.Nearest(name, known, 1); len(near) > 0 {
		return hint.With(err, "did you mean %s?", near[0])
	}
	return hint.With(err, "in this network namespace are %s; another namespace: ip netns exec NAME linerate …", strings.Join(known, ", "))
}

// Neighbours returns the MAC addresses that the device's namespace knows of
// its neighbours.
func Neighbours(d Device, in testbed.Place) (map[netip.Addr]net.HardwareAddr, error) {
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
func NextHop(d Device, dst netip.Addr, in testbed.Place) (hop netip.Addr, err error) {
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

// OnCPU runs f on an operating-system thread of its own, pinned to a CPU
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
		var only unix.CPUSet
		only.Set(cpu)
		if err := unix.SchedSetaffinity(0, &only); err != nil {
			return hint.With(fmt.Errorf("pin a worker to CPU %d: %w", cpu, err), "this process may use CPUs %s", cpuList(before))
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

func cpuList(set unix.CPUSet) string {
	s := ""
	for i := range 1024 {
		if set.IsSet(i) {
			if s != "" {
				s += ","
			}
			s += fmt.Sprint(i)
		}
	}
	return s
}

// Fits refuses frames that a device does not carry.
func Fits(d Device, sizes []int) error {
	for _, n := range sizes {
		if n-18 > d.MTU {
			return hint.With(hint.Usagef("frame size %d: %s carries up to %d (MTU %d)", n, d.Name, d.MTU+18, d.MTU),
				"ip link set dev %s mtu %d, and the same on the other end", d.Name, n-18)
		}
	}
	return nil
}

// Index is a device's number in the calling thread's namespace.
func Index(name string) (int, error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return 0, noDevice(name, err)
	}
	return link.Attrs().Index, nil
}
