package knob

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/setting"
)

// addRoute adds the route Name via Value; Value is an address, "ingress" or
// "egress" (on link), or "blackhole". A Name like "240.0.0.0/8*1000" adds that
// many host routes from the network upward: a table of a chosen size. With a
// Device the next hop is taken to be on that link.
func addRoute(s setting.Setting, devices map[string]string) error {
	prefix, count, err := parseRoutes(s.Name)
	if err != nil {
		return err
	}
	base := &netlink.Route{}
	if err := nextHop(base, s.Value, devices); err != nil {
		return err
	}
	if s.Device != "" && base.Gw != nil {
		if err := onLink(base, s.Device, devices); err != nil {
			return err
		}
	}
	addr := prefix.Addr()
	for range count {
		r := *base
		bits := prefix.Bits()
		if count > 1 {
			bits = addr.BitLen()
		}
		r.Dst = &net.IPNet{IP: net.IP(addr.AsSlice()), Mask: net.CIDRMask(bits, addr.BitLen())}
		if err := netlink.RouteReplace(&r); err != nil {
			return fmt.Errorf("add route %s via %s: %w", r.Dst, s.Value, err)
		}
		addr = addr.Next()
	}
	return nil
}

// onLink says that the next hop is directly behind a device, whatever the
// routing table says of its address.
func onLink(r *netlink.Route, role string, devices map[string]string) error {
	link, err := netlink.LinkByName(devices[role])
	if err != nil {
		return fmt.Errorf("find the %s device of a route: %w", role, err)
	}
	r.LinkIndex, r.Flags = link.Attrs().Index, int(netlink.FLAG_ONLINK)
	return nil
}

// parseRoutes reads PREFIX or PREFIX*COUNT.
func parseRoutes(name string) (netip.Prefix, int, error) {
	text, times, many := strings.Cut(name, "*")
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, 0, fmt.Errorf("route %q: %w", name, err)
	}
	p = p.Masked()
	if !many {
		return p, 1, nil
	}
	n, err := strconv.Atoi(times)
	if err != nil || n < 1 || n > 1<<20 {
		return p, 0, fmt.Errorf("route %q: the count must be 1 to %d", name, 1<<20)
	}
	if host := p.Addr().BitLen() - p.Bits(); host < 21 && n > 1<<host {
		return p, 0, fmt.Errorf("route %q: the network holds only %d addresses", name, 1<<host)
	}
	return p, n, nil
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
		return fmt.Errorf("next hop %q is no address, ingress, egress or blackhole", value)
	}
	r.Gw = net.IP(gw.AsSlice())
	return nil
}
