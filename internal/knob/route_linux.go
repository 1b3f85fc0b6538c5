package knob

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/setting"
)

// addRoute adds the route Name via Value; Value is an address, "ingress" or
// "egress" (on link), or "blackhole". With a Device the next hop is assumed to be
// on that link.
func addRoute(s setting.Setting, devices map[string]string) error {
	prefix, err := netip.ParsePrefix(s.Name)
	if err != nil {
		return fmt.Errorf("route %q: %w", s.Name, err)
	}
	prefix = prefix.Masked()
	r := &netlink.Route{Dst: &net.IPNet{IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())}}
	if err := nextHop(r, s.Value, devices); err != nil {
		return err
	}
	if s.Device != "" && r.Gw != nil {
		if err := onLink(r, s.Device, devices); err != nil {
			return err
		}
	}
	if err := netlink.RouteReplace(r); err != nil {
		return fmt.Errorf("add route %s via %s: %w", r.Dst, s.Value, err)
	}
	return nil
}

// onLink marks the next hop as directly reachable through a device, whatever
// the routing table says about its address.
func onLink(r *netlink.Route, role string, devices map[string]string) error {
	link, err := netlink.LinkByName(devices[role])
	if err != nil {
		return fmt.Errorf("find the %s device of a route: %w", role, err)
	}
	r.LinkIndex, r.Flags = link.Attrs().Index, int(netlink.FLAG_ONLINK)
	return nil
}

func nextHop(r *netlink.Route, value string, devices map[string]string) error {
	if value == "blackhole" {
		r.Type = unix.RTN_BLACKHOLE
		return nil
	}
	if device, ok := devices[value]; ok {
		link, err := netlink.LinkByName(device)
		if err != nil {
			return fmt.Errorf("find %s: %w", device, err)
		}
		r.LinkIndex, r.Scope = link.Attrs().Index, netlink.SCOPE_LINK
		return nil
	}
	gw, err := netip.ParseAddr(value)
	if err != nil {
		return fmt.Errorf("next hop %q is not an address, ingress, egress or blackhole", value)
	}
	r.Gw = net.IP(gw.AsSlice())
	return nil
}
