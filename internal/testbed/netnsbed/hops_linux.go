package netnsbed

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"strings"

	"github.com/vishvananda/netlink"

	"linerate/internal/knob"
	"linerate/internal/testbed"
)

// routers are a DUT: one namespace, or several in a row, of which the first
// has the ingress and the last the egress. Settings apply to the first.
type routers struct {
	first *namespace
	more  []*namespace
	// bothWays is set if traffic also enters at the egress.
	bothWays bool
}

// last returns the router with the egress.
func (r routers) last() *namespace {
	if len(r.more) > 0 {
		return r.more[len(r.more)-1]
	}
	return r.first
}

// newRouters creates a DUT between two ends of outer namespaces. On an error
// it also returns what was built.
func newRouters(gen *namespace, genEnd end, sink *namespace, sinkEnd end, p testbed.HopPath) (r routers, err error) {
	if r.first, err = newRouter(); err != nil {
		return r, err
	}
	return r, r.build(gen, genEnd, sink, sinkEnd, p)
}

// build connects the routers, starting from the existing first one.
func (r *routers) build(gen *namespace, genEnd end, sink *namespace, sinkEnd end, p testbed.HopPath) error {
	if err := wire(gen, genEnd, r.first, ingress); err != nil {
		return err
	}
	for i := range p.Hops {
		next, err := newRouter()
		if err != nil {
			return err
		}
		before := r.last()
		r.more = append(r.more, next)
		if err := join(before, next, i, p); err != nil {
			return err
		}
	}
	if err := wire(r.last(), egress, sink, sinkEnd); err != nil {
		return err
	}
	if err := r.first.do(introduceIngress); err != nil {
		return err
	}
	return r.last().do(func() error { return neighbour(egress, sinkPort, true) })
}

func newRouter() (*namespace, error) {
	ns, err := newNamespace()
	if err != nil {
		return nil, err
	}
	return ns, ns.do(forward)
}

// join connects a router to the next and routes the two outer networks through the wire.
func join(before, next *namespace, i int, p testbed.HopPath) error {
	up, down := testbed.HopEnds(i, "next", "previous")
	if err := wire(before, up, next, down); err != nil {
		return err
	}
	if err := before.do(func() error { return reach(up, down, sinkPort, p) }); err != nil {
		return err
	}
	return next.do(func() error { return reach(down, up, genPort, p) })
}

// reach routes a far network to the peer, over the path's overlay.
func reach(own, peer, far end, p testbed.HopPath) error {
	link, err := netlink.LinkByName(own.Device)
	if err != nil {
		return fmt.Errorf("find %s: %w", own.Device, err)
	}
	if p.Over != "" {
		// Headers around a packet must not make it too long.
		if err := netlink.LinkSetMTU(link, 2000); err != nil {
			return fmt.Errorf("set the MTU of %s: %w", own.Device, err)
		}
	}
	if err := greet(link, peer); err != nil {
		return err
	}
	via, err := overlay(link, own, peer, p)
	if err != nil {
		return err
	}
	if kind := via.Type(); kind == "vlan" || kind == "vxlan" {
		peer = peer.Beyond()
		if err := greet(via, peer); err != nil {
			return err
		}
	}
	return routeTo(via, peer, far)
}

// greet adds neighbour entries for the other end of a link.
func greet(link netlink.Link, peer end) error {
	for _, p := range []netip.Prefix{peer.IPv4, peer.IPv6} {
		if p.Addr().Is6() && !haveIPv6() {
			continue
		}
		n := &netlink.Neigh{LinkIndex: link.Attrs().Index, State: netlink.NUD_PERMANENT, IP: net.IP(p.Addr().AsSlice()), HardwareAddr: peer.MAC}
		if err := netlink.NeighSet(n); err != nil {
			return fmt.Errorf("make %s a neighbour of %s: %w", p.Addr(), link.Attrs().Name, err)
		}
	}
	return nil
}

// routeTo routes a far network over a link: via the peer's address if the link
// has neighbours.
func routeTo(via netlink.Link, peer, far end) error {
	pointToPoint := via.Attrs().HardwareAddr == nil || via.Type() == "gre" || via.Type() == "ipip"
	for _, hop := range []struct{ to, gw netip.Prefix }{{far.IPv4, peer.IPv4}, {far.IPv6, peer.IPv6}} {
		if hop.to.Addr().Is6() && !haveIPv6() {
			continue
		}
		r := &netlink.Route{LinkIndex: via.Attrs().Index, Dst: ipNet(hop.to.Masked())}
		if pointToPoint {
			r.Scope = netlink.SCOPE_LINK
		} else {
			r.Gw, r.Flags = net.IP(hop.gw.Addr().AsSlice()), int(netlink.FLAG_ONLINK)
		}
		if err := netlink.RouteReplace(r); err != nil && !(pointToPoint && hop.to.Addr().Is6()) {
			return fmt.Errorf("route %s over %s: %w", hop.to.Masked(), via.Attrs().Name, err)
		}
	}
	return nil
}

// overlay creates the path's overlay on a link and returns the device to
// route over. If the kernel lacks it, the path is unavailable.
func overlay(link netlink.Link, own, peer end, p testbed.HopPath) (netlink.Link, error) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU = "over", 1500
	local, remote := net.IP(own.IPv4.Addr().AsSlice()), net.IP(peer.IPv4.Addr().AsSlice())
	var made netlink.Link
	switch p.Over {
	case "":
		return link, nil
	case "vlan":
		attrs.ParentIndex, attrs.HardwareAddr = link.Attrs().Index, own.MAC
		made = &netlink.Vlan{LinkAttrs: attrs, VlanId: 100}
	case "vxlan":
		attrs.HardwareAddr = own.MAC
		made = &netlink.Vxlan{LinkAttrs: attrs, VxlanId: 100, SrcAddr: local, Group: remote, Port: 4789, VtepDevIndex: link.Attrs().Index}
	case "gre":
		made = &netlink.Gretun{LinkAttrs: attrs, Local: local, Remote: remote}
	case "ipip":
		made = &netlink.Iptun{LinkAttrs: attrs, Local: local, Remote: remote}
	case "wireguard":
		made = &netlink.Wireguard{LinkAttrs: attrs}
	case "ipsec":
		return link, lacks(p, protect(own, peer))
	default:
		return nil, fmt.Errorf("unknown link %q", p.Over)
	}
	if err := netlink.LinkAdd(made); err != nil {
		return nil, lacks(p, err)
	}
	if p.Over == "wireguard" {
		if err := lacks(p, pair(own, peer)); err != nil {
			return nil, err
		}
	}
	if err := netlink.LinkSetUp(made); err != nil {
		return nil, fmt.Errorf("bring %s up: %w", p.Over, err)
	}
	return netlink.LinkByName("over")
}

// lacks converts an error to one that says that the kernel does not support the path.
func lacks(p testbed.HopPath, err error) error {
	var un *testbed.ErrUnavailable
	if err == nil || errors.As(err, &un) {
		return err
	}
	un = &testbed.ErrUnavailable{Setting: p.Setting.String(), Reason: fmt.Sprintf("the kernel has no %s here: %v", p.Over, err), Help: overNeeds[p.Over]}
	if errors.Is(err, errNoWG) {
		un.Reason, un.Help = err.Error(), "install wireguard-tools"
	}
	return un
}

// overNeeds says what each kind of link needs in the kernel.
var overNeeds = map[string]string{
	"vlan":      testbed.Needs("8021q", "CONFIG_VLAN_8021Q"),
	"vxlan":     testbed.Needs("vxlan", "CONFIG_VXLAN"),
	"ipip":      testbed.Needs("ipip", "CONFIG_NET_IPIP"),
	"gre":       testbed.Needs("ip_gre", "CONFIG_NET_IPGRE"),
	"wireguard": testbed.Needs("wireguard", "CONFIG_WIREGUARD"),
	"ipsec":     testbed.Needs("esp4", "CONFIG_INET_ESP and CONFIG_XFRM_USER"),
}

var errNoWG = errors.New("wg(8) is not installed")

// protect sets up ESP in tunnel mode (RFC 4303, AES-GCM of RFC 4106) for packets
// that leave through this end to the receiver's network, and for those from it.
func protect(own, peer end) error {
	key := []byte("linerate bench only!") // 16 bytes of key and 4 of salt
	for _, way := range []struct {
		from, to end
		dir      netlink.Dir
	}{{own, peer, netlink.XFRM_DIR_OUT}, {peer, own, netlink.XFRM_DIR_IN}, {peer, own, netlink.XFRM_DIR_FWD}} {
		src, dst := net.IP(way.from.IPv4.Addr().AsSlice()), net.IP(way.to.IPv4.Addr().AsSlice())
		spi := int(0x100 + uint(src[3]))
		if way.dir != netlink.XFRM_DIR_FWD {
			state := &netlink.XfrmState{Src: src, Dst: dst, Proto: netlink.XFRM_PROTO_ESP, Mode: netlink.XFRM_MODE_TUNNEL, Spi: spi, Reqid: 1,
				Aead: &netlink.XfrmStateAlgo{Name: "rfc4106(gcm(aes))", Key: key, ICVLen: 128}}
			if err := netlink.XfrmStateAdd(state); err != nil {
				return fmt.Errorf("add an ESP state: %w", err)
			}
		}
		to, from := ipNet(sinkPort.IPv4.Masked()), ipNet(genPort.IPv4.Masked())
		if (own.Device == "previous") == (way.dir == netlink.XFRM_DIR_OUT) { // the way back
			to, from = from, to
		}
		policy := &netlink.XfrmPolicy{Src: from, Dst: to, Dir: way.dir, Tmpls: []netlink.XfrmPolicyTmpl{
			{Src: src, Dst: dst, Proto: netlink.XFRM_PROTO_ESP, Mode: netlink.XFRM_MODE_TUNNEL, Reqid: 1}}}
		if err := netlink.XfrmPolicyAdd(policy); err != nil {
			return fmt.Errorf("add an IPsec policy: %w", err)
		}
	}
	return nil
}

// pair gives a WireGuard device its key and its peer with wg(8): the keys are
// fixed, since they protect nothing.
func pair(own, peer end) error {
	wg, err := exec.LookPath("wg")
	if err != nil {
		return errNoWG
	}
	key := func(e end) (*ecdh.PrivateKey, error) {
		return ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{e.MAC[5]}, 32))
	}
	private, err := key(own)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	public, err := key(peer)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	text := base64.StdEncoding.EncodeToString
	cmd := exec.Command(wg, "set", "over", "private-key", "/dev/stdin", "listen-port", "51820",
		"peer", text(public.PublicKey().Bytes()), "allowed-ips", "0.0.0.0/0,::/0", "endpoint", peer.IPv4.Addr().String()+":51820")
	cmd.Stdin = strings.NewReader(text(private.Bytes()) + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("wg set: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// introduceIngress adds neighbour entries for the generator, and enables GRO at
// the ingress: without NAPI there, frames redirected into the wire are lost.
func introduceIngress() error {
	if err := neighbour(ingress, genPort, true); err != nil {
		return err
	}
	return takeRedirected(ingress)
}

// takeRedirected enables what lets redirected frames into a device.
func takeRedirected(e end) error {
	if err := knob.SetOffload(e.Device, knob.GRO, true); err != nil {
		return fmt.Errorf("turn on NAPI at the DUT's %s: %w", e.Device, err)
	}
	return nil
}

// open lets frames into a DUT's egress too, if traffic goes both ways.
func (b *Bed) open(dut *routers) error {
	if dut.bothWays = b.bothWays; !b.bothWays {
		return nil
	}
	return dut.last().do(func() error { return takeRedirected(egress) })
}
