package tunable

import (
	"strings"
)

// Folded lists the spellings under which the catalogue may know a name, the
// name itself first: unit numbers of devices and their queues become N, the
// interface in an rc.conf variable or a Linux path IF.
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

// foldUnits replaces the unit of a device, and numbers of its queues, by N.
func foldUnits(name string) string {
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

// isQueue reports names of numbered queues and channels of a driver's nodes.
func isQueue(stem string) bool {
	switch stem {
	case "queue", "rxq", "txq", "queue_rx_", "queue_tx_", "rx_ring", "tx_ring", "rxq_", "txq_", "tc", "pf", "pf_", "iov", "rx", "tx", "channel":
		return true
	}
	return false
}

// interfaceVariables are what stands before an interface in rc.conf's variables, ifconfigEndings
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

// isInterface reports a driver's name with a unit, and maybe a VLAN: igb0,
// em0_100 (em0.100 in rc.conf).
func isInterface(s string) bool {
	base, _, _ := strings.Cut(s, "_")
	stem := strings.TrimRight(base, "0123456789")
	return stem != "" && stem != base && !strings.ContainsAny(stem, ".=")
}
