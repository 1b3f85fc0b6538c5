package fact

import (
	"cmp"
	"slices"
)

// CPU describes the host's processors.
type CPU struct {
	Model string `json:"model,omitempty"`
	// Count is the number of running logical CPUs, Cores that of physical cores.
	Count          int     `json:"count,omitempty"`
	Cores          int     `json:"cores,omitempty"`
	ThreadsPerCore int     `json:"threads_per_core,omitempty"`
	Packages       int     `json:"packages,omitempty"`
	MHz            float64 `json:"mhz,omitempty"`
	// Features lists instruction-set extensions in the system's terms, upper case (AESNI, AVX2, SHA
	// …).
	Features []string `json:"features,omitempty"`
	// Domains are NUMA domains; one entry means a uniform machine.
	Domains []Domain `json:"numa_domains,omitempty"`
	// Mitigations holds the kernel's reports on speculative-execution mitigations.
	Mitigations map[string]string `json:"mitigations,omitempty"`
	// Governor is the cpufreq governor of the first CPU, "" without cpufreq.
	Governor string `json:"governor,omitempty"`
	// Idle lists the idle states of the first CPU (Linux), shallowest first.
	Idle []IdleState `json:"idle_states,omitempty"`
	// IOMMU is the domain type of the first IOMMU group: DMA, DMA-FQ, identity; "" without an
	// IOMMU.
	IOMMU string `json:"iommu,omitempty"`
}

// IdleState is a state that an idle CPU may enter.
type IdleState struct {
	// LatencyUS is the wake-up latency in microseconds.
	LatencyUS int  `json:"latency_us"`
	Disabled  bool `json:"disabled,omitempty"`
}

// Domain is one NUMA domain.
type Domain struct {
	ID          int    `json:"id"`
	CPUs        []int  `json:"cpus,omitempty"`
	MemoryBytes uint64 `json:"memory_bytes,omitempty"`
}

// Memory is the host's memory, in bytes.
type Memory struct {
	// Physical is the memory managed by the kernel (hw.physmem, MemTotal).
	Physical uint64 `json:"physical_bytes,omitempty"`
	// Real is the installed memory (hw.realmem).
	Real uint64 `json:"real_bytes,omitempty"`
	// Free is the unused memory at that time.
	Free uint64 `json:"free_bytes,omitempty"`
	// PageSize is the base page size.
	PageSize uint64 `json:"page_size,omitempty"`
	// KernelMap is the size of the kernel's memory map (vm.kmem_size).
	KernelMap uint64 `json:"kernel_map_bytes,omitempty"`
	Swap      uint64 `json:"swap_bytes,omitempty"`
}

// Kinds of network interfaces.
const (
	KindEthernet = "ethernet"
	KindLoopback = "loopback"
	KindVLAN     = "vlan"
	KindBridge   = "bridge"
	KindLAGG     = "lagg"
	KindTunnel   = "tunnel" // gif, gre, ipsec, tun, wg, ppp …
	KindFirewall = "firewall"
	KindVirtual  = "virtual" // epair, tap, vxlan, veth …
	KindUnknown  = "unknown"
)

// MaxNICs is the maximum number of interfaces of a host: 4,094 VLANs on some ports.
const MaxNICs = 16_384

// NIC is a network interface, hardware or software.
type NIC struct {
	Name string `json:"name" expr:"name"`
	// Driver is the name without its unit: igb, ixl, mlx5_core.
	Driver string `json:"driver,omitempty" expr:"driver"`
	// Kind is one of the Kind constants.
	Kind        string `json:"kind,omitempty" expr:"kind"`
	Description string `json:"description,omitempty"`
	PCI         *PCI   `json:"pci,omitempty"`
	// Domain is the NUMA domain it is attached to; nil if unknown.
	Domain *int     `json:"numa_domain,omitempty"`
	Flags  []string `json:"flags,omitempty"`
	MTU    int      `json:"mtu,omitempty" expr:"mtu"`
	// Options lists the enabled offloads (RXCSUM, TSO4, LRO …).
	Options   []string `json:"options,omitempty"`
	SpeedBits uint64   `json:"speed_bps,omitempty"`
	Duplex    string   `json:"duplex,omitempty"`
	// Status is the link state: active, "no carrier" …
	Status string `json:"status,omitempty"`
	// FlowControl is rx, tx, full or none; "" if unknown.
	FlowControl string `json:"flow_control,omitempty" expr:"flow_control"`
	// Queues and descriptors per queue.
	RXQueues      int `json:"rx_queues,omitempty" expr:"rx_queues"`
	TXQueues      int `json:"tx_queues,omitempty"`
	RXDescriptors int `json:"rx_descriptors,omitempty" expr:"rx_ring"`
	TXDescriptors int `json:"tx_descriptors,omitempty"`
	// MaxRXDescriptors and MaxQueues are the driver's maxima.
	MaxRXDescriptors int `json:"max_rx_descriptors,omitempty" expr:"max_rx_ring"`
	MaxQueues        int `json:"max_queues,omitempty" expr:"max_queues"`
	// Parent is the interface below a vlan, Members those of a bridge or lagg.
	Parent  string   `json:"parent,omitempty"`
	Members []string `json:"members,omitempty" expr:"members"`
	// CARP means that it has virtual hosts of carp(4).
	CARP bool `json:"carp,omitempty"`
	// IPv4 and IPv6 count its addresses, except link-local ones.
	IPv4 int `json:"ipv4_addresses,omitempty"`
	IPv6 int `json:"ipv6_addresses,omitempty"`
	// Up is nil if unknown.
	Up *bool `json:"up,omitempty"`
	// Configured holds the lines of rc.conf that configure it, and ConfigFlags the words in them
	// that switch an option: "-lro", "-tso4", "txcsum".
	Configured  []Line   `json:"configured,omitempty"`
	ConfigFlags []string `json:"config_flags,omitempty"`
}

// PCI is a PCI device's name and link.
type PCI struct {
	Device string `json:"device,omitempty"`
	// LinkWidth and LinkSpeed (GT/s) are negotiated, Max… the capabilities.
	LinkWidth    int     `json:"link_width,omitempty"`
	MaxLinkWidth int     `json:"max_link_width,omitempty"`
	LinkSpeed    float64 `json:"link_speed_gts,omitempty"`
	MaxLinkSpeed float64 `json:"max_link_speed_gts,omitempty"`
}

// Interrupt is one source of interrupts.
type Interrupt struct {
	// Name is the system's name: "irq26: em0:irq0", "cpu0:timer".
	Name string `json:"name" expr:"name"`
	// Device is the interface or device, Queue the name of its queue.
	Device string `json:"device,omitempty" expr:"device"`
	Queue  string `json:"queue,omitempty"`
	// CPU is the one it is bound to; nil if there are several or it is unknown. CPUs are those
	// allowed.
	CPU   *int    `json:"cpu,omitempty"`
	CPUs  []int   `json:"cpus,omitempty"`
	Total uint64  `json:"total"`
	Rate  float64 `json:"per_second" expr:"rate"`
}

// FlowControl returns NIC.FlowControl for the two directions.
func FlowControl(rx, tx bool) string {
	switch {
	case rx && tx:
		return "full"
	case rx:
		return "rx"
	case tx:
		return "tx"
	}
	return "none"
}

// Has reports whether an option is on; it is false if Options is nil, meaning unknown.
func (n NIC) Has(option string) bool { return slices.Contains(n.Options, option) }

// AddConfigured merges the configuration of an interface from a file line into the NIC of that
// name, adding one if the host's list lacks it.
func (f *Facts) AddConfigured(n NIC) {
	for i := range f.NICs {
		nic := &f.NICs[i]
		if nic.Name != n.Name {
			continue
		}
		known := nic.Flags != nil // present on the running host
		nic.Configured = append(nic.Configured, n.Configured...)
		nic.ConfigFlags = append(nic.ConfigFlags, n.ConfigFlags...)
		if known { // the running state takes precedence over the file
			return
		}
		nic.MTU, nic.Parent = cmp.Or(max(n.MTU, 0), nic.MTU), cmp.Or(n.Parent, nic.Parent)
		nic.Members = append(nic.Members, n.Members...)
		nic.IPv4 += n.IPv4
		nic.IPv6 += n.IPv6
		return
	}
	if len(f.NICs) < MaxNICs {
		f.NICs = append(f.NICs, n)
	}
}
