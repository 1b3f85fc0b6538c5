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

// rcAddress is an address of an interface in rc.conf, with its network.
type rcAddress struct {
	netip.Prefix
	line fact.Line
	port string
	peer bool // the other end of a link
}

var (
	// addressed matches an address of ifconfig(8), that of a peer, and the mask or length.
	addressed = regexp.MustCompile(`(?:^| )(inet6?) (?:(?:vhid|advskew|advbase|pass|peer6?) \S+ |alias |up )*([0-9a-fA-F:$]\S*)(?: ([0-9][0-9.]+))?(?: (?:netmask|prefixlen) (\S+))?`)
	ofPort    = regexp.MustCompile(`^(?:ifconfig|ipv4_addrs)_(\w+?)(?:_ipv6|_alias[0-9]+|_aliases)?$`)
	// dynamic matches what gives addresses that rc.conf does not have: by family, or of both.
	dynamic  = regexp.MustCompile(`(?i)\b(?:SYNC)?DHCP\b`)
	adverts  = regexp.MustCompile(`accept_rtadv|slaac`)
	tunnels  = regexp.MustCompile(`^(?:wireguard_interfaces|(?:openvpn|ppp|mpd|mpd5|zerotier|tailscaled|strongswan|frr|bird|quagga|netif|cloudinit|nuageinit)_enable|openvpn_configfile|tun\w*_enable)$`)
	noGate   = regexp.MustCompile(`(?:^| )-(?:iface|interface|blackhole|reject|gateway)\b`)
	argument = regexp.MustCompile(`(?:^| )-(?:netmask|prefixlen|fib|mtu|ifp|ifa|weight) \S+|(?:^| )-\S+`)
	literal  = regexp.MustCompile(`^(?:[0-9]+(?:\.[0-9]+)*|[0-9a-fA-F]*:[0-9a-fA-F:.]*|default)(?:/[0-9]+)?$`)
)

// addressSlips finds addresses, routers and routes of rc.conf that contradict each other.
func addressSlips(lines []fact.Line) (all []fact.Problem) {
	set := rcAddresses(lines)
	add := func(l fact.Line, slip string) {
		all = append(all, fact.Problem{File: l.File, Line: l.Number, Kind: fact.ProblemSlip, Message: slip})
	}
	for i, a := range set.all {
		if a.peer {
			continue
		}
		if a.Addr().Is4() && a.Bits() < 31 && a.Bits() > 7 && (a.Addr() == a.Masked().Addr() || a.Addr() == last(a.Prefix)) {
			add(a.line, "rc-network-address")
		}
		for _, b := range set.all[:i] {
			apart := strings.Contains(a.line.Value+b.line.Value, "fib ") || a.Addr().IsLinkLocalUnicast() || strings.HasPrefix(a.port, "lo") || strings.HasPrefix(b.port, "lo")
			if a.Addr() == b.Addr() && !b.peer && a.line.Name != b.line.Name && !apart {
				add(a.line, "rc-address-twice")
				break
			} else if a.Masked() == b.Masked() && a.port != b.port && a.Bits() < a.Addr().BitLen()-1 && !apart {
				add(a.line, "rc-same-network")
				break
			}
		}
	}
	for _, l := range lines {
		if slip := set.routeSlip(l); l.Effective && slip != "" {
			add(l, slip)
		}
	}
	return all
}

// rcNetworks holds the addresses of rc.conf, and the families that may have others.
type rcNetworks struct {
	all  []rcAddress
	open map[bool]bool
}

func rcAddresses(lines []fact.Line) rcNetworks {
	set := rcNetworks{open: map[bool]bool{false: true, true: true}} // families without an address
	var more [2]bool
	for _, l := range lines {
		of, value := ofPort.FindStringSubmatch(l.Name), strings.Join(strings.Fields(l.Value), " ")
		if !l.Effective || l.Default || of == nil {
			more[0] = more[0] || tunnels.MatchString(l.Name) && l.Effective && !l.Default && !strings.EqualFold(l.Value, "no")
			continue
		}
		if strings.HasPrefix(l.Name, "ipv4_addrs_") {
			value = "inet " + strings.ReplaceAll(value, " ", " inet ")
		}
		for _, m := range addressed.FindAllStringSubmatch(value, -1) {
			p, err := netip.ParsePrefix(m[2] + lengthOf(m[2], m[4]))
			if err != nil {
				more[0] = true
				continue
			}
			set.open[p.Addr().Is6()] = false
			set.all = append(set.all, rcAddress{Prefix: p, line: l, port: of[1]})
			if peer, err := netip.ParseAddr(m[3]); err == nil {
				set.all = append(set.all, rcAddress{Prefix: netip.PrefixFrom(peer, 32), line: l, port: of[1], peer: true})
			}
		}
		more[0], more[1] = more[0] || dynamic.MatchString(value) || strings.Contains(value, hidden) || strings.HasSuffix(value, "inet"), more[1] || adverts.MatchString(value)
	}
	set.open[false], set.open[true] = set.open[false] || more[0], set.open[true] || more[0] || more[1]
	return set
}

// reaches reports whether an address is, or may be, in a network of the host.
func (set rcNetworks) reaches(a netip.Addr) bool {
	return set.open[a.Is6()] || a.IsLinkLocalUnicast() || slices.ContainsFunc(set.all, func(n rcAddress) bool { return n.Contains(a) })
}

// routeSlip returns the mistake in a line about a route, "" if there is none.
func (set rcNetworks) routeSlip(l fact.Line) string {
	prefix, wide := netip.ParsePrefix(l.Value)
	gate, err := netip.ParseAddr(l.Value)
	what := "router"
	switch {
	case l.Name == "defaultrouter" || l.Name == "ipv6_defaultrouter":
		if wide == nil && prefix.IsValid() {
			return "rc-router-length"
		}
	case strings.HasPrefix(l.Name, "route_") || strings.HasPrefix(l.Name, "ipv6_route_"):
		words := strings.Fields(argument.ReplaceAllString(l.Value, ""))
		if what = "route"; noGate.MatchString(l.Value) || len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return !literal.MatchString(w) }) {
			return ""
		} else if len(words) == 1 {
			return "rc-route-gateless"
		}
		gate, err = netip.ParseAddr(words[1])
	default:
		return ""
	}
	switch {
	case err != nil:
		return ""
	case slices.ContainsFunc(set.all, func(n rcAddress) bool { return n.Addr() == gate && !n.peer }):
		return "rc-" + what + "-self"
	case !set.reaches(gate):
		return "rc-" + what + "-far"
	}
	return ""
}

// lengthOf returns the length of an address's network, as a suffix: its mask, or what ifconfig(8) assumes.
func lengthOf(address, mask string) string {
	number, err := strconv.ParseUint(mask, 0, 32)
	dotted, _ := netip.ParseAddr(mask)
	first, _, _ := strings.Cut(address, ".")
	class, _ := strconv.Atoi(first)
	switch {
	case strings.Contains(address, "/"):
		return ""
	case dotted.Is4():
		return "/" + strconv.Itoa(bits.OnesCount32(binary.BigEndian.Uint32(dotted.AsSlice())))
	case err == nil && number > 128:
		return "/" + strconv.Itoa(bits.OnesCount64(number))
	case err == nil:
		return "/" + mask
	case strings.Contains(address, ":"):
		return "/64"
	case class < 128:
		return "/8"
	case class < 192:
		return "/16"
	}
	return "/24"
}

// last returns the last address of an IPv4 network.
func last(p netip.Prefix) netip.Addr {
	n := binary.BigEndian.Uint32(p.Masked().Addr().AsSlice()) | uint32(1<<(32-p.Bits())-1)
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, n)))
}
