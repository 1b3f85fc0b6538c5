// Package fact is a snapshot of a host as pure data, with provenance: what it
// is, its hardware, its configuration — every setting's live value and every
// file line that sets it — and its counters. Where each piece came from, and
// what could not be read and why, is part of the facts.
//
// Parsers of a system's files and command outputs are in its sub-packages
// (fact/freebsd, fact/linux); package inspect fills Facts from a host, a
// capture bundle or a directory tree.
package fact

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"linerate/internal/fact/release"
	"linerate/internal/list"
)

// Version is the version of the JSON document of Facts.
const Version = 1

// The supported operating systems.
const (
	FreeBSD = "freebsd"
	Linux   = "linux"
)

// Facts describes one host at one moment. A nil pointer, an empty slice or a zero number means
// unknown, never "none": Read tells whether a source was read.
type Facts struct {
	Version int `json:"version"`
	// From says what was inspected.
	From Origin `json:"from"`
	// OS is FreeBSD or Linux.
	OS      string          `json:"os"`
	Release release.Release `json:"release"`
	// Arch is the machine architecture as `uname -p` prints it: amd64, aarch64 (FreeBSD), x86_64
	// (Linux).
	Arch     string `json:"arch,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	// MachineID identifies the host independently of its name: a digest of machine-id(5) or
	// kern.hostuuid (MachineIDOf); "" if it has none.
	MachineID string `json:"machine_id,omitempty"`
	// Distribution is the ID in a Linux host's os-release: debian, openwrt; "" if it has none.
	Distribution string `json:"distribution,omitempty"`
	// Product is the appliance that the host is, nil if it is none.
	Product *Product `json:"product,omitempty"`
	// Kernel is the kernel's version text, one line.
	Kernel string `json:"kernel,omitempty"`
	// KernelIdent is the name of the kernel configuration (GENERIC).
	KernelIdent string `json:"kernel_ident,omitempty"`
	// KernelOptions lists the options that the kernel was built with: NAME or NAME=value, sorted.
	KernelOptions []string `json:"kernel_options,omitempty"`
	// Machine is the manufacturer's name of the hardware.
	Machine string `json:"machine,omitempty"`
	// Hypervisor is the kind of virtual machine, "none" on bare metal.
	Hypervisor string `json:"hypervisor,omitempty"`
	// Container is the container manager, in systemd's terms, of a host that is a container: lxc,
	// systemd-nspawn, docker; else "". The kernel is then that of another host.
	Container string `json:"container,omitempty"`
	// Clocksource is the kernel's time source (tsc, hpet …).
	Clocksource string `json:"clocksource,omitempty"`
	// UptimeSeconds is the time since boot.
	UptimeSeconds float64 `json:"uptime_s,omitempty"`

	CPU    CPU    `json:"cpu"`
	Memory Memory `json:"memory"`
	// NICs are the network interfaces, hardware and cloned, in the system's order; those only named
	// in rc.conf come last, with Configured set.
	NICs []NIC `json:"nics"`
	// Jailed means that the facts are as seen inside a jail.
	Jailed bool `json:"jailed,omitempty"`

	Interrupts []Interrupt `json:"interrupts,omitempty"`
	Modules    []Module    `json:"modules,omitempty"`
	Firewall   Firewall    `json:"firewall"`
	// Shapers limit traffic to a rate, as configured on an appliance.
	Shapers []Shaper `json:"shapers,omitempty"`
	// Services are daemons whose own configuration is coupled to tunables.
	Services []Service `json:"services,omitempty"`
	// Writers lists the programs on the host that write tunables by themselves, by the catalogue's
	// names; nil if the catalogue was not consulted.
	Writers []string `json:"writers,omitempty"`
	// Listeners are the sockets that accept connections.
	Listeners []Listener `json:"listeners,omitempty"`
	Mounts    []Mount    `json:"mounts,omitempty"`
	// Settings are sorted by name, then namespace.
	Settings []Tunable `json:"settings"`
	// Problems are lines of configuration files that set nothing: the system rejects them, or
	// reading them would require executing them.
	Problems []Problem `json:"problems,omitempty"`
	// Counters are kernel counters since boot, sorted by name.
	Counters []Counter `json:"counters,omitempty"`
	// Complaints are lines of the boot log in which the system complains about a setting or a
	// driver.
	Complaints []Complaint `json:"complaints,omitempty"`
	// Sources are the files and commands read, in that order.
	Sources []Source `json:"sources"`
	// LeftOut lists what a capture deliberately omitted, and why.
	LeftOut []LeftOut `json:"left_out,omitempty"`

	// counterAt is an index used while counters are added.
	counterAt map[string]int
}

// Product is an appliance's system on top of its base release.
type Product struct {
	// Name is linerate's name in lower case, such as opnsense; Title the maker's.
	Name  string `json:"name"`
	Title string `json:"title"`
	// Version is the product's own release, "" if unknown.
	Version string `json:"version,omitempty"`
	// As is the release assumed for it, if its own is unknown.
	As string `json:"judged_as,omitempty"`
	// Config is the file with the product's settings, "" if it was not read.
	Config string `json:"config,omitempty"`
	// Rewrites lists files that the product regenerates; a line added by hand is lost.
	Rewrites []string `json:"rewrites,omitempty"`
}

// Origin says where facts were read.
type Origin struct {
	// Kind is "host", "ssh", "bundle" or "tree".
	Kind string `json:"kind"`
	// Path is the bundle's file, the tree's directory, or ssh://host.
	Path string `json:"path,omitempty"`
	// Taken is when a bundle or a host over SSH was captured (RFC 3339), "" if unknown.
	Taken string `json:"taken,omitempty"`
	// Alone means that only some of the host's files were given. The others are unknown, so the
	// absence of a line implies nothing.
	Alone bool `json:"alone,omitempty"`
	// Told lists facts given by the caller, because no source has them: "memory", "cpus".
	Told []string `json:"told,omitempty"`
	// Shipped is the distribution whose kernel is assumed, if a tree does not name a kernel:
	// "debian 12".
	Shipped string `json:"shipped,omitempty"`
}

// Kinds of Origin.
const (
	KindHost   = "host"
	KindSSH    = "ssh"
	KindBundle = "bundle"
	KindTree   = "tree"
)

// Status of a Source.
const (
	StatusRead       = "read"       // read in full
	StatusPartial    = "partial"    // read, but truncated or with unreadable parts
	StatusMissing    = "missing"    // no such file or command
	StatusUnreadable = "unreadable" // exists, but reading failed
	StatusLeftOut    = "left-out"   // deliberately not captured
	StatusIgnored    = "ignored"    // exists, but the system never reads it
)

// Source is one file or command read for facts.
type Source struct {
	// Name is the file's path or the command line.
	Name   string `json:"name"`
	Status string `json:"status"`
	// Reason says why a source was not read in full.
	Reason string `json:"reason,omitempty"`
}

// LeftOut is something that a capture omitted.
type LeftOut struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Problem is a line of a configuration file that sets nothing.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
	// Kind is one of the kinds below.
	Kind string `json:"kind"`
	// Message says what is wrong, in the system's own words if possible.
	Message string `json:"message"`
	// Detail is a number that the message contains, such as another line's.
	Detail string `json:"detail,omitempty"`
}

// Kinds of Problem.
const (
	ProblemSyntax     = "syntax"     // the system itself rejects the line
	ProblemStops      = "stops"      // the shell stops reading the file there, and so the boot stops
	ProblemUnreadable = "unreadable" // valid, but would have to be executed
	ProblemInclude    = "include"    // includes a missing file
	ProblemSlip       = "slip"       // a case of slips.txt; Message names it
	ProblemIgnored    = "ignored"    // a word that its program passes over
	ProblemRefused    = "refused"    // a word with which its program refuses the whole file
)

// GoesOn ends the message of a ProblemStops after which init(8) still enters multi-user mode.
const GoesOn = ", and init(8) goes on without it"

// Complaint is a line of the boot log.
type Complaint struct {
	Text string `json:"text"`
	// About is the tunable, module or device concerned, "" if unclear.
	About string `json:"about,omitempty"`
}

// Module is a kernel module, loaded or configured to be loaded.
type Module struct {
	// Name has no ".ko" and no path.
	Name string `json:"name"`
	// Loaded is nil if the list of loaded modules could not be read.
	Loaded *bool `json:"loaded,omitempty"`
	// InKernel means that it is compiled into the kernel.
	InKernel bool `json:"in_kernel,omitempty"`
	// Lines are the file lines that load it (loader.conf, kld_list).
	Lines []Line `json:"lines,omitempty"`
}

// Mount is one mounted or configured file system.
type Mount struct {
	Point string `json:"point"`
	Type  string `json:"type"`
}

// Service is a daemon, with the parts of its configuration that are coupled to tunables.
type Service struct {
	// Name is the daemon: nginx, apache, named, unbound, sshd …
	Name string `json:"name"`
	// Enabled is nil if unknown.
	Enabled *bool `json:"enabled,omitempty"`
	// Details are lines of its configuration, such as accept_filter or backlog of its listening
	// sockets.
	Details []Line `json:"details,omitempty"`
}

// Listener is a socket that accepts connections, or a bound UDP socket.
type Listener struct {
	Protocol string `json:"protocol"` // tcp4, tcp6, tcp46, sctp, udp4 …
	Port     int    `json:"port"`
	// Local means that only this host can reach it.
	Local bool `json:"local"`
}

// Counter is a kernel counter.
type Counter struct {
	// Name is linerate's: area, object and instance, separated by dots (mbuf.denied.clusters,
	// nic.em0.input_drops, netisr.ip.queue_drops). docs/reference/facts.md lists them.
	Name  string `json:"name"`
	Value uint64 `json:"value"`
	// Source is the command that printed it.
	Source string `json:"source"`
}

// Normalise sorts everything with a defined order, so that equal hosts give equal documents.
func (f *Facts) Normalise() {
	f.Version = Version
	f.counterAt = nil
	sort.Slice(f.Settings, func(i, j int) bool {
		a, b := &f.Settings[i], &f.Settings[j]
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace)) < 0
	})
	list.Sort(f.Counters, func(a, b Counter) int { return cmp.Compare(a.Name, b.Name) })
	list.Sort(f.Modules, func(a, b Module) int { return cmp.Compare(a.Name, b.Name) })
	if f.NICs == nil {
		f.NICs = []NIC{}
	}
	if f.Settings == nil {
		f.Settings = []Tunable{}
	}
	if f.Sources == nil {
		f.Sources = []Source{}
	}
}

// Read reports whether a source whose name has the prefix, or is this file of configuration, was read, at
// least in part: only then does the absence of its facts mean anything.
func (f *Facts) Read(prefix string) bool {
	return slices.ContainsFunc(f.Sources, func(s Source) bool {
		return (s.Name == prefix || !strings.HasSuffix(prefix, ".conf") && strings.HasPrefix(s.Name, prefix)) && (s.Status == StatusRead || s.Status == StatusPartial)
	})
}

// Live reports whether the host's running values are known (from a host or a bundle), not only its
// files.
func (f *Facts) Live() bool {
	return slices.ContainsFunc(f.Settings, func(s Tunable) bool { return s.Live != nil })
}

// Counter returns a counter by name.
func (f *Facts) Counter(name string) (Counter, bool) {
	return sought(f.Counters, func(c Counter) int { return cmp.Compare(c.Name, name) })
}

// sought returns the element of a sorted list for which compare is 0.
func sought[T any](sorted []T, compare func(T) int) (v T, ok bool) {
	i, ok := slices.BinarySearchFunc(sorted, 0, func(x T, _ int) int { return compare(x) })
	if ok {
		v = sorted[i]
	}
	return v, ok
}

// Module returns a module by name.
func (f *Facts) Module(name string) (Module, bool) {
	return sought(f.Modules, func(m Module) int { return cmp.Compare(m.Name, name) })
}

// NIC returns an interface by name.
func (f *Facts) NIC(name string) (NIC, bool) {
	return list.Find(f.NICs, func(n NIC) bool { return n.Name == name })
}

// maxCounters is the maximum number of counters of a host: enough for thousands of interfaces.
const maxCounters = 100_000

// counter returns a counter, creating it if needed; nil beyond maxCounters.
func (f *Facts) counter(name, source string) *Counter {
	if f.counterAt == nil || len(f.counterAt) != len(f.Counters) { // rebuilt after external changes
		f.counterAt = make(map[string]int, len(f.Counters))
		for i, c := range f.Counters {
			f.counterAt[c.Name] = i
		}
	}
	if i, ok := f.counterAt[name]; ok {
		return &f.Counters[i]
	}
	if len(f.Counters) >= maxCounters {
		return nil
	}
	f.counterAt[name] = len(f.Counters)
	f.Counters = append(f.Counters, Counter{Name: name, Source: source})
	return &f.Counters[len(f.Counters)-1]
}

// AddCounter adds to a counter, creating it if needed.
func (f *Facts) AddCounter(name string, value uint64, source string) {
	if c := f.counter(name, source); c != nil {
		c.Value += value
	}
}

// MaxCounter raises a counter to a value, creating it if needed.
func (f *Facts) MaxCounter(name string, value uint64, source string) {
	if c := f.counter(name, source); c != nil {
		c.Value = max(c.Value, value)
	}
}
