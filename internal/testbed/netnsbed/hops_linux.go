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
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"

	"linerate/internal/knob"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// routers are a DUT: one namespace, or several in a row of which the first has
// the ingress and the last the egress. Settings are the first's.
type routers struct {
	first *namespace
	more  []*namespace
	// bothWays: traffic enters at the egress too.
	bothWays bool
}

// last has the egress.
func (r routers) last() *namespace {
	if len(r.more) > 0 {
		return r.more[len(r.more)-1]
	}
	return r.first
}

func (r routers) close() {
	r.first.close()
	for _, n := range r.more {
		n.close()
	}
}

// path is what a setting says of the way through a DUT.
type path struct {
	hops int
	over string
	set  setting.Setting
}

// pathOf takes the path out of a DUT's settings.
func pathOf(settings []setting.Setting) (p path, rest []setting.Setting, err error) {
	for _, s := range settings {
		if s.Mechanism != setting.Hops {
			rest = append(rest, s)
			continue
		}
		n, err := strconv.Atoi(s.Value)
		if err != nil || n < 1 || n > 16 {
			return p, nil, fmt.Errorf("%q is no number of hops", s.Value)
		}
		p = path{n, s.Name, s}
	}
	return p, rest, nil
}

// newRouters builds a DUT between two ends of outer namespaces. What was built
// when it fails is returned with the error.
func newRouters(gen *namespace, genEnd end, sink *namespace, sinkEnd end, p path) (r routers, err error) {
	if r.first, err = newRouter(); err != nil {
		return r, err
	}
	return r, r.build(gen, genEnd, sink, sinkEnd, p)
}

// build wires the routers up from the first, which is there.
func (r *routers) build(gen *namespace, genEnd end, sink *namespace, sinkEnd end, p path) error {
	if err := wire(gen, genEnd, r.first, ingress); err != nil {
		return err
	}
	for i := range p.hops {
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
	ns, err := newNamespace("")
	if err != nil {
		return nil, err
	}
	return ns, ns.do(forward)
}

// hopEnds are the two ends of the i-th wire between routers. Their networks are
// at the end of the generator's, where no workload is.
func hopEnds(i int) (up, down end) {
	at := func(name string, host byte) end {
		return end{device: name, mac: mac(0x20 + 2*byte(i) + host),
			v4: netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, 254, 4*byte(i) + host}), 30),
			v6: netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 0x01, 0, 2, 0, 0, 0xfe, byte(i), 15: host}), 64)}
	}
	return at("next", 1), at("previous", 2)
}

// join wires a router to the next and routes the two outer networks over it.
func join(before, next *namespace, i int, p path) error {
	up, down := hopEnds(i)
	if err := wire(before, up, next, down); err != nil {
		return err
	}
	if err := before.do(func() error { return reach(up, down, sinkPort, p) }); err != nil {
		return err
	}
	return next.do(func() error { return reach(down, up, genPort, p) })
}

// reach routes a far network to the peer, over what the path says.
func reach(own, peer, far end, p path) error {
	link, err := netlink.LinkByName(own.device)
	if err != nil {
		return fmt.Errorf("find %s: %w", own.device, err)
	}
	if p.over != "" {
		// Headers around a packet must not make it too long.
		if err := netlink.LinkSetMTU(link, 2000); err != nil {
			return fmt.Errorf("set the MTU of %s: %w", own.device, err)
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
		peer = beyond(peer)
		if err := greet(via, peer); err != nil {
			return err
		}
	}
	return routeTo(via, peer, far)
}

// beyond is an end's address on what lies over its link: one that the link does
// not reach.
func beyond(e end) end {
	v4, v6 := e.v4.Addr().As4(), e.v6.Addr().As16()
	v4[2], v6[6] = v4[2]-1, v6[6]-1
	e.v4, e.v6 = netip.PrefixFrom(netip.AddrFrom4(v4), e.v4.Bits()), netip.PrefixFrom(netip.AddrFrom16(v6), e.v6.Bits())
	return e
}

// greet writes down who is at the other end of a link.
func greet(link netlink.Link, peer end) error {
	for _, p := range []netip.Prefix{peer.v4, peer.v6} {
		if p.Addr().Is6() && !haveIPv6() {
			continue
		}
		n := &netlink.Neigh{LinkIndex: link.Attrs().Index, State: netlink.NUD_PERMANENT, IP: net.IP(p.Addr().AsSlice()), HardwareAddr: peer.mac}
		if err := netlink.NeighSet(n); err != nil {
			return fmt.Errorf("make %s a neighbour of %s: %w", p.Addr(), link.Attrs().Name, err)
		}
	}
	return nil
}

// routeTo leads a far network over a link: by the peer's address where the link
// has neighbours.
func routeTo(via netlink.Link, peer, far end) error {
	pointToPoint := via.Attrs().HardwareAddr == nil || via.Type() == "gre" || via.Type() == "ipip"
	for _, hop := range []struct{ to, gw netip.Prefix }{{far.v4, peer.v4}, {far.v6, peer.v6}} {
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

// overlay lays what the path says over a link and returns the device to route
// over. A kernel that lacks it makes the path unavailable.
func overlay(link netlink.Link, own, peer end, p path) (netlink.Link, error) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU = "over", 1500
	local, remote := net.IP(own.v4.Addr().AsSlice()), net.IP(peer.v4.Addr().AsSlice())
	var made netlink.Link
	switch p.over {
	case "":
		return link, nil
	case "vlan":
		attrs.ParentIndex, attrs.HardwareAddr = link.Attrs().Index, own.mac
		made = &netlink.Vlan{LinkAttrs: attrs, VlanId: 100}
	case "vxlan":
		attrs.HardwareAddr = own.mac
		made = &netlink.Vxlan{LinkAttrs: attrs, VxlanId: 100, SrcAddr: local, Group: remote, Port: 4789, VtepDevIndex: link.Attrs().Index}
	case "gre":
		made = &netlink.Gretun{LinkAttrs: attrs, Local: local, Remote: remote}
	case "ipip":
		made = &netlink.Iptun{LinkAttrs: attrs, Local: local, Remote: remote}
	case "wireguard":
		made = &netlink.Wireguard{LinkAttrs: attrs}
	case "ipsec":
		return link, p.lacks(protect(own, peer))
	default:
		return nil, fmt.Errorf("unknown link %q", p.over)
	}
	if err := netlink.LinkAdd(made); err != nil {
		return nil, p.lacks(err)
	}
	if p.over == "wireguard" {
		if err := p.lacks(pair(own, peer)); err != nil {
			return nil, err
		}
	}
	if err := netlink.LinkSetUp(made); err != nil {
		return nil, fmt.Errorf("bring %s up: %w", p.over, err)
	}
	return netlink.LinkByName("over")
}

// lacks says that the kernel cannot do the path.
func (p path) lacks(err error) error {
	var un *testbed.ErrUnavailable
	if err == nil || errors.As(err, &un) {
		return err
	}
	un = &testbed.ErrUnavailable{Setting: p.set.String(), Reason: fmt.Sprintf("the kernel has no %s here: %v", p.over, err), Help: overNeeds[p.over]}
	if errors.Is(err, errNoWG) {
		un.Reason, un.Help = err.Error(), "install wireguard-tools"
	}
	return un
}

// overNeeds says what a kernel needs for each kind of link.
var overNeeds = map[string]string{
	"vlan":      testbed.Needs("8021q", "CONFIG_VLAN_8021Q"),
	"vxlan":     testbed.Needs("vxlan", "CONFIG_VXLAN"),
	"ipip":      testbed.Needs("ipip", "CONFIG_NET_IPIP"),
	"gre":       testbed.Needs("ip_gre", "CONFIG_NET_IPGRE"),
	"wireguard": testbed.Needs("wireguard", "CONFIG_WIREGUARD"),
	"ipsec":     testbed.Needs("esp4", "CONFIG_INET_ESP and CONFIG_XFRM_USER"),
}

var errNoWG = errors.New("wg(8) is not installed")

// protect sets up ESP in tunnel mode (RFC 4303, AES-GCM of RFC 4106) for what
// leaves by this end for the receiver's network and what comes from it.
func protect(own, peer end) error {
	key := []byte("linerate bench only!") // 16 bytes and a salt of 4
	for _, way := range []struct {
		from, to end
		dir      netlink.Dir
	}{{own, peer, netlink.XFRM_DIR_OUT}, {peer, own, netlink.XFRM_DIR_IN}, {peer, own, netlink.XFRM_DIR_FWD}} {
		src, dst := net.IP(way.from.v4.Addr().AsSlice()), net.IP(way.to.v4.Addr().AsSlice())
		spi := int(0x100 + uint(src[3]))
		if way.dir != netlink.XFRM_DIR_FWD {
			state := &netlink.XfrmState{Src: src, Dst: dst, Proto: netlink.XFRM_PROTO_ESP, Mode: netlink.XFRM_MODE_TUNNEL, Spi: spi, Reqid: 1,
				Aead: &netlink.XfrmStateAlgo{Name: "rfc4106(gcm(aes))", Key: key, ICVLen: 128}}
			if err := netlink.XfrmStateAdd(state); err != nil {
				return fmt.Errorf("add an ESP state: %w", err)
			}
		}
		to, from := ipNet(sinkPort.v4.Masked()), ipNet(genPort.v4.Masked())
		if (own.device == "previous") == (way.dir == netlink.XFRM_DIR_OUT) { // on the way back
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

// pair gives a WireGuard device its key and its peer by wg(8): fixed keys, for
// they protect nothing.
func pair(own, peer end) error {
	wg, err := exec.LookPath("wg")
	if err != nil {
		return errNoWG
	}
	key := func(e end) (*ecdh.PrivateKey, error) {
		return ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{e.mac[5]}, 32))
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
		"peer", text(public.PublicKey().Bytes()), "allowed-ips", "0.0.0.0/0,::/0", "endpoint", peer.v4.Addr().String()+":51820")
	cmd.Stdin = strings.NewReader(text(private.Bytes()) + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("wg set: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// introduceIngress writes down the generator, and turns on GRO at the ingress:
// without NAPI there, frames redirected into the wire vanish.
func introduceIngress() error {
	if err := neighbour(ingress, genPort, true); err != nil {
		return err
	}
	return takeRedirected(ingress)
}

// takeRedirected turns on what lets redirected frames into a device.
func takeRedirected(e end) error {
	if err := knob.SetOffload(e.device, knob.GRO, true); err != nil {
		return fmt.Errorf("turn on NAPI at the DUT's %s: %w", e.device, err)
	}
	return nil
}

// open lets frames into a DUT's egress too, where traffic goes both ways.
func (b *Bed) open(dut *routers) error {
	if dut.bothWays = b.bothWays; !b.bothWays {
		return nil
	}
	return dut.last().do(func() error { return takeRedirected(egress) })
}
