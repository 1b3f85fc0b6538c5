package netnsbed

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"linerate/internal/testbed"
)

// end is one device of a wire.
type end = testbed.WireEnd

// The lab's devices.
var (
	genPort, sinkPort     = testbed.GeneratorEnd, testbed.ReceiverEnd
	ingress, egress       = testbed.IngressEnd, testbed.EgressEnd
	genBypass, sinkBypass = testbed.BypassFrom, testbed.BypassTo
)

// wire connects device a in namespace nsA to b in nsB by a veth pair. The
// pair is created inside the namespaces, so the host's own never sees it.
func wire(nsA *namespace, a end, nsB *namespace, b end) error {
	h, err := netlink.NewHandleAt(netns.NsHandle(nsA.fd), unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open netlink in the namespace of %s: %w", a.Device, err)
	}
	defer h.Close()
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.HardwareAddr, attrs.Group = a.Device, a.MAC, a.Group
	// One queue per side: the lab decides which CPU works, not the hash.
	attrs.NumTxQueues, attrs.NumRxQueues = 1, 1
	pair := &netlink.Veth{LinkAttrs: attrs, PeerName: b.Device, PeerHardwareAddr: b.MAC,
		PeerNumTxQueues: 1, PeerNumRxQueues: 1, PeerNamespace: netlink.NsFd(nsB.fd)}
	if err := h.LinkAdd(pair); err != nil {
		return fmt.Errorf("make the veth pair %s–%s: %w", a.Device, b.Device, err)
	}
	type side struct {
		ns *namespace
		e  end
	}
	sides := []side{{nsA, a}, {nsB, b}}
	for _, s := range sides {
		if err := s.ns.do(func() error { return raise(s.e) }); err != nil {
			return err
		}
	}
	for _, s := range sides {
		if err := s.ns.do(func() error { return carries(s.e) }); err != nil {
			return err
		}
	}
	return nil
}

// carries waits until a device that is up can send and receive: the kernel's work queue attaches
// its qdisc and IPv6 routes after the carrier comes up, which takes longer on a busy
// machine (net/core/link_watch.c). Until then frames are dropped.
func carries(e end) error {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		link, err := netlink.LinkByName(e.Device)
		if err != nil {
			return fmt.Errorf("find %s: %w", e.Device, err)
		}
		if link.Attrs().OperState == netlink.OperUp && isLocal(e.IPv6.Addr()) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s was brought up a minute ago and is %s: it has no carrier from its peer, or its address no local route", e.Device, link.Attrs().OperState)
		}
	}
}

// isLocal reports whether the namespace takes packets to an IPv6 address as its own. The work queue adds that
// route too, without duplicate address detection as well (addrconf_dad_work in net/ipv6/addrconf.c).
func isLocal(a netip.Addr) bool {
	routes, err := netlink.RouteGet(a.AsSlice())
	return !a.IsValid() || !haveIPv6() || err == nil && len(routes) == 1 && routes[0].Type == unix.RTN_LOCAL
}

// raise brings a device up with its addresses, without router solicitations
// and duplicate address detection, whose frames would be counted.
func raise(e end) error {
	for name, value := range map[string]string{
		"ipv6/conf/" + e.Device + "/addr_gen_mode":        "1", // no link-local address
		"ipv6/conf/" + e.Device + "/accept_dad":           "0",
		"ipv6/conf/" + e.Device + "/accept_ra":            "0",
		"ipv6/conf/" + e.Device + "/router_solicitations": "0",
		// Multicast listener reports cannot be disabled, only delayed.
		"ipv6/conf/" + e.Device + "/mldv2_unsolicited_report_interval": "86400000",
		"ipv6/conf/" + e.Device + "/mldv1_unsolicited_report_interval": "86400000",
	} {
		// A kernel without IPv6 has none of these files.
		_ = os.WriteFile(filepath.Join("/proc/sys/net", name), []byte(value), 0)
	}
	if !e.IPv6.IsValid() {
		_ = os.WriteFile(filepath.Join("/proc/sys/net/ipv6/conf", e.Device, "disable_ipv6"), []byte("1"), 0)
	}
	link, err := netlink.LinkByName(e.Device)
	if err != nil {
		return fmt.Errorf("find %s: %w", e.Device, err)
	}
	if e.Group != 0 {
		// The peer is created without the group.
		if err := netlink.LinkSetGroup(link, int(e.Group)); err != nil {
			return fmt.Errorf("group %s: %w", e.Device, err)
		}
	}
	for _, p := range []netip.Prefix{e.IPv4, e.IPv6} {
		if !p.IsValid() {
			continue
		}
		addr := &netlink.Addr{IPNet: ipNet(p)}
		if p.Addr().Is6() {
			if !haveIPv6() {
				continue
			}
			addr.Flags = unix.IFA_F_NODAD
		}
		if err := netlink.AddrAdd(link, addr); err != nil {
			return fmt.Errorf("address %s with %s: %w", e.Device, p, err)
		}
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("bring %s up: %w", e.Device, err)
	}
	return nil
}

// neighbour adds entries for peer and, on the DUT, routes everything else in
// the peer's network via it, so that no address has to be resolved.
func neighbour(own, peer end, router bool) error {
	link, err := netlink.LinkByName(own.Device)
	if err != nil {
		return fmt.Errorf("find %s: %w", own.Device, err)
	}
	if err := greet(link, peer); err != nil || !router {
		return err
	}
	for _, p := range []netip.Prefix{peer.IPv4, peer.IPv6} {
		if p.Addr().Is6() && !haveIPv6() {
			continue
		}
		if err := routeVia(link, p); err != nil {
			return err
		}
	}
	return nil
}

// routeVia replaces the connected route of a network by one via its only
// host, so that thousands of destinations need only one neighbour entry.
func routeVia(link netlink.Link, p netip.Prefix) error {
	r := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: ipNet(p.Masked()),
		Gw: net.IP(p.Addr().AsSlice()), Flags: int(netlink.FLAG_ONLINK)}
	if p.Addr().Is6() {
		// With the same key as the connected route, this one would become its
		// second nexthop: two half-size routes take precedence by length instead.
		return routeHalves(r, p)
	}
	if err := netlink.RouteReplace(r); err != nil {
		return fmt.Errorf("route %s via %s: %w", p.Masked(), p.Addr(), err)
	}
	return nil
}

func routeHalves(r *netlink.Route, p netip.Prefix) error {
	for _, half := range testbed.Halves(p) {
		route := *r
		route.Dst = ipNet(half)
		if err := netlink.RouteReplace(&route); err != nil {
			return fmt.Errorf("route %s via %s: %w", half, p.Addr(), err)
		}
	}
	return nil
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: net.IP(p.Addr().AsSlice()), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

func haveIPv6() bool {
	_, err := os.Stat("/proc/sys/net/ipv6")
	return err == nil
}
