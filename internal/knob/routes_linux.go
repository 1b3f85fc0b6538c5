package knob

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/setting"
	"linerate/internal/show"
)

// routes adds a table behind the egress, in batches of messages.
func (t *Target) routes(ctx context.Context, s setting.Setting) (string, error) {
	start := time.Now()
	list := Routes(*s.Table)
	err := t.In(func() error { return AddRoutes(ctx, list, t.Devices["egress"], workloadNetwork.Addr().Next()) })
	if err != nil {
		return "", fmt.Errorf("load %s: %w", s, err)
	}
	return fmt.Sprintf("%s loaded in %s", s, show.Brief(time.Since(start))), nil
}

// routesPerBatch messages are sent to the kernel at once. It answers those that
// fail, and the last one.
const routesPerBatch = 2000

// AddRoutes adds or replaces IPv4 routes via one gateway on a device of the
// calling thread's namespace. The gateway need not be in a network of the device.
func AddRoutes(ctx context.Context, list []netip.Prefix, device string, gateway netip.Addr) error {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return fmt.Errorf("find %s: %w", device, err)
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open a route socket: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 30}); err != nil {
		return fmt.Errorf("set up a route socket: %w", err)
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, 1<<20) // only root can do this; batches fit without it
	for at := 0; at < len(list); at += routesPerBatch {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch := list[at:min(at+routesPerBatch, len(list))]
		var out []byte
		for i, p := range batch {
			out = appendRoute(out, p, link.Attrs().Index, gateway, i == len(batch)-1)
		}
		if err := unix.Send(fd, out, 0); err != nil {
			return fmt.Errorf("send routes: %w", err)
		}
		if err := acknowledged(fd); err != nil {
			return err
		}
	}
	return nil
}

// appendRoute appends the message for `ip route replace P via GATEWAY dev DEVICE onlink`.
func appendRoute(out []byte, p netip.Prefix, device int, gateway netip.Addr, ack bool) []byte {
	const size = unix.SizeofNlMsghdr + unix.SizeofRtMsg + 3*(unix.SizeofRtAttr+4)
	flags := uint16(unix.NLM_F_REQUEST | unix.NLM_F_CREATE | unix.NLM_F_REPLACE)
	if ack {
		flags |= unix.NLM_F_ACK
	}
	ne := binary.NativeEndian
	out = ne.AppendUint32(out, size)
	out = ne.AppendUint16(out, unix.RTM_NEWROUTE)
	out = ne.AppendUint16(out, flags)
	out = ne.AppendUint32(ne.AppendUint32(out, 1), 0)
	out = append(out, unix.AF_INET, byte(p.Bits()), 0, 0, unix.RT_TABLE_MAIN, unix.RTPROT_BOOT, unix.RT_SCOPE_UNIVERSE, unix.RTN_UNICAST)
	out = ne.AppendUint32(out, unix.RTNH_F_ONLINK)
	attr := func(kind uint16, value []byte) {
		out = ne.AppendUint16(out, unix.SizeofRtAttr+4)
		out = ne.AppendUint16(out, kind)
		out = append(out, value...)
	}
	attr(unix.RTA_DST, net.IP(p.Addr().AsSlice()))
	attr(unix.RTA_GATEWAY, gateway.AsSlice())
	attr(unix.RTA_OIF, ne.AppendUint32(nil, uint32(device)))
	return out
}

// acknowledged waits for the kernel's answer to a batch.
func acknowledged(fd int) error {
	buf := make([]byte, 1<<16)
	n, _, err := unix.Recvfrom(fd, buf, 0)
	if err != nil {
		return fmt.Errorf("wait for the kernel's answer: %w", err)
	}
	if n < unix.SizeofNlMsghdr+4 || binary.NativeEndian.Uint16(buf[4:]) != unix.NLMSG_ERROR {
		return errors.New("the kernel's answer is malformed")
	}
	if code := -int32(binary.NativeEndian.Uint32(buf[unix.SizeofNlMsghdr:])); code != 0 {
		return fmt.Errorf("the kernel refused a route: %w", unix.Errno(code))
	}
	return nil
}

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
