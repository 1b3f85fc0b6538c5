package tunable

import (
	"regexp"
	"strings"
)

// Folded returns the spellings under which the catalogue may have a name, the name itself first: N
// for unit numbers of devices and their queues, IF for the interface in an rc.conf variable or a
// Linux path.
func Folded(name string) []string { return append([]string{name}, folded(name)...) }

// folded is Folded without the name itself.
func folded(name string) []string {
	var names []string
	if f := foldUnits(name); f != name {
		names = append(names, f)
	}
	if f, ok := foldInterface(name); ok {
		names = append(names, f)
	}
	return append(append(names, foldLinux(name)...), foldHost(name)...)
}

// ofUnit matches what a driver's own loader tunables have for one unit instead of all.
var ofUnit = regexp.MustCompile(`^(hw\.(?:vtnet|vtblk|pvscsi))\.[0-9]+\.`)

// foldUnits replaces the unit of a device, and the numbers of its queues, by N.
func foldUnits(name string) string {
	name = ofUnit.ReplaceAllString(name, "$1.")
	if !strings.HasPrefix(name, "dev.") && !strings.HasPrefix(name, "hint.") && !strings.HasPrefix(name, "net.wlan.") && !strings.HasPrefix(name, "net.inet.tcp.hpts.") {
		return name
	}
	parts := strings.Split(name, ".")
	for i := 2; i < len(parts); i++ {
		stem := strings.TrimRight(parts[i], "0123456789")
		if stem == parts[i] {
			continue
		}
		if stem == "" || isQueue(stem) {
			parts[i] = stem + "N"
		}
	}
	return strings.Join(parts, ".")
}

// isQueue reports whether a node of a driver is a numbered queue or channel.
func isQueue(stem string) bool {
	switch stem {
	case "queue", "rxq", "txq", "queue_rx_", "queue_tx_", "rx_ring", "tx_ring", "rxq_", "txq_", "tc", "pf", "pf_", "iov", "rx", "tx", "channel":
		return true
	}
	return false
}

// interfaceVariables lists prefixes of rc.conf variables that an interface follows, ifconfigEndings
// what may follow it in those of ifconfig.
var (
	interfaceVariables = []string{"ifconfig_", "wlans_", "create_args_", "vlans_", "autobridge_", "dhclient_flags_", "background_dhclient_", "wpa_supplicant_flags_", "ipv6_prefix_", "sppp_"}
	ifconfigEndings    = []string{"_descr", "_name", "_aliases", "_ipv6"}
)

// foldInterface replaces the interface in an rc.conf variable by IF.
func foldInterface(name string) (string, bool) {
	for _, prefix := range interfaceVariables {
		ifname, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if prefix == "ifconfig_" {
			for _, ending := range ifconfigEndings {
				if before, ok := strings.CutSuffix(ifname, ending); ok && isInterface(before) {
					return prefix + "IF" + ending, true
				}
			}
		}
		if isInterface(ifname) {
			return prefix + "IF", true
		}
	}
	return "", false
}

// isInterface reports whether s is a driver's name with a unit, and optionally a VLAN: igb0,
// em0_100 (for em0.100 in rc.conf).
func isInterface(s string) bool {
	base, _, _ := strings.Cut(s, "_")
	stem := strings.TrimRight(base, "0123456789")
	return stem != "" && stem != base && !strings.ContainsAny(stem, ".=")
}
