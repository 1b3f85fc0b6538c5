package main

import (
	"errors"
	"fmt"
	"net"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/hint"
)

// localTable is the kernel's table of local addresses (RT_TABLE_LOCAL).
const localTable = 255

// quickLoopback takes the calling goroutine, and whom it starts from then on, into a
// network namespace whose loopback acknowledges everything at once. It is never left:
// the thread ends with its goroutine.
func quickLoopback() error {
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return hint.With(fmt.Errorf("make a network namespace: %w", err), "root may")
	}
	lo, err := netlink.LinkByName("lo")
	if err == nil {
		err = netlink.LinkSetUp(lo)
	}
	if err != nil {
		return fmt.Errorf("bring a loopback up: %w", err)
	}
	_, all, err := net.ParseCIDR("127.0.0.0/8")
	if err != nil {
		return err
	}
	host := &net.IPNet{IP: net.IPv4(127, 0, 0, 1).To4(), Mask: net.CIDRMask(32, 32)}
	for _, to := range []*net.IPNet{all, host} {
		r := &netlink.Route{LinkIndex: lo.Attrs().Index, Dst: to, Table: localTable, Type: unix.RTN_LOCAL, Scope: unix.RT_SCOPE_HOST, Src: host.IP, Protocol: unix.RTPROT_KERNEL, QuickACK: 1}
		if e := netlink.RouteReplace(r); e != nil {
			err = errors.Join(err, fmt.Errorf("have the route to %s acknowledge at once: %w", to, e))
		}
	}
	return err
}
