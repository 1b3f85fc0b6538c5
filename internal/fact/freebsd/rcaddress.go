package freebsd

import (
	"cmp"
	"net/netip"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/network"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

var (
	// addressed matches an address of ifconfig(8), that of a peer, and the mask or length.
	addressed = lazy.Regexp(`(?:^| )inet6? (?:(?:vhid|advskew|advbase|pass|peer6?) \S+ |alias |up )*([0-9a-fA-F:$]\S*)(?: ([0-9][0-9.]+))?(?: (?:netmask|prefixlen) (\S+))?`)
	ofPort    = lazy.Regexp(`^(?:ifconfig|ipv4_addrs)_(\w+?)(?:_ipv6|_alias[0-9]+|_aliases)?$`)
	// elsewhere matches lines of which hosts have addresses that rc.conf does not name.
	elsewhere = lazy.Regexp(`^(?:(?:ipv6_)?route_\w+=.*-i(?:nter)?face |ifconfig_\w+=(?:.*[ ])?(?:(?i:dhcp|syncdhcp|accept_rtadv|slaac|\S*redacted\S*)(?: |$)|inet$)|(?:wireguard_interfaces|openvpn_configfile)=.|(?:\w*openvpn\w*|ppp|mpd5?|zerotier|tailscaled|strongswan|frr|bird|quagga|cloudinit|nuageinit)_enable=(?i:yes))`)
	noGate    = lazy.Regexp(`(?:^| )-(?:iface|interface|blackhole|reject|gateway)\b`)
	argument  = lazy.Regexp(`(?:^| )-(?:netmask|prefixlen|fib|mtu|ifp|ifa|weight) \S+|(?:^| )-\S+`)
)

// addressSlips finds addresses, routers and routes of rc.conf that contradict each other, and returns
// the model of interfaces as well.
func addressSlips(lines []fact.Line, nics []fact.NIC) ([]fact.Problem, *network.Host) {
	h := network.New()
	h.Once = true
	for _, n := range nics {
		rcModel(h, n)
	}
	for _, n := range nics { // its first port gives a lagg its MTU
		if i := h.Interface(rcName(n.Name)); i.MTU == 0 && i.Kind == network.Bond && len(n.Members) > 0 {
			i.MTU = h.Interface(rcName(n.Members[0])).MTU
		}
	}
	for _, l := range lines {
		if l.Effective && !l.Default {
			rcAddresses(h, l)
		}
	}
	for _, l := range lines {
		at, words, router := network.Place{File: l.File, Line: l.Number}, []string{"", l.Value}, true
		switch {
		case !l.Effective || l.Default:
			continue
		case strings.HasPrefix(l.Name, "ifconfig_") && strings.HasSuffix(l.Name, "_name"):
			h.Interface(rcName(l.Value)).Largest = largest(strings.TrimPrefix(strings.TrimSuffix(l.Name, "_name"), "ifconfig_"))
			continue
		case strings.HasPrefix(l.Name, "route_"), strings.HasPrefix(l.Name, "ipv6_route_"):
			words, router = append(strings.Fields(argument().ReplaceAllString(l.Value, "")), ""), false
		case l.Name != "defaultrouter" && l.Name != "ipv6_defaultrouter":
			continue
		}
		gate, err := netip.ParseAddr(words[min(1, len(words)-1)])
		to, other := netip.ParsePrefix(words[0])
		if router {
			to = netip.PrefixFrom(gate, 0).Masked()
		} else if a, no := netip.ParseAddr(words[0]); other != nil && no == nil {
			to, _ = a.Prefix(16) // or what -netmask says
		}
		if noGate().MatchString(l.Value) {
			gate, err = netip.Addr{}, nil
		}
		if err == nil {
			h.Routes = append(h.Routes, network.Route{Place: at, Via: gate, To: to})
		}
	}
	return h.Problems(), h
}

// mtus are the largest MTUs that drivers take.
var mtus = list.Pairs(wordsText, "mtu")

// largest returns the largest MTU of an interface's driver, 0 if it is not known.
func largest(name string) int {
	driver, _ := Driver(name)
	return fact.Int(mtus[driver])
}

// rcName returns an interface's name as a part of a variable's.
func rcName(name string) string { return strings.ReplaceAll(name, ".", "_") }

// rcModel adds an interface that rc.conf creates or configures.
func rcModel(h *network.Host, n fact.NIC) {
	i := h.Interface(rcName(n.Name))
	i.Declared, i.Parent, i.Largest = true, n.Parent, largest(n.Name)
	if len(n.Configured) > 0 {
		i.Place = network.Place{File: n.Configured[0].File, Line: n.Configured[0].Number}
	}
	if n.Kind == fact.KindVLAN {
		i.Kind = network.VLAN
	}
	if n.Kind == fact.KindLAGG {
		i.Kind = network.Bond
		for _, m := range n.Members {
			h.Own(rcName(m), i.Name, i.Place, false)
		}
	}
	if bytes, is := network.Overheads[n.Driver]; is {
		i.Kind, i.Overhead = network.Tunnel, bytes
	}
	for _, l := range n.Configured {
		if m := mtuOf().FindStringSubmatch(l.Value); m != nil {
			i.MTU, i.MTUPlace = fact.Int(m[1]), network.Place{File: l.File, Line: l.Number}
		}
		if m := vlanOf().FindStringSubmatch(l.Value); m != nil && n.Kind == fact.KindVLAN {
			i.Kind, i.ID, i.Parent = network.VLAN, fact.Int(m[1]), cmp.Or(m[2], i.Parent)
			i.Place = network.Place{File: l.File, Line: l.Number}
		}
	}
}

var (
	// vlanOf matches the number of a VLAN and what it stands on.
	vlanOf = lazy.Regexp(`(?:^| )vlan (\d+)(?: vlandev (\S+))?`)
	// bare matches an address without inet, which ifconfig(8) takes too; named what else has addresses.
	bare  = lazy.Regexp(`(?:^| )([0-9]+\.[0-9]+\.[0-9]+\.[0-9]+(?:/[0-9]+)?)(?: |$)`)
	named = lazy.Regexp(`\b(?:inet6?|tunnel|vxlan\w+|syncpeer|broadcast|dhcp|DHCP)\b`)
	// tunnelEnds matches the outer addresses of a tunnel.
	tunnelEnds = lazy.Regexp(`(?:^| )tunnel ([0-9a-fA-F:.]+) [0-9a-fA-F:.]+`)
	mtuOf      = lazy.Regexp(`(?:^| )mtu (\d+)`)
	// groupOf matches a CARP group.
	groupOf = lazy.Regexp(`(?:^| )vhid (\d+)`)
)

// rcAddresses adds the addresses of a line of rc.conf.
func rcAddresses(h *network.Host, l fact.Line) {
	of, value := ofPort().FindStringSubmatch(l.Name), strings.Join(strings.Fields(l.Value), " ")
	if elsewhere().MatchString(l.Name + "=" + value) {
		h.Open[true], h.Open[false] = true, true
	}
	if of != nil && strings.Contains(strings.ToUpper(value), "DHCP") {
		h.Interface(of[1]).Dynamic = true
	}
	if strings.HasPrefix(l.Name, "ipv4_addrs_") {
		value = "inet " + strings.ReplaceAll(value, " ", " inet ")
	}
	if m := bare().FindStringSubmatchIndex(value); m != nil && of != nil && !named().MatchString(value) {
		value = value[:m[2]] + "inet " + value[m[2]:]
	}
	at := network.Place{File: l.File, Line: l.Number}
	if m := tunnelEnds().FindStringSubmatch(value); m != nil && of != nil {
		i := h.Interface(of[1])
		i.Local, _ = netip.ParseAddr(m[1])
		i.Kind, i.LocalPlace = network.Tunnel, at
	}
	for _, m := range addressed().FindAllStringSubmatch(value, -1) {
		if of == nil {
			h.Open[true], h.Open[false] = true, true
			continue
		}
		i, length := h.Interface(of[1]), network.Length(m[1], m[3])
		if m[2] != "" && m[3] == "" && !strings.Contains(m[1], "/") { // point to point
			length = "/32"
		}
		if !h.Address(i, m[1]+length, at) {
			continue
		}
		own := &i.Addresses[len(i.Addresses)-1]
		own.Shared = strings.Contains(value, "fib ")
		if m := groupOf().FindStringSubmatch(value); m != nil {
			own.Group = m[1]
		}
		if peer, err := netip.ParseAddr(m[2]); err == nil {
			i.Addresses = append(i.Addresses, network.Address{Prefix: netip.PrefixFrom(peer, 32), Place: at, Shared: true})
		}
	}
}
