package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/linux"
	"linerate/internal/fact/release"
	"linerate/internal/list"
)

// linux inspects a Linux host through /proc and /sys, which a tree or a bundle may also have, then
// its files.
func (in *inspection) linux() {
	in.linuxSystem()
	names := in.linuxValues()
	in.linuxLinks()
	linux.AddAddresses(in.f, in.text("/proc/net/if_inet6"), in.text("/proc/net/route"))
	in.linuxInterrupts()
	in.linuxCounters()
	in.linuxModules()
	product, config := in.appliance()
	in.addShipped(&config)
	in.linuxFiles(names)
	in.addProduct(product, config)
	in.linuxFirewall()
	in.linuxServices()
	in.texts("/")
}

// text reads a small file that may be missing; it does not record the source.
func (in *inspection) text(path string) string {
	b, err := in.r.ReadFile(in.ctx, path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// linuxRelease takes the release from the kernel, unless the caller gave it; for a tree without a
// kernel it assumes that of its distribution.
func (in *inspection) linuxRelease() {
	if !in.f.Release.IsZero() {
		return
	}
	if r, err := release.Parse(in.text("/proc/sys/kernel/osrelease")); err == nil {
		in.f.Release = r
	} else if in.r.Origin().Kind == fact.KindTree {
		in.f.Release, in.f.From.Shipped, _ = linux.Shipped(cmp.Or(in.text("/etc/os-release"), in.text("/usr/lib/os-release")))
		installed, _ := in.r.ReadDir(in.ctx, "/usr/lib/modules")
		for _, name := range installed { // the newest kernel boots
			if r, err := release.Parse(name); err == nil && (in.f.From.Shipped != "" || in.f.Release.Before(r)) {
				in.f.Release, in.f.From.Shipped = r, ""
			}
		}
	}
}

func (in *inspection) linuxSystem() {
	f := in.f
	in.linuxRelease()
	f.Distribution = linux.Distribution(in)
	f.Arch = in.text("/proc/sys/kernel/arch")
	f.Hostname = in.text("/proc/sys/kernel/hostname")
	f.Kernel = in.text("/proc/version")
	f.CPU = contents(in, "/proc/cpuinfo", linux.ParseCPUInfo)
	f.Memory = contents(in, "/proc/meminfo", linux.ParseMeminfo)
	up, _, _ := strings.Cut(in.text("/proc/uptime"), " ")
	f.UptimeSeconds, _ = strconv.ParseFloat(up, 64)
	f.Machine = strings.TrimSpace(in.text("/sys/class/dmi/id/sys_vendor") + " " + in.text("/sys/class/dmi/id/product_name"))
	if slices.Contains(f.CPU.Features, "HYPERVISOR") {
		f.Hypervisor = cmp.Or(in.text("/sys/hypervisor/type"), strings.ToLower(in.text("/sys/class/dmi/id/product_name")), "unknown")
	}
	f.CPU.Governor = in.text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	f.Clocksource = in.text("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	in.linuxNodes()
	in.mitigations()
	in.linuxPower()
}

// linuxPower reads what determines a CPU's wake-up time and frequency: the governor of each CPU,
// under its file name, and the idle states of the first.
func (in *inspection) linuxPower() {
	const dir = "/sys/devices/system/cpu"
	names, _ := in.r.ReadDir(in.ctx, dir)
	for _, n := range names {
		path := dir + "/" + n + "/cpufreq/scaling_governor"
		if linux.IsCPU(n) {
			in.shows(path, path)
		}
	}
	states, _ := in.r.ReadDir(in.ctx, dir+"/cpu0/cpuidle")
	for _, s := range states {
		path := dir + "/cpu0/cpuidle/" + s
		if in.text(path+"/name") != "" {
			in.f.CPU.Idle = append(in.f.CPU.Idle, fact.IdleState{LatencyUS: fact.Int(in.text(path + "/latency")), Disabled: in.text(path+"/disable") == "1"})
		}
	}
	list.Sort(in.f.CPU.Idle, func(a, b fact.IdleState) int { return cmp.Compare(a.LatencyUS, b.LatencyUS) })
	in.f.CPU.IOMMU = in.text("/sys/kernel/iommu_groups/0/type")
}

// shows adds the value of a small file under a name, if the file exists.
func (in *inspection) shows(name, path string) {
	if v := in.text(path); v != "" {
		in.f.Settings = append(in.f.Settings, fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &v})
	}
}

func (in *inspection) linuxNodes() {
	const dir = "/sys/devices/system/node"
	names, _ := in.r.ReadDir(in.ctx, dir)
	for _, n := range names {
		if id := linux.NodeName(n); id >= 0 {
			in.f.CPU.Domains = append(in.f.CPU.Domains, fact.Domain{ID: id, CPUs: linux.ParseList(in.text(dir + "/" + n + "/cpulist")),
				MemoryBytes: linux.ParseMeminfo(in.text(dir + "/" + n + "/meminfo")).Physical})
		}
	}
	list.Sort(in.f.CPU.Domains, func(a, b fact.Domain) int { return cmp.Compare(a.ID, b.ID) })
}

func (in *inspection) mitigations() {
	const dir = "/sys/devices/system/cpu/vulnerabilities"
	names, _ := in.r.ReadDir(in.ctx, dir)
	for _, n := range names {
		if in.f.CPU.Mitigations == nil {
			in.f.CPU.Mitigations = map[string]string{}
		}
		in.f.CPU.Mitigations[n] = in.text(dir + "/" + n)
	}
}

// maxValues limits the walk over /proc/sys: 20 settings for each of some thousand interfaces.
const maxValues = 100_000

// linuxValues walks /proc/sys and returns the names, sorted.
func (in *inspection) linuxValues() []string {
	const root = "/proc/sys"
	names, err := in.r.ReadDir(in.ctx, root)
	in.record(root, err)
	for _, n := range names {
		in.walkValues(root+"/"+n, 0)
	}
	all := list.Map(in.f.Settings, func(s fact.Tunable) string { return s.Name })
	slices.Sort(all)
	return all
}

func (in *inspection) walkValues(path string, depth int) {
	if depth > 12 || len(in.f.Settings) >= maxValues || in.ctx.Err() != nil {
		return
	}
	if names, err := in.r.ReadDir(in.ctx, path); err == nil {
		for _, n := range names {
			in.walkValues(path+"/"+n, depth+1)
		}
		return
	}
	name := linux.FromPath(strings.TrimPrefix(path, "/proc/sys/"))
	if linux.Volatile(name) || linux.Secret(name) {
		return
	}
	b, err := in.r.ReadFile(in.ctx, path)
	if err != nil {
		return // many entries are write-only or need privileges
	}
	value := keptValue(path, strings.TrimRight(string(b), "\n"))
	in.f.Settings = append(in.f.Settings, fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &value})
}

// linkSettings lists the settable files of /sys/class/net/*; they become settings
// link.<interface>.<name>.
var linkSettings = []string{"tx_queue_len", "gro_flush_timeout", "napi_defer_hard_irqs", "threaded"}

func (in *inspection) linuxLinks() {
	const dir = "/sys/class/net"
	names, err := in.r.ReadDir(in.ctx, dir)
	in.record(dir, err)
	for _, n := range names {
		path := dir + "/" + n
		if in.text(path+"/mtu") == "" {
			continue // not an interface (bonding_masters)
		}
		in.f.NICs = append(in.f.NICs, in.link(n, path))
		for _, s := range linkSettings {
			in.shows("link."+n+"."+s, path+"/"+s)
		}
		for file, name := range linux.LinkCounters() {
			if v, err := strconv.ParseUint(in.text(path+"/statistics/"+file), 10, 64); err == nil {
				in.f.AddCounter("nic."+n+"."+name, v, path+"/statistics/"+file)
			}
		}
	}
	for i := range in.f.NICs {
		in.ethtool(&in.f.NICs[i])
	}
}

// linuxKinds maps DEVTYPE in an interface's uevent to its kind.
var linuxKinds = map[string]string{"bridge": fact.KindBridge, "vlan": fact.KindVLAN, "bond": fact.KindLAGG, "team": fact.KindLAGG,
	"wireguard": fact.KindTunnel, "gretap": fact.KindTunnel, "vxlan": fact.KindVirtual, "wlan": fact.KindEthernet, "ppp": fact.KindTunnel}

// link reads one interface of /sys/class/net.
func (in *inspection) link(name, path string) fact.NIC {
	n := fact.NIC{Name: name, MTU: fact.Int(in.text(path + "/mtu")), Status: in.text(path + "/operstate"), Duplex: in.text(path + "/duplex")}
	if n.Duplex == "unknown" {
		n.Duplex = ""
	}
	if mbit, err := strconv.ParseInt(in.text(path+"/speed"), 10, 64); err == nil && mbit > 0 && mbit < 1e7 {
		n.SpeedBits = uint64(mbit) * 1_000_000
	}
	flags, _ := strconv.ParseUint(strings.TrimPrefix(in.text(path+"/flags"), "0x"), 16, 32)
	up := flags&1 != 0 // IFF_UP
	n.Up, n.Flags = &up, []string{}
	device := linux.Uevent(in.text(path + "/device/uevent"))
	n.Driver = device["DRIVER"]
	n.Kind = in.linkKind(path, n.Driver, flags)
	n.Members, _ = in.r.ReadDir(in.ctx, path+"/brif")
	n.Members = append(n.Members, strings.Fields(in.text(path+"/bonding/slaves"))...)
	queues, _ := in.r.ReadDir(in.ctx, path+"/queues")
	for _, q := range queues {
		switch {
		case strings.HasPrefix(q, "rx-"):
			n.RXQueues++
		case strings.HasPrefix(q, "tx-"):
			n.TXQueues++
		}
	}
	if d, err := strconv.Atoi(in.text(path + "/device/numa_node")); err == nil && d >= 0 {
		n.Domain = &d
	}
	if device["PCI_SLOT_NAME"] != "" {
		n.PCI = in.linuxPCI(path + "/device")
	}
	return n
}

func (in *inspection) linkKind(path, driver string, flags uint64) string {
	const loopback = 8 // IFF_LOOPBACK
	kind := linuxKinds[linux.Uevent(in.text(path + "/uevent"))["DEVTYPE"]]
	switch {
	case kind != "":
		return kind
	case flags&loopback != 0:
		return fact.KindLoopback
	case driver != "":
		return fact.KindEthernet
	case in.text(path+"/type") != "1": // ARPHRD_ETHER
		return fact.KindTunnel
	}
	return fact.KindVirtual
}

func (in *inspection) linuxPCI(path string) *fact.PCI {
	speed := func(file string) float64 {
		word, _, _ := strings.Cut(in.text(path+"/"+file), " ")
		v, _ := strconv.ParseFloat(word, 64)
		return v
	}
	return &fact.PCI{LinkWidth: fact.Int(in.text(path + "/current_link_width")), MaxLinkWidth: fact.Int(in.text(path + "/max_link_width")),
		LinkSpeed: speed("current_link_speed"), MaxLinkSpeed: speed("max_link_speed")}
}

func (in *inspection) linuxInterrupts() {
	in.f.Interrupts = contents(in, "/proc/interrupts", func(text string) []fact.Interrupt { return linux.ParseInterrupts(text, in.f.UptimeSeconds) })
	for i := range in.f.Interrupts {
		irq := &in.f.Interrupts[i]
		n := strconv.Itoa(linux.IRQ(irq.Name))
		irq.CPUs = linux.ParseList(cmp.Or(in.text("/proc/irq/"+n+"/effective_affinity_list"), in.text("/proc/irq/"+n+"/smp_affinity_list")))
		if len(irq.CPUs) == 1 {
			irq.CPU = &irq.CPUs[0]
		}
		in.nameDevice(irq)
		if _, ok := in.f.NIC(irq.Device); ok {
			path := "/proc/irq/" + n + "/smp_affinity_list"
			in.shows(path, path)
		}
	}
}

// nameDevice replaces the bus device in an interrupt's name (virtio2) by its interface.
func (in *inspection) nameDevice(irq *fact.Interrupt) {
	if _, ok := in.f.NIC(irq.Device); ok || !strings.HasPrefix(irq.Device, "virtio") {
		return
	}
	names, _ := in.r.ReadDir(in.ctx, "/sys/bus/virtio/devices/"+irq.Device+"/net")
	if len(names) == 1 {
		irq.Device = names[0]
	}
}

func (in *inspection) linuxCounters() {
	for path, text := range fact.Texts(in, "/proc/net/softnet_stat", "/proc/net/snmp", "/proc/net/netstat", "/proc/net/snmp6", "/proc/net/stat/nf_conntrack") {
		linux.AddCounters(in.f, path, text)
	}
	for table, path := range map[string]string{"arp": "/proc/net/stat/arp_cache", "ndisc": "/proc/net/stat/ndisc_cache"} {
		if text := in.text(path); text != "" {
			linux.AddNeighbours(in.f, table, text)
		}
	}
	if text, ok := in.output("tc-qdisc"); ok {
		linux.AddQdiscs(in.f, text)
	}
	for protocol, path := range map[string]string{"tcp4": "/proc/net/tcp", "tcp6": "/proc/net/tcp6", "udp4": "/proc/net/udp", "udp6": "/proc/net/udp6"} {
		in.f.Listeners = append(in.f.Listeners, linux.ParseListeners(protocol, in.text(path))...)
	}
	list.Sort(in.f.Listeners, func(a, b fact.Listener) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol))
	})
}
