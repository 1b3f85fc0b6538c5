package linux

import (
	"slices"
	"strings"

	"linerate/internal/fact"
)

// ParseSysctlA reads `sysctl -a`: "name = value" lines. A value of several
// lines repeats its name; the first line is kept.
func ParseSysctlA(text string) []fact.Tunable {
	var all []fact.Tunable
	seen := map[string]bool{}
	for _, line := range splitLines(text) {
		name, value, ok := strings.Cut(line, " = ")
		if !ok {
			name, ok = strings.CutSuffix(line, " =")
		}
		if name = strings.TrimSpace(name); !ok || seen[name] || !validName(name) || !strings.Contains(name, ".") || Volatile(name) || Secret(name) || len(all) >= maxLines {
			continue
		}
		seen[name] = true
		v := strings.TrimSpace(value)
		all = append(all, fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &v})
	}
	return all
}

// virtualDrivers are those that `ethtool -i` names of interfaces without
// hardware.
var virtualDrivers = map[string]string{"bridge": fact.KindBridge, "bonding": fact.KindLAGG, "team": fact.KindLAGG, "802.1Q VLAN Support": fact.KindVLAN,
	"tun": fact.KindTunnel, "wireguard": fact.KindTunnel, "veth": fact.KindVirtual, "dummy": fact.KindVirtual, "vxlan": fact.KindVirtual,
	"geneve": fact.KindVirtual, "openvswitch": fact.KindVirtual, "macvlan": fact.KindVirtual, "ifb": fact.KindVirtual}

// ParseDriver reads `ethtool -i` of an interface.
func ParseDriver(name, text string) fact.NIC {
	n := fact.NIC{Name: name, Kind: fact.KindEthernet, Flags: []string{}}
	for _, line := range splitLines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && key == "driver" {
			n.Driver = strings.TrimSpace(value)
		}
	}
	if kind := virtualDrivers[n.Driver]; kind != "" {
		n.Kind = kind
	}
	return n
}

// CountIPTablesList counts the rules of `iptables -nvL`, which sos reports keep
// of each table: lines that begin with a number of packets.
func CountIPTablesList(text string) (rules int, tracking bool) {
	for _, line := range splitLines(text) {
		w := strings.Fields(line)
		if len(w) < 3 || w[0][0] < '0' || w[0][0] > '9' {
			continue
		}
		rules++
		tracking = tracking || tracked(w)
	}
	return rules, tracking
}

// tracked reports a rule of iptables, by its words, that needs connections tracked.
func tracked(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(trackingWords, w) })
}

// trackingWords are matches and targets of iptables that need connections tracked.
var trackingWords = []string{"ctstate", "state", "ctstatus", "connlimit", "MASQUERADE", "SNAT", "DNAT", "REDIRECT", "CONNMARK", "CT"}
