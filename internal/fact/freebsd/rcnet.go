package freebsd

import (
	_ "embed" // words.txt
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// wordsText lists drivers, mitigations and messages.
//
//go:embed words.txt
var wordsText string

// kinds maps the name of a driver to the kind of interface.
var kinds = list.Pairs(wordsText, "kind")

// Driver splits an interface's name into its driver and returns its kind: "igb0" → igb, ethernet;
// "igb0.100" → vlan.
func Driver(name string) (driver, kind string) {
	if strings.Contains(name, ".") {
		return "vlan", fact.KindVLAN
	}
	driver = strings.TrimRight(name, "0123456789")
	if strings.HasPrefix(name, "epair") {
		driver = "epair"
	}
	if k, ok := kinds[driver]; ok {
		return driver, k
	}
	return driver, fact.KindEthernet
}

// AddRCInterfaces adds what rc.conf says of interfaces: those that it configures or creates, and
// the words that switch their offloads (libexec/rc/network.subr).
func AddRCInterfaces(f *fact.Facts, c Config) {
	for _, l := range c.Lines {
		if !l.Effective || l.Default {
			continue
		}
		switch {
		case l.Name == "cloned_interfaces" || l.Name == "gif_interfaces" || l.Name == "wireguard_interfaces":
			for _, n := range strings.Fields(l.Value) {
				f.AddConfigured(rcNIC(strings.TrimSuffix(n, ":sticky"), l))
			}
		case strings.HasPrefix(l.Name, "vlans_"):
			addVLANs(f, l, strings.TrimPrefix(l.Name, "vlans_"))
		case strings.HasPrefix(l.Name, "ifconfig_"), strings.HasPrefix(l.Name, "create_args_"):
			addIfconfig(f, l)
		}
	}
}

// addVLANs parses vlans_<parent>="5 10 vlan0".
func addVLANs(f *fact.Facts, l fact.Line, parent string) {
	for _, n := range strings.Fields(l.Value) {
		if strings.Trim(n, "0123456789") == "" {
			n = parent + "." + n
		}
		nic := rcNIC(n, l)
		nic.Parent, nic.Driver, nic.Kind = parent, "vlan", fact.KindVLAN
		f.AddConfigured(nic)
	}
}

// addIfconfig parses ifconfig_<if>[_ipv6|_alias0|_name] and create_args_<if>.
func addIfconfig(f *fact.Facts, l fact.Line) {
	name := strings.TrimPrefix(strings.TrimPrefix(l.Name, "ifconfig_"), "create_args_")
	suffix := ""
	if i := strings.IndexByte(name, '_'); i > 0 && !strings.HasPrefix(name[i:], "_vlan") {
		name, suffix = name[:i], name[i:]
	}
	if name == "" || name == "DEFAULT" || suffix == "_name" || suffix == "_descr" || suffix == "_descriptions" {
		return
	}
	f.AddConfigured(rcNIC(name, l))
}

// rcNIC returns the interface described by one line.
func rcNIC(name string, l fact.Line) fact.NIC {
	n := fact.NIC{Name: name, Configured: []fact.Line{l}}
	n.Driver, n.Kind = Driver(name)
	if n.Kind == fact.KindVLAN {
		n.Parent, _, _ = strings.Cut(name, ".")
		if n.Parent == name {
			n.Parent = ""
		}
	}
	if strings.HasSuffix(l.Name, "_interfaces") || strings.HasPrefix(l.Name, "vlans_") {
		return n
	}
	readIfconfigWords(&n, strings.Fields(l.Value))
	return n
}

// readIfconfigWords interprets the relevant parameters of ifconfig(8).
func readIfconfigWords(n *fact.NIC, words []string) {
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch w {
		case "mtu":
			n.MTU = fact.Int(next)
		case "addm", "laggport":
			n.Members = append(n.Members, next)
		case "vlandev":
			n.Parent = next
		case "inet":
			n.IPv4++
		case "inet6":
			n.IPv6++
		}
		if slices.Contains(offloadWords, strings.TrimPrefix(w, "-")) {
			n.ConfigFlags = append(n.ConfigFlags, w)
		}
		if w == "DHCP" || w == "SYNCDHCP" || w == "dhcp" {
			n.IPv4++
		}
	}
}

// offloadWords lists the parameters of ifconfig(8) that set a capability.
var offloadWords = []string{"rxcsum", "txcsum", "rxcsum6", "txcsum6", "tso", "tso4", "tso6", "lro", "polling", "vlanhwtag",
	"vlanhwtso", "vlanhwcsum", "vlanhwfilter", "vlanmtu", "toe", "wol", "txrtlmt", "mextpg", "netcons", "promisc", "txtls", "rxtls"}
