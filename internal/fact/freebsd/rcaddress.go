package freebsd

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
)

// rcAddress is an address of an interface in rc.conf, or of its peer, with its network.
type rcAddress struct {
	netip.Prefix
	line fact.Line
	port string // "" of a peer
}

var (
	// addressed matches an address of ifconfig(8), that of a peer, and the mask or length.
	addressed = regexp.MustCompile(`(?:^| )inet6? (?:(?:vhid|advskew|advbase|pass|peer6?) \S+ |alias |up )*([0-9a-fA-F:$]\S*)(?: ([0-9][0-9.]+))?(?: (?:netmask|prefixlen) (\S+))?`)
	ofPort    = regexp.MustCompile(`^(?:ifconfig|ipv4_addrs)_(\w+?)(?:_ipv6|_alias[0-9]+|_aliases)?$`)
	// elsewhere matches lines of which hosts have addresses that rc.conf does not name.
	elsewhere = regexp.MustCompile(`^(?:(?:ipv6_)?route_\w+=.*-i(?:nter)?face |ifconfig_\w+=(?:.*[ ])?(?:(?i:dhcp|syncdhcp|accept_rtadv|slaac|\S*redacted\S*)(?: |$)|inet$)|(?:wireguard_interfaces|openvpn_configfile)=.|(?:\w*openvpn\w*|ppp|mpd5?|zerotier|tailscaled|strongswan|frr|bird|quagga|cloudinit|nuageinit)_enable=(?i:yes))`)
	noGate    = regexp.MustCompile(`(?:^| )-(?:iface|interface|blackhole|reject|gateway)\b`)
	argument  = regexp.MustCompile(`(?:^| )-(?:netmask|prefixlen|fib|mtu|ifp|ifa|weight) \S+|(?:^| )-\S+`)
)

// addressSlips finds addresses, routers and routes of rc.conf that contradict each other.
func addressSlips(lines []fact.Line) (all []fact.Problem) {
	set, open := rcAddresses(lines)
	names := map[string]bool{}
	for _, l := range lines {
		names[l.Name] = names[l.Name] || l.Effective
	}
	add := func(l fact.Line, slip string) {
		all = append(all, fact.Problem{File: l.File, Line: l.Number, Kind: fact.ProblemSlip, Message: slip})
	}
	for i, a := range set {
		if a.port != "" && a.Addr().Is4() && a.Bits() < 31 && a.Bits() > 7 && (a.Addr() == a.Masked().Addr() || a.Addr() == last(a.Prefix)) {
			add(a.line, "rc-network-address")
		}
		if at := slices.IndexFunc(set[:i], a.collides); at >= 0 {
			add(a.line, map[bool]string{true: "rc-address-twice", false: "rc-same-network"}[set[at].Addr() == a.Addr()])
		}
	}
	for _, l := range lines {
		words, what := []string{"", l.Value}, "router"
		switch {
		case !l.Effective || l.Default:
			continue
		case strings.HasPrefix(l.Name, "ifconfig_") && strings.HasSuffix(l.Name, "_name"):
			if old := strings.TrimSuffix(l.Name, "_name"); names[old] && !names["ifconfig_"+l.Value] {
				add(l, "rc-renamed")
			}
			continue
		case l.Name == "rtadvd_interfaces" && !open[true]:
			for _, w := range strings.Fields(l.Value) {
				if port := strings.ReplaceAll(w, ".", "_"); !slices.ContainsFunc(set, func(n rcAddress) bool { return n.port == port && n.Addr().Is6() }) {
					add(l, "rc-rtadvd")
					break
				}
			}
			continue
		case strings.HasPrefix(l.Name, "route_"), strings.HasPrefix(l.Name, "ipv6_route_"):
			what, words = "route", append(strings.Fields(argument.ReplaceAllString(l.Value, "")), "")
		case l.Name != "defaultrouter" && l.Name != "ipv6_defaultrouter":
			continue
		}
		gate, err := netip.ParseAddr(words[min(1, len(words)-1)])
		_, wide := netip.ParsePrefix(l.Value)
		switch {
		case wide == nil && what == "router":
			add(l, "rc-router-length")
		case err != nil || noGate.MatchString(l.Value):
		case slices.ContainsFunc(set, func(n rcAddress) bool { return n.Addr() == gate && n.port != "" }):
			add(l, "rc-"+what+"-self")
		case !open[gate.Is6()] && !gate.IsLinkLocalUnicast() && !slices.ContainsFunc(set, func(n rcAddress) bool { return n.Contains(gate) }):
			add(l, "rc-"+what+"-far")
		}
	}
	return all
}

// collides reports an address that is the other one, or in its network at another interface.
func (a rcAddress) collides(b rcAddress) bool {
	if strings.Contains(a.line.Value+b.line.Value, "fib ") || a.port == "" || b.port == "" || a.Addr().IsLinkLocalUnicast() || strings.HasPrefix(a.port, "lo") || strings.HasPrefix(b.port, "lo") {
		return false
	}
	return a.Addr() == b.Addr() && a.line.Name != b.line.Name || a.Masked() == b.Masked() && a.port != b.port && a.Bits() < a.Addr().BitLen()-1
}

// rcAddresses returns the addresses of rc.conf, and whether a host may have others, by family (IPv6: true).
func rcAddresses(lines []fact.Line) (all []rcAddress, open map[bool]bool) {
	more, open := false, map[bool]bool{false: true, true: true}
	for _, l := range lines {
		of, value := ofPort.FindStringSubmatch(l.Name), strings.Join(strings.Fields(l.Value), " ")
		if !l.Effective || l.Default {
			continue
		}
		more = more || elsewhere.MatchString(l.Name+"="+value)
		if strings.HasPrefix(l.Name, "ipv4_addrs_") {
			value = "inet " + strings.ReplaceAll(value, " ", " inet ")
		}
		for _, m := range addressed.FindAllStringSubmatch(value, -1) {
			p, err := netip.ParsePrefix(m[1] + lengthOf(m[1], m[3]))
			if of == nil || err != nil {
				more = true
				continue
			}
			open[p.Addr().Is6()] = false
			all = append(all, rcAddress{p, l, of[1]})
			if peer, err := netip.ParseAddr(m[2]); err == nil {
				all = append(all, rcAddress{Prefix: netip.PrefixFrom(peer, 32), line: l})
			}
		}
	}
	return all, map[bool]bool{false: more || open[false], true: more || open[true]}
}

// lengthOf returns the length of an address's network, as a suffix.
func lengthOf(address, mask string) string {
	number, err := strconv.ParseUint(mask, 0, 32)
	if dotted, _ := netip.ParseAddr(mask); dotted.Is4() {
		number, err = uint64(binary.BigEndian.Uint32(dotted.AsSlice())), nil
	}
	switch {
	case strings.Contains(address, "/"):
		return ""
	case err == nil && number > 128:
		return "/" + strconv.Itoa(bits.OnesCount64(number))
	case err == nil:
		return "/" + mask
	case strings.Contains(address, ":"):
		return "/64"
	}
	return "/unknown"
}

// last returns the last address of an IPv4 network.
func last(p netip.Prefix) netip.Addr {
	n := binary.BigEndian.Uint32(p.Masked().Addr().AsSlice()) | uint32(1<<(32-p.Bits())-1)
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, n)))
}
