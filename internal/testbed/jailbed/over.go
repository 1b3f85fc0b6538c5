package jailbed

import (
	"net/netip"
	"strconv"

	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// overlay is a kind of interface on top of a wire between two routers.
type overlay struct {
	module string // kernel module
	// wired is set if it has neighbours and an Ethernet address.
	wired bool
	// create returns the arguments for ifconfig(8), given the wire's device and ends.
	create func(device string, own, peer netip.Addr) []string
}

func tunnel(kind string) func(string, netip.Addr, netip.Addr) []string {
	return func(_ string, own, peer netip.Addr) []string {
		return []string{kind, "create", "tunnel", own.String(), peer.String()}
	}
}

// overlays are the overlays that FreeBSD supports with ifconfig(8) alone.
var overlays = map[string]overlay{
	"vlan": {"if_vlan", true, func(device string, _, _ netip.Addr) []string {
		return []string{"vlan", "create", "vlan", "100", "vlandev", device}
	}},
	"ipip": {"if_gif", false, tunnel("gif")},
	"gre":  {"if_gre", false, tunnel("gre")},
}

// pathOf extracts the path from a DUT's settings. If this kernel does not support
// it, the error is a *testbed.ErrUnavailable, and the path a plain one.
func pathOf(settings []setting.Setting, loaded func(module string) bool) (testbed.HopPath, []setting.Setting, error) {
	p, rest, err := testbed.PathOf(settings)
	if why := lacking(p.Over, loaded); why != "" {
		return testbed.HopPath{}, nil, &testbed.ErrUnavailable{Setting: p.Setting.String(), Reason: why}
	}
	return p, rest, err
}

// lacking returns why a kind of overlay is unavailable here; "" if it is available.
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

// lay creates the overlay device on a wire in one jail and gives it addresses. It returns
// the addresses by which the other side is then reached.
func (o overlay) lay(own, peer end) (commands [][]string, beyondPeer end) {
	device := "over" + own.Device
	create := append([]string{"/sbin/ifconfig"}, o.create(own.Device, own.IPv4.Addr(), peer.IPv4.Addr())...)
	commands = append(commands, []string{"/sbin/ifconfig", own.Device, "mtu", strconv.Itoa(wireMTU)},
		append(create, "mtu", "1500", "name", device))
	over, far := own.Beyond(), peer.Beyond()
	over.Device, far.Device = device, peer.Device
	if o.wired {
		return append(append(commands, addressed(over)...), neighbour(far)...), far
	}
	return append(commands,
		[]string{"/sbin/ifconfig", device, "inet", over.IPv4.Addr().String(), far.IPv4.Addr().String(), "up"},
		[]string{"/sbin/ifconfig", device, "inet6", over.IPv6.Addr().String(), far.IPv6.Addr().String(), "prefixlen", "128", "no_dad"}), far
}

// wireMTU leaves room for headers around a 1500-byte packet.
const wireMTU = 2000

// across returns the commands that a router needs to reach the network beyond the next one.
func across(own, peer, far end, over string) [][]string {
	commands := append(addressed(own), neighbour(peer)...)
	if o, ok := overlays[over]; ok {
		var laid [][]string
		laid, peer = o.lay(own, peer)
		commands = append(commands, laid...)
	}
	return append(commands, routeAdd(far.IPv4.Masked(), peer.IPv4.Addr()), routeAdd(far.IPv6.Masked(), peer.IPv6.Addr()))
}
