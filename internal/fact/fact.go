// Package fact is a snapshot of a host as pure data, with provenance: what
// it is, what it is made of, how it is set up — every setting's live value
// and every file line that sets it — and what its counters say. Where each
// piece came from, and what could not be read and why, is part of the facts.
//
// Parsers of a system's files and command outputs are in its sub-packages
// (fact/freebsd, fact/linux); package inspect fills Facts from a host, a
// capture bundle or a directory tree.
package fact

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/fact/release"
	"linerate/internal/list"
)

// Version is the version of the JSON document that Facts marshal to.
const Version = 1

// Operating systems that facts are about.
const (
	FreeBSD = "freebsd"
	Linux   = "linux"
)

// Facts is one host at one moment. A nil pointer, an empty slice or a zero
// number means "not known", never "none": ask Read whether a source was read.
type Facts struct {
	Version int `json:"version"`
	// From says what was inspected.
	From Origin `json:"from"`
	// OS is FreeBSD or Linux.
	OS      string          `json:"os"`
	Release release.Release `json:"release"`
	// Arch is the machine architecture as `uname -p` names it: amd64,
	// aarch64 (FreeBSD), x86_64 (Linux).
	Arch     string `json:"arch,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	// MachineID is the host's own identity whatever it is called: a digest of
	// machine-id(5) or kern.hostuuid (MachineIDOf); "" where it has none.
	MachineID string `json:"machine_id,omitempty"`
	// Distribution is a Linux host's own name for it (ID of os-release): debian,
	// openwrt; "" when it does not say.
	Distribution string `json:"distribution,omitempty"`
	// Product is the appliance that the host is, nil where it is none.
	Product *Product `json:"product,omitempty"`
	// Kernel is the kernel's own version text, one line.
	Kernel string `json:"kernel,omitempty"`
	// KernelIdent is the name of the kernel configuration (GENERIC).
	KernelIdent string `json:"kernel_ident,omitempty"`
	// KernelOptions are the options the kernel was built with: NAME or
	// NAME=value, sorted.
	KernelOptions []string `json:"kernel_options,omitempty"`
	// Machine is the maker's name of the hardware.
	Machine string `json:"machine,omitempty"`
	// Hypervisor is the kind of virtual machine, "none" on bare metal.
	Hypervisor string `json:"hypervisor,omitempty"`
	// Container is what runs the container that the host is, as systemd names it: lxc,
	// systemd-nspawn, docker; "" where it is none. The kernel is then another host's.
	Container string `json:"container,omitempty"`
	// Clocksource is what the kernel reads the time from (tsc, hpet …).
	Clocksource string `json:"clocksource,omitempty"`
	// UptimeSeconds is the time since boot.
	UptimeSeconds float64 `json:"uptime_s,omitempty"`

	CPU    CPU    `json:"cpu"`
	Memory Memory `json:"memory"`
	// NICs are the network interfaces, hardware and cloned, in the system's
	// order; those only named in rc.conf come last, with Configured set.
	NICs []NIC `json:"nics"`
	// Jailed: seen from inside a jail, with its view of the system.
	Jailed bool `json:"jailed,omitempty"`

	Interrupts []Interrupt `json:"interrupts,omitempty"`
	Modules    []Module    `json:"modules,omitempty"`
	Firewall   Firewall    `json:"firewall"`
	// Shapers hold traffic back to a rate, as an appliance sets them up.
	Shapers []Shaper `json:"shapers,omitempty"`
	// Services are daemons whose own configuration is coupled to tunables.
	Services []Service `json:"services,omitempty"`
	// Writers are the programs of the host that write tunables by themselves, by the
	// catalogue's names; nil where the catalogue was not asked.
	Writers []string `json:"writers,omitempty"`
	// Listeners are the sockets that accept connections.
	Listeners []Listener `json:"listeners,omitempty"`
	Mounts    []Mount    `json:"mounts,omitempty"`
	// Settings are sorted by name, then namespace.
	Settings []Tunable `json:"settings"`
	// Problems are lines of configuration files that set nothing: rejected
	// by the system, or beyond what can be read without executing it.
	Problems []Problem `json:"problems,omitempty"`
	// Counters are what the kernel counted since boot, sorted by name.
	Counters []Counter `json:"counters,omitempty"`
	// Complaints are lines of the boot log in which the system itself
	// complains of a setting or a driver.
	Complaints []Complaint `json:"complaints,omitempty"`
	// Sources are the files and commands asked, in the order asked.
	Sources []Source `json:"sources"`
	// LeftOut is what a capture left out on purpose, and why.
	LeftOut []LeftOut `json:"left_out,omitempty"`

	// counterAt finds counters while they are added.
	counterAt map[string]int
}

// Product is an appliance's own system over its base release.
type Product struct {
	// Name is linerate's, in small letters: opnsense; Title the maker's.
	Name  string `json:"name"`
	Title string `json:"title"`
	// Version is the product's own release, "" when not known.
	Version string `json:"version,omitempty"`
	// As is the release that it is judged as, where its own is not known.
	As string `json:"judged_as,omitempty"`
	// Config is the file in which the product keeps its settings, "" where it
	// was not read.
	Config string `json:"config,omitempty"`
	// Rewrites are files that the product writes anew; a line that is put there
	// by hand does not last.
	Rewrites []string `json:"rewrites,omitempty"`
}

// Origin says what facts were read from.
type Origin struct {
	// Kind is "host", "ssh", "bundle" or "tree".
	Kind string `json:"kind"`
	// Path is the bundle's file, the tree's directory, or ssh://host.
	Path string `json:"path,omitempty"`
	// Taken is when a bundle or a host over SSH was captured (RFC 3339), "" when not known.
	Taken string `json:"taken,omitempty"`
	// Alone: only some of the host's files were given. The others are not known, so nothing
	// follows from the absence of a line.
	Alone bool `json:"alone,omitempty"`
	// Told are facts that the caller gave, because no source has them:
	// "memory", "cpus".
	Told []string `json:"told,omitempty"`
	// Shipped is the distribution whose kernel the release is, where a tree names no kernel:
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
	StatusRead       = "read"       // read whole
	StatusPartial    = "partial"    // read, but cut or with unreadable parts
	StatusMissing    = "missing"    // no such file or command
	StatusUnreadable = "unreadable" // exists, and reading failed
	StatusLeftOut    = "left-out"   // not captured on purpose
	StatusIgnored    = "ignored"    // there, and never read by the system
)

// Source is one file or command that was asked for facts.
type Source struct {
	// Name is the file's path or the command's line.
	Name   string `json:"name"`
	Status string `json:"status"`
	// Reason says why a source is not read whole.
	Reason string `json:"reason,omitempty"`
}

// LeftOut is something that a capture refused to collect.
type LeftOut struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Problem is a line of a configuration file that sets nothing.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
	// Kind is ProblemSyntax, ProblemStops, ProblemUnreadable, ProblemInclude or ProblemSlip.
	Kind string `json:"kind"`
	// Message says what is wrong, in the system's words where it has some.
	Message string `json:"message"`
}

// Kinds of Problem.
const (
	ProblemSyntax     = "syntax"     // the system itself rejects the line
	ProblemStops      = "stops"      // the shell that reads the file ends there, and with it the boot
	ProblemUnreadable = "unreadable" // valid, but its meaning needs execution
	ProblemInclude    = "include"    // names a file that is not there
	ProblemSlip       = "slip"       // a case of slips.txt, which Message names
)

// GoesOn ends the message of a ProblemStops after which init(8) goes on to multi-user mode.
const GoesOn = ", and init(8) goes on without it"

// Complaint is a line of the boot log.
type Complaint struct {
	Text string `json:"text"`
	// About is the tunable, module or device the line is about, "" if unclear.
	About string `json:"about,omitempty"`
}

// Module is a kernel module, loaded or configured to be.
type Module struct {
	// Name is without ".ko" and path.
	Name string `json:"name"`
	// Loaded is nil when the list of loaded modules could not be read.
	Loaded *bool `json:"loaded,omitempty"`
	// InKernel is true when it is compiled into the kernel.
	InKernel bool `json:"in_kernel,omitempty"`
	// Lines are the file lines that load it (loader.conf, kld_list).
	Lines []Line `json:"lines,omitempty"`
}

// Mount is one mounted or configured file system.
type Mount struct {
	Point string `json:"point"`
	Type  string `json:"type"`
}

// Service is a daemon, with what its configuration says that a tunable is
// coupled to.
type Service struct {
	// Name is the daemon: nginx, apache, named, unbound, sshd …
	Name string `json:"name"`
	// Enabled is nil when not known.
	Enabled *bool `json:"enabled,omitempty"`
	// Details are settings of its configuration, such as accept_filter or
	// backlog of its listening sockets.
	Details []Line `json:"details,omitempty"`
}

// Listener is a socket that accepts connections.
type Listener struct {
	Protocol string `json:"protocol"` // tcp4, tcp6, tcp46, sctp, udp4 …
	Port     int    `json:"port"`
	// Local is true when only this host reaches it.
	Local bool `json:"local"`
}

// Counter is a number the kernel counted.
type Counter struct {
	// Name is linerate's: area, thing and instance with dots between
	// (mbuf.denied.clusters, nic.em0.input_drops, netisr.ip.queue_drops).
	// docs/reference/facts.md lists them.
	Name  string `json:"name"`
	Value uint64 `json:"value"`
	// Source is the command that printed it.
	Source string `json:"source"`
}

// Normalise sorts what has a defined order, so that equal hosts give equal
// documents.
func (f *Facts) Normalise() {
	f.Version = Version
	f.counterAt = nil
	slices.SortFunc(f.Settings, func(a, b Tunable) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	slices.SortFunc(f.Counters, func(a, b Counter) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(f.Modules, func(a, b Module) int { return cmp.Compare(a.Name, b.Name) })
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

// Read reports whether a source whose name is or starts with the prefix was
// read, whole or in part: only then does absence of its facts mean anything.
func (f *Facts) Read(prefix string) bool {
	return slices.ContainsFunc(f.Sources, func(s Source) bool {
		return strings.HasPrefix(s.Name, prefix) && (s.Status == StatusRead || s.Status == StatusPartial)
	})
}

// Live reports whether the host's running values are known (a host or a
// bundle), as opposed to its files only.
func (f *Facts) Live() bool {
	return slices.ContainsFunc(f.Settings, func(s Tunable) bool { return s.Live != nil })
}

// Counter returns a counter by name.
func (f *Facts) Counter(name string) (Counter, bool) {
	return sought(f.Counters, func(c Counter) int { return cmp.Compare(c.Name, name) })
}

// sought is the element of a sorted list for which compare is 0.
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

// maxCounters bounds the counters of a host: thousands of interfaces.
const maxCounters = 100_000

// counter finds a counter, or makes it; nil beyond the bound.
func (f *Facts) counter(name, source string) *Counter {
	if f.counterAt == nil || len(f.counterAt) != len(f.Counters) { // built anew after changes from outside
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

// AddCounter adds to a counter, making it if it is new.
func (f *Facts) AddCounter(name string, value uint64, source string) {
	if c := f.counter(name, source); c != nil {
		c.Value += value
	}
}

// MaxCounter raises a counter to a value, making it if it is new.
func (f *Facts) MaxCounter(name string, value uint64, source string) {
	if c := f.counter(name, source); c != nil {
		c.Value = max(c.Value, value)
	}
}
