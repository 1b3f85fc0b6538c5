package network

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
)

// Problems returns what cannot work together, by the names of cases of LR-SLIP.
func (h *Host) Problems() []fact.Problem {
	type vlan struct {
		parent string
		id     int
	}
	vlans, taken := map[vlan]string{}, places{map[netip.Addr]string{}, map[netip.Prefix]string{}}
	for _, i := range h.Interfaces {
		h.ports(i)
		h.sizes(i)
		h.tunnel(i)
		for _, a := range i.Addresses {
			h.address(i, a, taken)
		}
		if v := (vlan{i.Parent, i.ID}); i.Kind == VLAN && i.ID > 0 && i.Parent != "" {
			if other, is := vlans[v]; is {
				h.Problem(i.Place, "net-vlan-twice", other)
			}
			vlans[v] = i.Name
		}
	}
	for _, m := range h.Mentioned {
		if o := h.find(m.Name); m.Strict && m.Name != redact.Mark && (o == nil || !o.Declared) {
			h.Problem(m.Place, "net-undefined", m.Name)
		}
	}
	for n, r := range h.Routes[:min(len(h.Routes), 1000)] { // each is compared with those before it
		h.route(n, r)
	}
	h.tables()
	return h.problems
}

// places are the interfaces that have an address, and those with an address in a network.
type places struct {
	of map[netip.Addr]string
	in map[netip.Prefix]string
}

// address compares an address with those before it.
func (h *Host) address(i *Interface, a Address, taken places) {
	if first, last := a.Masked().Addr(), Last(a.Prefix); a.Addr().Is4() && a.Bits() < 31 && a.Bits() > 7 && !a.Addr().IsUnspecified() && (a.Addr() == first || a.Addr() == last) && !i.isLoopback() {
		h.Problem(a.Place, "net-network-address", "")
	}
	if a.Shared || a.Addr().IsLinkLocalUnicast() || i.isLoopback() || h.find(i.Master).is(VRF) || !h.Once && a.Bits() >= a.Addr().BitLen()-1 || slices.ContainsFunc(h.Routes, func(r Route) bool { return r.Dev == i.Name && !r.Via.IsValid() && r.To.IsSingleIP() }) {
		return
	}
	other, is := taken.of[a.Addr()]
	if neighbour, near := taken.in[a.Masked()]; is && (h.Once || other != i.Name) {
		h.Problem(a.Place, "net-address-twice", other)
	} else if near && neighbour != i.Name && len(h.Rules) == 0 && !h.Elsewhere && a.Bits() < a.Addr().BitLen()-1 {
		h.Problem(a.Place, "net-same-network", neighbour)
	}
	taken.of[a.Addr()], taken.in[a.Masked()] = i.Name, i.Name
}

func (i *Interface) is(kind string) bool { return i != nil && i.Kind == kind }

func (i *Interface) isLoopback() bool {
	return strings.HasPrefix(i.Name, "lo") || strings.HasPrefix(i.Name, "dummy") || i.Kind == "dummy"
}

// ports compares a bond, bridge or their port with what else is said of it.
func (h *Host) ports(i *Interface) {
	if len(i.Masters) > 1 {
		h.Problem(i.Masters[1].Place, "net-port-twice", i.Masters[0].Name)
	}
	master := h.find(i.Master)
	if master.is(Bond) || master.is(Bridge) {
		switch {
		case len(i.Addresses) > 0:
			h.Problem(i.Addresses[0].Place, "member-address", "")
		case i.DHCP.File != "":
			h.Problem(i.DHCP.Place, "member-address", "")
		case i.MTU > 0 && master.Kind == Bond && master.MTU == 0 && i.MTU > 1500:
			h.Problem(i.MTUPlace, "net-bond-mtu", master.Name)
		}
	}
	h.problems = append(h.problems, fact.Needs(i.Kind, h.said(i))...)
	if i.Kind == Bond {
		h.bond(i)
	}
}

// said returns an interface's options as rows of needs.txt see them.
func (h *Host) said(i *Interface) (all []fact.Said) {
	for _, name := range slices.Sorted(maps.Keys(i.Bond)) {
		o := i.Bond[name]
		if name == "mode" {
			o.Value = cmp.Or(modes[o.Value], o.Value)
		}
		all = append(all, fact.Said{File: o.File, Line: o.Line, Text: name + "=" + strings.ToLower(o.Value)})
	}
	if h.Watched {
		all = append(all, fact.Said{Text: "watched=yes"})
	}
	return all
}

// modes are the numbers of bonding modes.
var modes = map[string]string{"0": "balance-rr", "1": "active-backup", "2": "balance-xor", "3": "broadcast", "4": "802.3ad", "5": "balance-tlb", "6": "balance-alb"}

// bond compares a bond's options with each other and with its ports.
func (h *Host) bond(i *Interface) {
	primary := i.Bond["primary"]
	owns := func(port string) bool {
		return slices.ContainsFunc(h.Interfaces, func(o *Interface) bool { return o.Master == i.Name && (port == "" || o.Name == port) })
	}
	if primary.Value != "" && primary.Value != "none" && owns("") && !owns(primary.Value) {
		h.Problem(primary.Place, "net-bond-primary", primary.Value)
	}
	for _, name := range []string{"updelay", "downdelay"} {
		if every, delay := millis(i.Bond["miimon"].Value), millis(i.Bond[name].Value); every > 0 && delay%every != 0 {
			h.Problem(i.Bond[name].Place, "net-bond-delay", name)
			break
		}
	}
}

// millis returns an interval in milliseconds, which is the unit of a number; 0 if it is not known.
func millis(text string) int {
	if d, err := time.ParseDuration(text); err == nil {
		return int(d.Milliseconds())
	}
	return fact.Int(text)
}

// sizes compares the MTU of a bridge with those of its ports, and a VLAN's name with its number.
func (h *Host) sizes(i *Interface) {
	if _, id, dotted := strings.Cut(i.Name, "."); i.Kind == VLAN && dotted && i.ID > 0 && strings.Trim(id, "0123456789") == "" && strings.TrimLeft(id, "0") != strconv.Itoa(i.ID) {
		h.Problem(i.Place, "net-vlan-name", strconv.Itoa(i.ID))
	}
	const longest = 15 // IFNAMSIZ − 1
	if len(i.Name) > longest && i.Declared && i.Kind != "" && i.Name[0] != '@' {
		h.Problem(i.Place, "net-name-long", i.Name)
	}
	if i.MTU == 0 {
		return
	}
	if i.Largest > 0 && i.MTU > i.Largest {
		h.Problem(i.MTUPlace, "net-driver-mtu", strconv.Itoa(i.Largest))
	}
	if i.MTU < 1280 && slices.ContainsFunc(i.Addresses, func(a Address) bool { return a.Addr().Is6() }) {
		h.Problem(i.MTUPlace, "net-mtu-ipv6", "")
	}
	for _, o := range h.Interfaces {
		switch { // the second case is about an MTU that is not known
		case i.Kind == Bond && o.Master == i.Name && o.Largest > 0 && i.MTU > o.Largest:
			h.Problem(i.MTUPlace, "net-driver-mtu", strconv.Itoa(o.Largest))
			return
		case h.Elsewhere && o.MTU == 0 || i.MTU <= cmp.Or(o.MTU, 1500) || !o.Declared || o.MTU == 0 && o.Kind != "" && o.Kind != Bond:
		case i.Kind == Bridge && o.Master == i.Name:
			h.Problem(i.MTUPlace, "net-bridge-mtu", o.Name)
			return
		case i.Kind == VLAN && o.Name == i.Parent:
			h.Problem(i.MTUPlace, "net-vlan-mtu", o.Name)
		}
	}
}

// tunnel compares the ends of a tunnel and its MTU with the host's.
func (h *Host) tunnel(i *Interface) {
	if i.Kind != Tunnel {
		return
	}
	widest, local := 1500, false
	for _, o := range h.Interfaces {
		if o.Kind != Tunnel {
			widest = max(widest, o.MTU)
		}
		local = local || slices.ContainsFunc(o.Addresses, func(a Address) bool { return a.Addr() == i.Local })
	}
	if i.MTU > 0 && i.Overhead > 0 && i.MTU > widest-i.Overhead && i.MTU < 1600 && !h.Elsewhere {
		h.Problem(i.MTUPlace, "tunnel-mtu", "")
	}
	if i.Local.IsValid() && !i.Local.IsUnspecified() && !local && !h.open(i.Local) {
		h.Problem(i.LocalPlace, "net-tunnel-local", i.Local.String())
	}
}

// open reports whether the host may have addresses of a family that no file tells.
func (h *Host) open(a netip.Addr) bool {
	return h.Open[a.Is6()] || slices.ContainsFunc(h.Interfaces, func(i *Interface) bool { return i.Dynamic })
}

// route compares a route with the addresses, and a default route with those before it.
func (h *Host) route(n int, r Route) {
	of := map[bool]string{true: "router", false: "route"}[r.Default()]
	reached, known := false, false
	for _, i := range h.Interfaces {
		for _, a := range i.Addresses {
			if a.Addr() == r.Via && !a.Shared && (r.Default() || !r.Via.IsLoopback()) { // a route to loopback discards
				h.Problem(r.Place, "net-"+of+"-self", "")
				return
			}
			known = known || a.Addr().Is6() == r.Via.Is6()
			reached = reached || a.Contains(r.Via)
		}
	}
	reached = reached || slices.ContainsFunc(h.Routes, func(o Route) bool {
		return o.To.IsValid() && !o.Default() && o.To.Contains(r.Via) && (!o.Via.IsValid() || o.Via != r.Via)
	})
	if r.Via.IsValid() && !reached && known && !r.OnLink && !r.Via.IsLinkLocalUnicast() && !r.Via.IsUnspecified() && !h.open(r.Via) {
		h.Problem(r.Place, "net-"+of+"-far", "")
	}
	if !r.Default() || r.Table != "" || r.Dev == "" {
		return
	}
	if slices.ContainsFunc(h.Routes[:n], func(o Route) bool {
		return o.Default() && o.To == r.To && o.Table == "" && o.Metric == r.Metric && o.Dev != r.Dev && o.Dev != ""
	}) && len(h.Rules) == 0 && !h.find(r.Dev).of(VRF, h) {
		h.Problem(r.Place, "two-gateways", "")
	}
}

func (i *Interface) of(kind string, h *Host) bool { return i != nil && h.find(i.Master).is(kind) }

// named are the tables that the kernel looks into without a rule.
var named = []string{"", "main", "local", "default", "253", "254", "255"}

// tables compares the tables of routes with those of rules.
func (h *Host) tables() {
	has := func(all []Route, table string) bool {
		return slices.Contains(named, table) || slices.ContainsFunc(all, func(r Route) bool { return r.Table == table })
	}
	vrf := slices.ContainsFunc(h.Interfaces, func(i *Interface) bool { return i.Kind == VRF })
	for _, r := range h.Routes {
		if !has(h.Rules, r.Table) && !vrf && !h.Elsewhere {
			h.Problem(r.Place, "table-unused", "")
			break
		}
	}
	for _, r := range h.Rules {
		if !has(h.Routes, r.Table) && !vrf && !h.Elsewhere {
			h.Problem(r.Place, "net-rule-empty", r.Table)
			break
		}
	}
}
