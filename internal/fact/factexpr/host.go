package factexpr

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"path"
	"slices"
	"strings"

	"linerate/internal/fact"
)

// Host holds the names that depend on a host's facts alone: numbers in base units (bytes, seconds,
// bit/s, counts), texts, and functions. Unknown values are 0, "" or false. The predicates are those
// of fact.Facts.
type Host struct {
	OS         string `expr:"os"`
	Arch       string `expr:"arch"`
	Major      int    `expr:"major"`
	Minor      int    `expr:"minor"`
	Hypervisor string `expr:"hypervisor"`
	Distro     string `expr:"distribution"` // ID of os-release: debian
	VM         bool   `expr:"vm"`
	// Tree means that only files are known, no running state.
	Tree   bool    `expr:"tree"`
	Uptime float64 `expr:"uptime"`

	// Processors, and memory in bytes.
	CPUs           int `expr:"cpus"`
	Cores          int `expr:"cores"`
	ThreadsPerCore int `expr:"threads_per_core"`
	Domains        int `expr:"domains"`
	Memory         int `expr:"memory"`
	Page           int `expr:"page"`
	Pages          int `expr:"pages"`
	Kmem           int `expr:"kmem"`
	// HZ is the number of timer ticks per second of a Linux kernel (CONFIG_HZ).
	HZ int `expr:"hz"`
	// Governor is that of the first CPU, CPUNames lists the CPUs that have one; IdleLatency is the
	// wake-up time from the deepest enabled idle state, in microseconds, IOMMU the mapping mode of
	// devices (DMA, DMA-FQ, identity).
	Governor    string   `expr:"governor"`
	CPUNames    []string `expr:"cpu_names"`
	IdleLatency int      `expr:"idle_latency"`
	IOMMU       string   `expr:"iommu"`

	Network
	Filters

	// Product is the appliance in lower case; "" if the host is none.
	Product string `expr:"product"`
	// Field returns an appliance's own setting by path; FieldIs reports whether it has the value,
	// in at least one section if there are several.
	Field   func(path string) string      `expr:"field"`
	FieldIs func(path, value string) bool `expr:"field_is"`

	// AtLeast reports whether the release is this one or newer.
	AtLeast func(major, minor int) bool `expr:"at_least"`
	// Div is C's integer division: it truncates; division by 0 gives 0.
	Div func(a, b any) float64 `expr:"div"`

	// Functions on settings and their files.
	IsSet func(name string) bool `expr:"is_set"`
	// AnySet reports whether a file sets a name that matches a pattern: systemd.link.*.MTUBytes.
	AnySet func(pattern string) bool `expr:"any_set"`
	RC     func(name string) bool    `expr:"rc"`
	RCText func(name string) string  `expr:"rc_text"`
	// Within reports whether an address is in a network, 198.18.0.1/15.
	Within  func(network, address string) bool `expr:"within"`
	Running func(name string) string           `expr:"running"`
	// Module reports a module that is built in, loaded, or configured to be loaded.
	Module  func(name string) bool `expr:"module"`
	Service func(name string) bool `expr:"service"`
	Listens func(port int) bool    `expr:"listens"`
	// ListensUDP reports whether a socket receives datagrams on the port; Serves whether a daemon
	// is enabled and, if the sockets are known, one of its ports is open.
	ListensUDP func(port int) bool                  `expr:"listens_udp"`
	Serves     func(name string, ports ...int) bool `expr:"serves"`
	Mounted    func(kind string) bool               `expr:"mounted"`
	// Details returns the values of a keyword in a daemon's configuration.
	Details func(service, word string) []string `expr:"details"`
	// Webserver means that an HTTP daemon is enabled.
	Webserver bool `expr:"webserver"`
	// ServesWeb means that one is enabled and, if the sockets are known, listens on an HTTP port.
	ServesWeb bool `expr:"serves_web"`
	// Container is the container manager of a host that is a container, such as lxc; else "".
	Container string `expr:"container"`
	// ContainerHost means that the host runs containers.
	ContainerHost bool `expr:"container_host"`

	// Kernel counters since boot, kernel complaints, and which sources were read.
	Counter    func(name string) float64 `expr:"counter"`
	HasCounter func(name string) bool    `expr:"has_counter"`
	// Often reports whether the events of a counter, or of one that matches a pattern, are more than noise.
	Often func(pattern string) bool `expr:"often"`
	// Sum adds the counters that match a pattern: softnet.*.dropped.
	Sum        func(pattern string) float64 `expr:"sum_of"`
	Complained func(word string) bool       `expr:"complained"`
	WasRead    func(source string) bool     `expr:"was_read"`
	// Refused reports whether the source exists but could not be read.
	Refused func(source string) bool `expr:"unreadable"`
}

// Filters holds the packet filters of a host, and its forwarding.
type Filters struct {
	Forwarding     bool `expr:"forwarding"`
	ForwardingIPv4 bool `expr:"forwarding_ipv4"`
	ForwardingIPv6 bool `expr:"forwarding_ipv6"`
	// Packets forwarded, and received for the host itself, since boot.
	Forwarded float64 `expr:"forwarded"`
	Delivered float64 `expr:"delivered"`

	PF               bool    `expr:"pf"`
	PFRules          int     `expr:"pf_rules"`
	PFSourceTracking int     `expr:"pf_source_tracking"`
	PFNAT            int     `expr:"pf_nat"`
	PFStates         float64 `expr:"pf_states"`
	// PFMaxMSS is the smallest max-mss of scrub rules, 0 without one.
	PFMaxMSS float64 `expr:"pf_max_mss"`
	PFFile   bool    `expr:"pf_file"`
	// PFLimitSet reports whether pf.conf sets the limit.
	PFLimitSet func(name string) bool `expr:"pf_limit_set"`

	IPFW         bool `expr:"ipfw"`
	IPFWFile     bool `expr:"ipfw_file"`
	IPFWRules    int  `expr:"ipfw_rules"`
	IPFWStateful int  `expr:"ipfw_stateful"`
	IPFWNAT      int  `expr:"ipfw_nat"`
	IPFWPipes    int  `expr:"ipfw_pipes"`
	IPF          bool `expr:"ipf"`

	// Linux: netfilter rules; connection tracking with its entries and limit; bridged frames passed
	// through netfilter.
	NFT          bool    `expr:"nft"`
	NFTRules     int     `expr:"nft_rules"`
	ConntrackOn  bool    `expr:"conntrack_on"`
	Conntrack    float64 `expr:"conntrack"`
	ConntrackMax float64 `expr:"conntrack_max"`
	BridgeNF     bool    `expr:"bridge_nf"`
}

// webservers lists the HTTP daemons.
var webservers = []string{"nginx", "apache", "haproxy", "varnish"}

// Of returns the names of a host.
func Of(f *fact.Facts) Host {
	h := Host{Page: 4096, Div: div, CPUNames: []string{}}
	h.OS, h.Arch, h.Hypervisor, h.Distro, h.VM, h.Tree, h.Uptime = f.OS, f.Arch, f.Hypervisor, f.Distribution, f.Virtual(), !f.Live(), f.UptimeSeconds
	h.Major, h.Minor, h.AtLeast = f.Release.Major, f.Release.Minor, f.Release.AtLeast
	h.CPUs, h.Cores, h.ThreadsPerCore, h.Domains = f.CPU.Count, f.CPU.Cores, f.CPU.ThreadsPerCore, len(f.CPU.Domains)
	h.Memory, h.Kmem = toInt(f.Memory.Physical), toInt(f.Memory.KernelMap)
	h.Page = cmp.Or(toInt(f.Memory.PageSize), h.Page)
	h.Pages = h.Memory / h.Page
	h.Field, h.FieldIs = f.FieldValue, f.FieldIs
	if f.Product != nil {
		h.Product = f.Product.Name
	}
	h.Network, h.Filters = networkOf(f), filtersOf(f)
	h.IsSet, h.RC, h.Module, h.Service, h.Listens, h.Mounted = f.IsSet, f.RCYes, f.HasModule, f.RunsService, f.Listens, f.HasMount
	h.ListensUDP, h.Serves, h.Sum, h.Often = f.ListensUDP, f.Serves, f.Sum, f.Often
	h.setPower(f)
	h.Details, h.Complained, h.WasRead = f.Details, f.Complained, f.Read
	h.AnySet = func(pattern string) bool {
		return slices.ContainsFunc(f.Settings, func(s fact.Tunable) bool { ok, _ := path.Match(pattern, s.Name); return ok && f.IsSet(s.Name) })
	}
	h.Refused = func(source string) bool {
		return slices.ContainsFunc(f.Sources, func(s fact.Source) bool { return s.Name == source && s.Status == fact.StatusUnreadable })
	}
	h.RCText = func(name string) string { v, _ := f.RCValue(name); return v }
	h.Within = func(network, address string) bool {
		n, err := netip.ParsePrefix(network)
		a, bad := netip.ParseAddr(address)
		return err == nil && bad == nil && n.Contains(a)
	}
	h.Running = func(name string) string { v, _ := f.LiveValue(name); return v }
	h.Counter = func(name string) float64 { return count(f, name) }
	h.HasCounter = func(name string) bool { _, ok := f.Counter(name); return ok }
	h.ServesWeb = slices.ContainsFunc(webservers, func(name string) bool { return f.Serves(name, 80, 443, 8080, 8443, 6081) })
	h.Container = f.Container
	h.Webserver, h.ContainerHost = slices.ContainsFunc(webservers, f.RunsService), f.HostsContainers()
	return h
}

// setPower sets the CPU power management values. It looks for governors of all CPUs only if the
// host has any: there may be thousands of CPUs, and audits call this often.
func (h *Host) setPower(f *fact.Facts) {
	h.Governor, h.IOMMU = f.CPU.Governor, f.CPU.IOMMU
	shown := slices.ContainsFunc(f.Settings, func(s fact.Tunable) bool { return strings.HasSuffix(s.Name, "/cpufreq/scaling_governor") })
	for i := 0; shown && i < f.CPU.Count; i++ {
		name := fmt.Sprintf("cpu%d", i)
		if _, ok := f.LiveValue("/sys/devices/system/cpu/" + name + "/cpufreq/scaling_governor"); ok {
			h.CPUNames = append(h.CPUNames, name)
		}
	}
	for _, s := range f.CPU.Idle {
		if !s.Disabled {
			h.IdleLatency = max(h.IdleLatency, s.LatencyUS)
		}
	}
}

// div accepts numbers of any type.
func div(a, b any) float64 {
	x, y := int64(Number(a)), int64(Number(b))
	if y == 0 {
		return 0
	}
	return float64(x / y)
}

// toInt converts a size, limiting it to the largest int.
func toInt(n uint64) int { return int(min(n, math.MaxInt64)) }

func count(f *fact.Facts, name string) float64 {
	c, _ := f.Counter(name)
	return float64(c.Value)
}

func filtersOf(f *fact.Facts) Filters {
	v := Filters{
		ForwardingIPv4: f.ForwardsIPv4(), ForwardingIPv6: f.ForwardsIPv6(),
		Forwarded: count(f, "ip.forwarded") + count(f, "ip6.forwarded"),
		Delivered: count(f, "ip.delivered") + count(f, "ip6.delivered"),
		PF:        f.PFOn(), IPFW: f.IPFWOn(), IPF: f.IPFOn(), NFT: f.NFTOn(),
		ConntrackOn: f.TracksConnections(), BridgeNF: f.FiltersBridges(),
	}
	v.Forwarding = v.ForwardingIPv4 || v.ForwardingIPv6
	v.setPF(f.Firewall.PF)
	if fw := f.Firewall.IPFW; fw != nil {
		v.IPFWFile = fw.File != ""
		v.IPFWRules, v.IPFWStateful, v.IPFWNAT, v.IPFWPipes = fw.Rules, fw.Stateful, fw.NAT, fw.Pipes
	}
	if nft := f.Firewall.NFT; nft != nil {
		v.NFTRules = nft.Rules
		if nft.Connections != nil && nft.Max != nil {
			v.Conntrack, v.ConntrackMax = float64(*nft.Connections), float64(*nft.Max)
		}
	}
	return v
}

func (v *Filters) setPF(pf *fact.PF) {
	pf = cmp.Or(pf, &fact.PF{})
	v.PFRules, v.PFSourceTracking, v.PFNAT, v.PFFile = pf.Rules, pf.SourceTracking, pf.Translations, pf.File != ""
	if pf.States != nil {
		v.PFStates = float64(*pf.States)
	}
	for _, s := range pf.Scrub {
		if mss := float64(s.MaxMSS); mss > 0 && (v.PFMaxMSS == 0 || mss < v.PFMaxMSS) {
			v.PFMaxMSS = mss
		}
	}
	v.PFLimitSet = func(name string) bool {
		return slices.ContainsFunc(pf.FileLimits, func(l fact.Limit) bool { return l.Name == name })
	}
}

// Offload returns the state of an interface's option: "on" or "off" if known from the running
// interface or rc.conf, else "default".
func Offload(n *fact.NIC, option string) string {
	if n.Options != nil {
		if slices.ContainsFunc(n.Options, func(o string) bool { return strings.EqualFold(o, option) }) {
			return "on"
		}
		return "off"
	}
	state := "default"
	for _, flag := range n.ConfigFlags {
		name, off := strings.CutPrefix(strings.ToLower(flag), "-")
		if name != strings.ToLower(option) && !(name == "tso" && strings.HasPrefix(strings.ToLower(option), "tso")) {
			continue
		}
		state = "on"
		if off {
			state = "off"
		}
	}
	return state
}
