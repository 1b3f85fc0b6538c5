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
)

// The lab's devices. Generator and receiver live in benchmarking space (RFC
// 2544 §C.2.2: 198.18.0.0/15; RFC 5180: 2001:2::/48). The DUT's own addresses
// are the last of their networks: a workload that varies addresses upward
// from .0.1 must not run over them.
var (
	genPort  = end{device: "gen0", mac: mac(1), v4: netip.MustParsePrefix("198.18.0.1/16"), v6: netip.MustParsePrefix("2001:2::1/64")}
	ingress  = end{device: "dut0", mac: mac(2), v4: netip.MustParsePrefix("198.18.255.254/16"), v6: netip.MustParsePrefix("2001:2::ffff:fffe/64")}
	egress   = end{device: "dut1", mac: mac(3), v4: netip.MustParsePrefix("198.19.255.254/16"), v6: netip.MustParsePrefix("2001:2:0:1::ffff:fffe/64")}
	sinkPort = end{device: "sink0", mac: mac(4), v4: netip.MustParsePrefix("198.19.0.1/16"), v6: netip.MustParsePrefix("2001:2:0:1::1/64")}
	// The bypass carries the same frames without a DUT; nothing on it is
	// routed, so it needs no addresses.
	genBypass  = end{device: "gen1", mac: mac(5), v4: netip.Prefix{}, v6: netip.Prefix{}}
	sinkBypass = end{device: "sink1", mac: mac(6), v4: netip.Prefix{}, v6: netip.Prefix{}}
)

// end is one device of a wire.
type end struct {
	device string
	mac    net.HardwareAddr
	v4, v6 netip.Prefix
	group  uint32 // by which devices are removed together
}

func mac(last byte) net.HardwareAddr { return net.HardwareAddr{2, 0, 0, 0, 0, last} }

// wire joins device a in namespace nsA to b in nsB by a veth pair. The pair
// is born inside the namespaces: the host's own never sees it.
func wire(nsA *namespace, a end, nsB *namespace, b end) error {
	h, err := netlink.NewHandleAt(netns.NsHandle(nsA.fd), unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open netlink in the namespace of %s: %w", a.device, err)
	}
	defer h.Close()
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.HardwareAddr, attrs.Group = a.device, a.mac, a.group
	// One queue a side: which CPU works is the lab's decision, not the
	// hash's.
	attrs.NumTxQueues, attrs.NumRxQueues = 1, 1
	pair := &netlink.Veth{LinkAttrs: attrs, PeerName: b.device, PeerHardwareAddr: b.mac,
		PeerNumTxQueues: 1, PeerNumRxQueues: 1, PeerNamespace: netlink.NsFd(nsB.fd)}
	if err := h.LinkAdd(pair); err != nil {
		return fmt.Errorf("make the veth pair %s–%s: %w", a.device, b.device, err)
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
		if err := s.ns.do(func() error { return carries(s.e.device) }); err != nil {
			return err
		}
	}
	return nil
}

// carries waits until a device that is up sends: the kernel's work queue gives it its
// qdisc and IPv6 its routes when there is a carrier, which a busy machine does later
// (net/core/link_watch.c). Until then frames are dropped.
func carries(device string) error {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		link, err := netlink.LinkByName(device)
		if err != nil {
			return fmt.Errorf("find %s: %w", device, err)
		}
		if link.Attrs().OperState == netlink.OperUp {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s is up and %s for a minute: its peer gives it no carrier", device, link.Attrs().OperState)
		}
	}
}

// raise quietens a device (no router solicitations, no duplicate address
// detection: foreign frames would be counted), addresses it and brings it up.
func raise(e end) error {
	for name, value := range map[string]string{
		"ipv6/conf/" + e.device + "/addr_gen_mode":        "1", // no link-local address
		"ipv6/conf/" + e.device + "/accept_dad":           "0",
		"ipv6/conf/" + e.device + "/accept_ra":            "0",
		"ipv6/conf/" + e.device + "/router_solicitations": "0",
		// Multicast listener reports cannot be turned off, only delayed.
		"ipv6/conf/" + e.device + "/mldv2_unsolicited_report_interval": "86400000",
		"ipv6/conf/" + e.device + "/mldv1_unsolicited_report_interval": "86400000",
	} {
		// A kernel without IPv6 lacks them, and then needs none.
		_ = os.WriteFile(filepath.Join("/proc/sys/net", name), []byte(value), 0)
	}
	if !e.v6.IsValid() {
		_ = os.WriteFile(filepath.Join("/proc/sys/net/ipv6/conf", e.device, "disable_ipv6"), []byte("1"), 0)
	}
	link, err := netlink.LinkByName(e.device)
	if err != nil {
		return fmt.Errorf("find %s: %w", e.device, err)
	}
	if e.group != 0 {
		// The far end of a pair has none from its birth.
		if err := netlink.LinkSetGroup(link, int(e.group)); err != nil {
			return fmt.Errorf("group %s: %w", e.device, err)
		}
	}
	for _, p := range []netip.Prefix{e.v4, e.v6} {
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
			return fmt.Errorf("address %s with %s: %w", e.device, p, err)
		}
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("bring %s up: %w", e.device, err)
	}
	return nil
}

// neighbour writes down who peer is and, on the DUT, that everything else in
// the peer's network is behind it, so that nothing ever has to be resolved.
func neighbour(own, peer end, router bool) error {
	link, err := netlink.LinkByName(own.device)
	if err != nil {
		return fmt.Errorf("find %s: %w", own.device, err)
	}
	if err := greet(link, peer); err != nil || !router {
		return err
	}
	for _, p := range []netip.Prefix{peer.v4, peer.v6} {
		if p.Addr().Is6() && !haveIPv6() {
			continue
		}
		if err := routeVia(link, p); err != nil {
			return err
		}
	}
	return nil
}

// routeVia replaces the connected route of a network by one through its one
// host: thousands of destinations then need one neighbour.
func routeVia(link netlink.Link, p netip.Prefix) error {
	r := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: ipNet(p.Masked()),
		Gw: net.IP(p.Addr().AsSlice()), Flags: int(netlink.FLAG_ONLINK)}
	if p.Addr().Is6() {
		// Equal to the connected route's key, this one would join it as
		// a second path: two halves win by length instead.
		return routeHalves(r, p)
	}
	if err := netlink.RouteReplace(r); err != nil {
		return fmt.Errorf("route %s via %s: %w", p.Masked(), p.Addr(), err)
	}
	return nil
}

func routeHalves(r *netlink.Route, p netip.Prefix) error {
	low := p.Masked().Addr().As16()
	high := low
	bit := p.Bits()
	high[bit/8] |= 1 << (7 - bit%8)
	for _, a := range [][16]byte{low, high} {
		half := netip.PrefixFrom(netip.AddrFrom16(a), bit+1)
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
