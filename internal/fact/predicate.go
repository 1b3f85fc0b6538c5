package fact

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// These predicates define the meaning of the words in the expressions of the catalogue, the audit's
// rules and the roles, and are the only definition. The running state decides if known; else the
// state that the files give after a boot. Unknown is false, 0 or "".

// ForwardsIPv4 reports whether the host forwards IPv4 packets: on FreeBSD by net.inet.ip.forwarding
// or gateway_enable; on Linux by net.ipv4.ip_forward or the setting of any interface (inet(4),
// Documentation/networking/ip-sysctl).
func (f *Facts) ForwardsIPv4() bool {
	return f.switched([]string{"net.inet.ip.forwarding", "net.ipv4.ip_forward"}, f.ipv4Links(), "gateway_enable")
}

// ForwardsIPv6 reports whether the host forwards IPv6 packets: on FreeBSD by
// net.inet6.ip6.forwarding or ipv6_gateway_enable; on Linux by net.ipv6.conf.all.forwarding; an
// interface's own setting only affects how it accepts router advertisements.
func (f *Facts) ForwardsIPv6() bool {
	return f.switched([]string{"net.inet6.ip6.forwarding", "net.ipv6.conf.all.forwarding"}, nil, "ipv6_gateway_enable")
}

// ipv4Links returns Linux's per-interface switches of IPv4 forwarding, except "default", a template
// for new interfaces.
func (f *Facts) ipv4Links() []string {
	var names []string
	for _, s := range f.Settings {
		link, ok := strings.CutPrefix(s.Name, "net.ipv4.conf.")
		if ok && strings.HasSuffix(link, ".forwarding") && link != "default.forwarding" {
			names = append(names, s.Name)
		}
	}
	return names
}

// switched reports whether one of the host's or its interfaces' switches is on: by the running
// values if any is known, else by the files and rc.conf's variable.
func (f *Facts) switched(host, links []string, rcvar string) bool {
	on := func(value func(string) (string, bool)) func(string) bool {
		return func(name string) bool { v, ok := value(name); return ok && nonZero(v) }
	}
	names := slices.Concat(host, links)
	if f.runsStack() {
		return slices.ContainsFunc(names, on(f.LiveValue))
	}
	return slices.ContainsFunc(names, on(f.Value)) || f.RCYes(rcvar)
}

// runsStack reports whether any running value of the forwarding switches is known; a family without
// one is then not in the kernel.
func (f *Facts) runsStack() bool {
	return slices.ContainsFunc([]string{"net.inet.ip.forwarding", "net.inet6.ip6.forwarding", "net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"},
		func(name string) bool { _, ok := f.LiveValue(name); return ok })
}

// nonZero reports whether s is an integer other than 0, as parsed by sysctl(8).
func nonZero(s string) bool {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 0, 64)
	return err == nil && n != 0
}

// PFOn reports whether pf filters, by pfctl's status, else by pf_enable.
func (f *Facts) PFOn() bool {
	pf := f.Firewall.PF
	if pf == nil {
		return false
	}
	if pf.Enabled != nil {
		return *pf.Enabled
	}
	return pf.Configured
}

// IPFWOn reports whether ipfw filters: it is in the kernel and has rules or is configured to, else
// by firewall_enable. A kernel with ipfw and only its built-in rule does not filter.
func (f *Facts) IPFWOn() bool {
	fw := f.Firewall.IPFW
	if fw == nil {
		return false
	}
	if fw.Enabled != nil {
		return *fw.Enabled && (fw.Rules > 0 || fw.Configured)
	}
	return fw.Configured
}

// IPFOn reports whether IPFilter is enabled in rc.conf.
func (f *Facts) IPFOn() bool { return f.Firewall.IPF }

// NFTOn reports whether Linux's netfilter has rules, of nftables or iptables: running ones, else
// those in files.
func (f *Facts) NFTOn() bool { return f.Firewall.NFT != nil && f.Firewall.NFT.Rules > 0 }

// TracksConnections reports whether Linux's connection tracking is in use: rules need it or its
// table has connections; if the rules are unknown, its module is loaded.
func (f *Facts) TracksConnections() bool {
	nft := cmp.Or(f.Firewall.NFT, &NFT{})
	switch {
	case nft.Connections != nil && *nft.Connections > 0:
		return true
	case nft.Tracking != nil:
		return *nft.Tracking
	case nft.Max != nil:
		return true
	}
	_, limit := f.LiveValue("net.netfilter.nf_conntrack_max")
	return limit || f.HasModule("nf_conntrack")
}

// FiltersBridges reports whether Linux passes bridged IPv4 or IPv6 frames through netfilter
// (br_netfilter), by its switches, which are on by default once its module is loaded.
func (f *Facts) FiltersBridges() bool {
	known := false
	for _, n := range []string{"net.bridge.bridge-nf-call-iptables", "net.bridge.bridge-nf-call-ip6tables"} {
		if v, ok := f.Value(n); ok {
			if nonZero(v) {
				return true
			}
			known = true
		}
	}
	return !known && f.HasModule("br_netfilter")
}

// containerEngines lists daemons that start containers, containerLinks the bridges and tunnels that
// they and their networks create.
var (
	containerEngines = []string{"docker", "containerd", "crio", "podman", "kubelet", "k3s", "rke2", "lxd", "incus"}
	containerLinks   = []string{"docker0", "cni0", "cni-podman0", "podman0", "flannel.1", "cilium_host", "kube-ipvs0", "lxdbr0", "lxcbr0", "incusbr0", "weave"}
)

// HostsContainers reports whether the host runs Linux containers: an engine is enabled, or a
// network of one exists.
func (f *Facts) HostsContainers() bool {
	return slices.ContainsFunc(containerEngines, f.RunsService) || slices.ContainsFunc(f.NICs, func(n NIC) bool {
		return slices.Contains(containerLinks, n.Name) || strings.HasPrefix(n.Name, "cali")
	})
}

// Virtual reports whether the host is a virtual machine.
func (f *Facts) Virtual() bool { return f.Hypervisor != "" && f.Hypervisor != "none" }

// HasModule reports whether a kernel module is in use, or will be after a boot: compiled in,
// loaded, or loaded by a line of a file.
func (f *Facts) HasModule(name string) bool {
	m, ok := f.Module(name)
	return ok && (m.InKernel || m.Loaded != nil && *m.Loaded || slices.ContainsFunc(m.Lines, loads))
}

// loads reports whether a line loads a module: in loader.conf the value must be YES, in other lists
// the name suffices.
func loads(l Line) bool {
	return l.Effective && (l.Stage != Loader || strings.EqualFold(l.Value, "YES"))
}

// RunsService reports whether a daemon is enabled.
func (f *Facts) RunsService(name string) bool {
	return slices.ContainsFunc(f.Services, func(s Service) bool { return s.Name == name && s.Enabled != nil && *s.Enabled })
}

// Listens reports whether a socket accepts connections from other hosts on a port.
func (f *Facts) Listens(port int) bool {
	return slices.ContainsFunc(f.Listeners, func(l Listener) bool { return l.Port == port && !l.Local && !l.Datagrams() })
}

// ListensUDP reports whether a socket receives datagrams from other hosts on a port.
func (f *Facts) ListensUDP(port int) bool {
	return slices.ContainsFunc(f.Listeners, func(l Listener) bool { return l.Port == port && !l.Local && l.Datagrams() })
}

// Datagrams reports whether it is a UDP socket.
func (l Listener) Datagrams() bool { return strings.HasPrefix(l.Protocol, "udp") }

// Serves reports whether a daemon is enabled and, if the host's listening sockets are known, other
// hosts can reach one of its ports.
func (f *Facts) Serves(name string, ports ...int) bool {
	return f.RunsService(name) && (len(f.Listeners) == 0 || slices.ContainsFunc(ports, f.Listens) || slices.ContainsFunc(ports, f.ListensUDP))
}

// Sum adds the counters that match a pattern, in which * stands for one name.
func (f *Facts) Sum(pattern string) (sum float64) {
	for _, c := range f.Counters {
		if matches(pattern, c.Name) {
			sum += float64(c.Value)
		}
	}
	return sum
}

// HasMount reports whether a file system of a type is mounted or in fstab.
func (f *Facts) HasMount(kind string) bool {
	return slices.ContainsFunc(f.Mounts, func(m Mount) bool { return m.Type == kind })
}

// HasInterface reports whether an interface of a driver exists, hardware or cloned, and is not
// known to be down.
func (f *Facts) HasInterface(driver string) bool {
	return slices.ContainsFunc(f.NICs, func(n NIC) bool { return n.Driver == driver && (n.Up == nil || *n.Up) })
}

// IsSet reports whether a file of the host, other than the system's defaults, sets a kernel setting
// or a variable of rc.conf.
func (f *Facts) IsSet(name string) bool {
	if parameter, ok := strings.CutPrefix(name, "module."); ok && f.IsSet("cmdline."+parameter) {
		return true
	}
	for _, find := range []func(string) (Tunable, bool){f.Tunable, f.RCVariable} {
		s, ok := find(name)
		if ok && slices.ContainsFunc(s.Lines, func(l Line) bool { return !l.Default }) {
			return true
		}
	}
	return false
}

// Complained reports whether a complaint in the boot log contains a word, in any case.
func (f *Facts) Complained(word string) bool {
	return slices.ContainsFunc(f.Complaints, func(c Complaint) bool {
		return strings.Contains(strings.ToLower(c.Text), strings.ToLower(word))
	})
}

// Details returns the values of a keyword in a daemon's configuration.
func (f *Facts) Details(service, word string) []string {
	found := []string{}
	for _, s := range f.Services {
		for _, d := range s.Details {
			if s.Name == service && d.Name == word {
				found = append(found, d.Value)
			}
		}
	}
	return found
}

// Hardware reports whether it is a network port, physical or virtual, as opposed to an interface
// built on others. An unknown kind counts as one.
func (n NIC) Hardware() bool { return n.Kind == KindEthernet || n.Kind == "" }
