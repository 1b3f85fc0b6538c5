package setting

import "strings"

// Mechanism is the way in which a setting is made on a host. The catalogue, studies, plans and
// knobs share these words; each uses those that it knows.
type Mechanism string

// Mechanisms of a whole host, used by the catalogue, plans and studies.
const (
	Sysctl   Mechanism = "sysctl"   // a node of the sysctl tree, possibly also a loader tunable
	Loader   Mechanism = "loader"   // a variable of the kernel environment, read at the next boot
	RC       Mechanism = "rc"       // a variable of rc.conf, read by its service
	Module   Mechanism = "module"   // a kernel module; "loaded" or "absent"
	Route    Mechanism = "route"    // a prefix and its next hop, or an attribute of a route
	Firewall Mechanism = "firewall" // behaviour of a packet filter, or a line of its configuration
)

// Mechanisms of the catalogue only: places that no knob writes, and tools that set several things,
// which plans and knobs distinguish (there Ethtool is Offload, Ring, Coalesce or Channels).
const (
	Ifconfig     Mechanism = "ifconfig"      // a flag of an interface
	Ethtool      Mechanism = "ethtool"       // a setting of an interface (Linux)
	KernelOption Mechanism = "kernel-option" // compiled in
	Mount        Mechanism = "mount"         // an option of mount(8) or fstab(5)
	Tunefs       Mechanism = "tunefs"        // stored in the file system's superblock
	LoginConf    Mechanism = "login.conf"    // a capability of login.conf(5)
	Service      Mechanism = "service"       // a daemon's own configuration
	Sysfs        Mechanism = "sysfs"         // a file below /sys (Linux)
	Procfs       Mechanism = "procfs"        // a file below /proc that is not a sysctl (Linux)
	Cmdline      Mechanism = "cmdline"       // a parameter of the kernel's command line (Linux)
	Limit        Mechanism = "limit"         // a resource limit: limits.conf, systemd's Limit…=
	Qdisc        Mechanism = "qdisc"         // a queueing discipline, set with tc (Linux)
	CC           Mechanism = "cc"            // a congestion control algorithm (Linux)
	Socket       Mechanism = "socket"        // an option that a program sets on its socket
	Systemd      Mechanism = "systemd"       // a line of a unit, .link or .network file
)

// Mechanisms of an interface. Device is the interface's name in a plan, and its role in the testbed
// ("ingress" or "egress" of the DUT) in a study.
const (
	Link     Mechanism = "link"     // Name is a property: mtu, txqueuelen …
	NAPI     Mechanism = "napi"     // Name is one of NAPINames
	Offload  Mechanism = "offload"  // Name is a feature: gro, lro, tso …; on or off
	Ring     Mechanism = "ring"     // Name is rx or tx; descriptors of the rings
	Coalesce Mechanism = "coalesce" // Name is rx-usecs, tx-frames … (ethtool -C)
	Channels Mechanism = "channels" // Name is combined, rx, tx or other; queues
	RPS      Mechanism = "rps"      // Name is the receive queue, rx-0; a mask of CPUs in hex
	RFS      Mechanism = "rfs"      // Name is the receive queue, rx-0; number of flows
	XPS      Mechanism = "xps"      // Name is the transmit queue, tx-0; a mask of CPUs in hex
)

// Mechanisms of plans: permanent changes of a host, besides those above. Those that can cut off a
// network can be reverted exactly, on Linux: a Link's property state (up, down), a Route (Name is
// the prefix) with the value "absent" or ip(8)'s words for it, an NFT (FAMILY/TABLE/CHAIN) with the
// chain's policy.
const (
	IRQ       Mechanism = "irq"          // Name is the interrupt's number; a list of CPUs
	Governor  Mechanism = "governor"     // Name is the CPU, cpu0; its frequency governor
	PFLimit   Mechanism = "pf-limit"     // Name is states, src-nodes, frags … (pf.conf(5), set limit)
	PFTimeout Mechanism = "pf-timeout"   // Name is adaptive.start …; seconds or states
	ModParam  Mechanism = "module-param" // Name is MODULE/PARAMETER, as under /sys/module
	Address   Mechanism = "address"      // Name is an address of Device, with prefix length; present or absent
)

// Mechanisms of studies: what a variant does to the testbed.
const (
	NFT         Mechanism = "nft"          // Rules is the ruleset
	Routes      Mechanism = "routes"       // Table is the routing table
	Hops        Mechanism = "hops"         // Value more routers after the first, over links of kind Name
	Forward     Mechanism = "forward"      // Name is what forwards instead of routing: xdp or bridge
	PolicyRules Mechanism = "policy-rules" // Value policy routing rules that never match
	CPUs        Mechanism = "cpus"         // the DUT's ingress is spread over Value CPUs
	TCP         Mechanism = "tcp"          // Path says how TCP starts and proceeds towards the clients
	NGINX       Mechanism = "nginx"        // Name is a directive of a study's web server
	Postfix     Mechanism = "postfix"      // Name is a parameter of a study's mail server
	FileSystem  Mechanism = "filesystem"   // Disk is the file system of a study's files or mail
	Command     Mechanism = "command"      // Argv is run, without a shell
)

// Mechanisms of testbeds of real machines.
const (
	Files Mechanism = "files" // Name is a configuration set: files laid over the root
	Image Mechanism = "image" // Name is a boot environment, kernel or boot entry to boot once
	PF    Mechanism = "pf"    // Rules is a pf.conf(5)
	IPFW  Mechanism = "ipfw"  // Rules are lines for ipfw(8)
)

// HostMechanisms lists the mechanisms that a plan may use.
func HostMechanisms() []Mechanism {
	return []Mechanism{Sysctl, Loader, RC, Link, Offload, Ring, Coalesce, Channels,
		NAPI, RPS, RFS, XPS, IRQ, Governor, PFLimit, Module, ModParam, Route, NFT}
}

// OfPFTimeout returns pf's name of a timeout (the name of a PFTimeout) for a name of the catalogue;
// ok is false for other settings.
func OfPFTimeout(name string) (timeout string, ok bool) {
	return strings.CutPrefix(name, "pf.conf:timeout.")
}

// OfPFLimit returns pf's name of a limit (the name of a PFLimit) for a name of the catalogue; ok is
// false for other settings.
func OfPFLimit(name string) (limit string, ok bool) {
	return strings.CutPrefix(name, "pf.conf:limit.")
}
