package jailbed

import (
	"fmt"
	"net/netip"
	"strconv"

	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// path is what a setting says of the way through a DUT: how many more routers,
// and what lies over the wires between them.
type path struct {
	hops int
	over string // "": plain wires
}

const hopsMost = 16

// overlay is a kind of interface that lies over a wire between two routers.
type overlay struct {
	module string // of the kernel
	// wired: it has neighbours of its own, and an Ethernet address.
	wired bool
	// create is the argument of ifconfig(8), given the wire's device and ends.
	create func(device string, own, peer netip.Addr) []string
}

func tunnel(kind string) func(string, netip.Addr, netip.Addr) []string {
	return func(_ string, own, peer netip.Addr) []string {
		return []string{kind, "create", "tunnel", own.String(), peer.String()}
	}
}

// overlays are what FreeBSD can lay over a wire with ifconfig(8) alone.
var overlays = map[string]overlay{
	"vlan": {"if_vlan", true, func(device string, _, _ netip.Addr) []string {
		return []string{"vlan", "create", "vlan", "100", "vlandev", device}
	}},
	"ipip": {"if_gif", false, tunnel("gif")},
	"gre":  {"if_gre", false, tunnel("gre")},
}

// pathOf takes the path out of a DUT's settings. One that this kernel cannot
// make is a *testbed.ErrUnavailable, and the path a plain one.
func pathOf(settings []setting.Setting, loaded func(module string) bool) (p path, rest []setting.Setting, err error) {
	for _, s := range settings {
		if s.Mechanism != setting.Hops {
			rest = append(rest, s)
			continue
		}
		n, err := strconv.Atoi(s.Value)
		if err != nil || n < 1 || n > hopsMost {
			return path{}, nil, fmt.Errorf("%q is no number of hops", s.Value)
		}
		if why := lacking(s.Name, loaded); why != "" {
			return path{}, nil, &testbed.ErrUnavailable{Setting: s.String(), Reason: why}
		}
		p = path{hops: n, over: s.Name}
	}
	return p, rest, nil
}

// lacking is why nothing of a kind can lie over wires here; "": it can.
func lacking(kind string, loaded func(module string) bool) string {
	if kind == "" {
		return ""
	}
	o, known := overlays[kind]
	switch {
	case kind == "vxlan":
		return "FreeBSD makes no vxlan(4) in a jail"
	case !known:
		return "routers in jails can be joined by plain wires, vlan, gre and ipip (gif), not by " + kind + " so far"
	case !loaded(o.module):
		return "this kernel has no " + o.module + ": kldload " + o.module
	}
	return ""
}

// lay makes what lies over a wire in one jail and gives it addresses of its
// own. It returns the addresses by which the other side is then reached.
func (o overlay) lay(own, peer end) (commands [][]string, beyondPeer end) {
	device := "over" + own.device
	create := append([]string{"/sbin/ifconfig"}, o.create(own.device, own.v4.Addr(), peer.v4.Addr())...)
	commands = append(commands, []string{"/sbin/ifconfig", own.device, "mtu", strconv.Itoa(wireMTU)},
		append(create, "mtu", "1500", "name", device))
	over, far := beyond(own), beyond(peer)
	over.device, far.device = device, peer.device
	if o.wired {
		return append(append(commands, over.addressed()...), over.neighbour(far)...), far
	}
	return append(commands,
		[]string{"/sbin/ifconfig", device, "inet", over.v4.Addr().String(), far.v4.Addr().String(), "up"},
		[]string{"/sbin/ifconfig", device, "inet6", over.v6.Addr().String(), far.v6.Addr().String(), "prefixlen", "128", "no_dad"}), far
}

// wireMTU leaves room for headers around a packet of 1500 bytes.
const wireMTU = 2000

// beyond is an end's address on what lies over its wire: one that the wire does
// not reach.
func beyond(e end) end {
	v4, v6 := e.v4.Addr().As4(), e.v6.Addr().As16()
	v4[2], v6[6] = v4[2]-1, v6[6]-1
	e.v4, e.v6 = netip.PrefixFrom(netip.AddrFrom4(v4), e.v4.Bits()), netip.PrefixFrom(netip.AddrFrom16(v6), e.v6.Bits())
	return e
}

// across is what one router needs to reach the network that is beyond the next.
func across(own, peer, far end, over string) [][]string {
	commands := append(own.addressed(), own.neighbour(peer)...)
	if o, ok := overlays[over]; ok {
		var laid [][]string
		laid, peer = o.lay(own, peer)
		commands = append(commands, laid...)
	}
	return append(commands, routeAdd(far.v4.Masked(), peer.v4.Addr()), routeAdd(far.v6.Masked(), peer.v6.Addr()))
}
