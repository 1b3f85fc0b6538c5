package setting

// The mechanisms by which a plan changes a host for good, beside those of a
// study's variant. Device is then an interface's own name.
const (
	Loader   Mechanism = "loader"       // a variable of the kernel environment: the next boot reads it
	RC       Mechanism = "rc"           // a variable of rc.conf: the service it belongs to reads it
	Offload  Mechanism = "offload"      // Name is a feature of Device: gro, lro, tso …; on or off
	Ring     Mechanism = "ring"         // Name is rx or tx; descriptors of Device's rings
	Coalesce Mechanism = "coalesce"     // Name is rx-usecs, tx-frames … of Device (ethtool -C)
	Channels Mechanism = "channels"     // Name is combined, rx, tx or other; queues of Device
	RPS      Mechanism = "rps"          // Name is the receive queue, rx-0; a mask of CPUs in hex
	RFS      Mechanism = "rfs"          // Name is the receive queue, rx-0; flows it remembers
	XPS      Mechanism = "xps"          // Name is the transmit queue, tx-0; a mask of CPUs in hex
	IRQ      Mechanism = "irq"          // Name is the interrupt's number; a list of CPUs
	Governor Mechanism = "governor"     // Name is the CPU, cpu0; its frequency governor
	PFLimit  Mechanism = "pf-limit"     // Name is states, src-nodes, frags … (pf.conf(5), set limit)
	Module   Mechanism = "module"       // Name is a kernel module; "loaded" or "absent"
	ModParam Mechanism = "module-param" // Name is MODULE/PARAMETER, as under /sys/module
	// What cuts a network off, and is exactly undone; on Linux. Beside these a
	// Link has a property state (up, down), a Route (Name is the prefix) the
	// value "absent" or ip(8)'s words for it, an NFT (FAMILY/TABLE/CHAIN) the
	// chain's policy.
	Address   Mechanism = "address"    // Name is an address of Device, with its length; present or absent
	PFTimeout Mechanism = "pf-timeout" // Name is adaptive.start …; seconds or states
)

// HostMechanisms lists the mechanisms that a plan may use.
func HostMechanisms() []Mechanism {
	return []Mechanism{Sysctl, Loader, RC, Link, Offload, Ring, Coalesce, Channels,
		NAPI, RPS, RFS, XPS, IRQ, Governor, PFLimit, Module, ModParam, Route, NFT}
}

// The mechanisms that only a testbed of real machines has.
const (
	Files Mechanism = "files" // Name is a configuration set: files laid over the root
	Image Mechanism = "image" // Name is a boot environment, kernel or boot entry that is booted once
	PF    Mechanism = "pf"    // Rules is a pf.conf(5)
	IPFW  Mechanism = "ipfw"  // Rules are lines for ipfw(8)
)
