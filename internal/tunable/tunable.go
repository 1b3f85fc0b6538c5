// Package tunable describes tunables: what each is, on which releases it exists,
// where it can be set, its default, who claims what about it, and the sources of
// all that.
//
// A Record is facts; a Claim is what someone says. They are kept apart.
// Records are YAML in catalogue/, described in docs/reference/catalogue.md.
package tunable

import (
	"linerate/internal/fact/release"
	"linerate/internal/setting"
)

// Settable says when a tunable can be set.
type Settable string

// The times when a tunable can be set.
const (
	Boot        Settable = "boot"         // before the kernel or the module starts, or at the next boot
	Runtime     Settable = "runtime"      // while it runs
	BootRuntime Settable = "boot+runtime" // both
	ReadOnly    Settable = "read-only"    // never: it only reports
)

// AtBoot reports whether a value set for the boot takes effect.
func (s Settable) AtBoot() bool { return s == Boot || s == BootRuntime }

// AtRuntime reports whether a running system accepts a new value.
func (s Settable) AtRuntime() bool { return s == Runtime || s == BootRuntime }

// Type is the type of a tunable's value, as `sysctl -t` prints it for sysctls; others use the
// closest.
type Type string

// The types of the catalogue.
const (
	Int    Type = "int"
	Uint   Type = "uint"
	Long   Type = "long"
	Ulong  Type = "ulong"
	S8     Type = "s8"
	S16    Type = "s16"
	S32    Type = "s32"
	S64    Type = "s64"
	U8     Type = "u8"
	U16    Type = "u16"
	U32    Type = "u32"
	U64    Type = "u64"
	Bool   Type = "bool"
	String Type = "string"
	Opaque Type = "opaque"
	Node   Type = "node"
	// YesNo is the switch of rc.conf and loader.conf: YES or NO in any case.
	YesNo Type = "yesno"
	// List is a list of words separated by blanks or commas.
	List Type = "list"
	// Numbers is a vector: integers separated by blanks (net.ipv4.tcp_rmem).
	Numbers Type = "vector"
	// Flag is present or absent (mount options, interface flags).
	Flag Type = "flag"
)

// Scope is what a setting applies to.
type Scope string

// The scopes of the catalogue.
const (
	Host      Scope = "host"      // the whole machine
	VNET      Scope = "vnet"      // one network stack; a jail with its own has its own value
	Jail      Scope = "jail"      // one jail
	Interface Scope = "interface" // one device or interface
	Process   Scope = "process"   // one process or login class
	FS        Scope = "filesystem"

	NetNS       Scope = "netns"     // one network namespace (Linux)
	IPCNS       Scope = "ipcns"     // one IPC namespace (Linux)
	Namespace   Scope = "namespace" // one UTS, PID or user namespace (Linux)
	Device      Scope = "device"    // one network device, or one of its queues (Linux)
	RouteScope  Scope = "route"     // what uses one route (Linux)
	SocketScope Scope = "socket"    // one socket (Linux)
	User        Scope = "user"      // one user (Linux)
)

// WholeKernel reports whether network namespaces share the setting: if one of a lab sets it, it applies to all.
func (s Scope) WholeKernel() bool { return s == Host || s == IPCNS || s == Namespace }

// All says how a Linux kernel combines the values of conf.all and of a device.
type All string

// The ways to combine conf.all with a device's own value.
const (
	AllMax     All = "max"     // the greater of the two
	AllOr      All = "or"      // on if either is
	AllAnd     All = "and"     // on if both are
	AllRole    All = "or-and"  // or; and on devices that forward
	AllSets    All = "sets"    // writing all writes every device and default
	AllMin     All = "min"     // the lesser of the two
	AllWins    All = "wins"    // all if it is not 0, else the device's
	AllOnly    All = "only"    // only all counts
	AllIgnored All = "ignored" // all has no effect, only the device's value counts
)

// Reset is the effect on a running host of setting a tunable.
type Reset string

// The costs of setting a tunable.
const (
	NoReset    Reset = "none"
	LinkFlap   Reset = "link-flap" // the interface goes down and up
	Restart    Reset = "service"   // a service must be restarted
	Reload     Reset = "module"    // the module must be reloaded
	NeedReboot Reset = "reboot"    // takes effect at the next boot
	NewSockets Reset = "new"       // only affects sockets, processes, states … created later
	Remount    Reset = "remount"   // the file system must be remounted
)

// Record is what is known of one tunable. The fields up to Formula describe the releases from Since
// on; Changes has the differences on others.
type Record struct {
	// Name is the system's spelling, with N for the unit number of a device (dev.igb.N.fc) and IF
	// for an interface (ifconfig_IF). Names of mechanisms without a namespace of their own have a
	// prefix ("pf.conf:limit.states", "login.conf:openfiles").
	Name string `yaml:"name" cbor:",omitzero"`
	// Drivers expands {driver} in Name into one record each. "igc@13.1" is a driver introduced in
	// that release.
	Drivers []string `yaml:"drivers" cbor:",omitzero"`
	// Instances are concrete names of a templated record that lists also show.
	Instances []string          `yaml:"instances" cbor:",omitzero"`
	Mechanism setting.Mechanism `yaml:"mechanism" cbor:",omitzero"`
	Type      Type              `yaml:"type" cbor:",omitzero"`
	// Unit is the unit of the value: bytes, ms, s, packets, percent …; "" for a pure number or a
	// choice.
	Unit     string   `yaml:"unit" cbor:",omitzero"`
	Settable Settable `yaml:"settable" cbor:",omitzero"`
	// Since is the first release that has it; zero if it is older than the oldest release of the
	// catalogue (FreeBSD 11.0, Linux 5.10). A Linux release is mainline's; Backports lists kernels
	// that have it earlier.
	Since release.Release `yaml:"since" cbor:",omitzero"`
	// Removed is the first release without it; zero while it exists.
	Removed release.Release `yaml:"removed" cbor:",omitzero"`
	// RenamedTo is the new name with the same meaning.
	RenamedTo string `yaml:"renamed_to" cbor:",omitzero"`
	// AliasOf is the record of which this is another spelling.
	AliasOf string `yaml:"alias_of" cbor:",omitzero"`
	// Default is the value when it is not set, as printed by `sysctl -n`. It is nil if there is
	// none (read-only reports), or Formula computes it.
	Default *string `yaml:"default" cbor:",omitzero"`
	// Formula is an expression for a default that the system computes from the machine.
	Formula string `yaml:"formula" cbor:",omitzero"`
	// Effective says what a default of "automatic" amounts to (0 → 16 frames).
	Effective string `yaml:"effective" cbor:",omitzero"`
	Scope     Scope  `yaml:"scope" cbor:",omitzero"`
	// Module is the kernel module that provides it; "" if it is in every GENERIC kernel.
	Module string `yaml:"module" cbor:",omitzero"`
	// KernelOption is the option that the kernel must be built with.
	KernelOption string `yaml:"kernel_option" cbor:",omitzero"`
	// Reset is the cost of setting it; if omitted it follows from the mechanism: nothing at run
	// time, a reboot if only the boot reads it.
	Reset       Reset       `yaml:"reset" cbor:",omitzero"`
	Constraints Constraints `yaml:"constraints" cbor:",omitzero"`
	Changes     []Change    `yaml:"changes" cbor:",omitzero"`

	// Summary says what it does, paraphrased.
	Summary string `yaml:"summary" cbor:",omitzero"`
	// Helps and Hurts say when raising or setting it does so.
	Helps     string           `yaml:"helps" cbor:",omitzero"`
	Hurts     string           `yaml:"hurts" cbor:",omitzero"`
	Cautions  []Caution        `yaml:"cautions" cbor:",omitzero"`
	Coupled   []Coupling       `yaml:"coupled" cbor:",omitzero"`
	Recommend []Recommendation `yaml:"recommend" cbor:",omitzero"`
	// Concept is the idea shared with other systems; see concepts.yaml.
	Concept string   `yaml:"concept" cbor:",omitzero"`
	Related []string `yaml:"related" cbor:",omitzero"`
	// Notes are corrections of claims or of their arithmetic.
	Notes   []string `yaml:"notes" cbor:",omitzero"`
	Sources []string `yaml:"sources" cbor:",omitzero"`
	// WithAll is for Linux records that have conf.all among their instances.
	WithAll All `yaml:"with_all" cbor:",omitzero"`
	// InstanceDefaults holds defaults of instances that differ from Default.
	InstanceDefaults map[string]string `yaml:"instance_defaults" cbor:",omitzero"`
	// Backports lists kernels older than Since that have it, and newer than Removed that still do:
	// "RHEL 8.6 (4.18)", "5.15.46 stable".
	Backports []string `yaml:"backports" cbor:",omitzero"`
	// Checked lists checks of the record, with their releases.
	Checked []Check `yaml:"checked" cbor:",omitzero"`
	// Decode names the decoder of the number: "harvest" for the entropy sources of
	// kern.random.harvest.mask.
	Decode string `yaml:"decode" cbor:",omitzero"`
	// Vectors are worked examples of Formula for tests.
	Vectors []Vector `yaml:"vectors" cbor:"-"`
	// Levels are the values worth trying when tuning by experiment.
	Levels []Level `yaml:"levels" cbor:",omitzero"`

	// OS, Subsystem and Driver come from the file and the expansion.
	OS        string `yaml:"-" cbor:",omitzero"`
	Subsystem string `yaml:"-" cbor:",omitzero"`
	Driver    string `yaml:"-" cbor:",omitzero"`
	// File and Line are the position of the record.
	File string `yaml:"-" cbor:",omitzero"`
	Line int    `yaml:"-" cbor:",omitzero"`
}

// Check is one check of a record.
type Check struct {
	// Release is the release on which it was checked.
	Release release.Release `yaml:"release" cbor:",omitzero"`
	// How is probed (on a running kernel), source (in its source code) or documentation.
	How string `yaml:"how" cbor:",omitzero"`
	// What lists what was checked: exists, access, default, range, scope, effect …
	What []string `yaml:"what" cbor:",omitzero"`
	// Note is the result, if the record does not contain it.
	Note string `yaml:"note" cbor:",omitzero"`
}

// Constraints limit the value.
type Constraints struct {
	Min        *float64 `yaml:"min" cbor:",omitzero"`
	Max        *float64 `yaml:"max" cbor:",omitzero"`
	PowerOfTwo bool     `yaml:"power_of_two" cbor:",omitzero"`
	// RoundedUp means that a running system rounds up to the next power of two; at boot the value
	// stays. Outside then refers to the bounds.
	RoundedUp bool `yaml:"rounded_up" cbor:",omitzero"`
	// OnlyRaise means that a running system refuses a smaller value.
	OnlyRaise bool `yaml:"only_raise" cbor:",omitzero"`
	// Multiple is the number of which the value must be a multiple.
	Multiple float64 `yaml:"multiple" cbor:",omitzero"`
	// Mask means that the number is a set of bits: a larger one is not more.
	Mask bool `yaml:"mask" cbor:",omitzero"`
	// Count is the number of elements of a vector.
	Count int `yaml:"count" cbor:",omitzero"`
	// Together means that a vector is stored as a whole or not at all; otherwise each number is
	// stored when read, up to the first that is refused.
	Together bool `yaml:"together" cbor:",omitzero"`
	// Jiffies means that Linux stores the time in timer ticks (of 1 to 10 ms), rounds it up to one
	// tick, and accepts at most 2147483647 of them.
	Jiffies bool `yaml:"jiffies" cbor:",omitzero"`
	// Values are the only allowed ones, for choices; Meaning explains some. With Meaning alone the
	// system accepts any number.
	Values  []string          `yaml:"values" cbor:",omitzero"`
	Meaning map[string]string `yaml:"meaning" cbor:",omitzero"`
	// Depends describes a limit set by another setting, the driver or the hardware: "at most the
	// driver's maximum (ethtool -g IF)".
	Depends string `yaml:"depends" cbor:",omitzero"`
	// Clamped is short for outside: clamped.
	Clamped bool `yaml:"clamped" json:"-" cbor:",omitzero"`
	// Outside is what the system does with a value outside these constraints; "" if unknown.
	Outside Outside `yaml:"outside" cbor:",omitzero"`
}

// Outside is what a system does with a value outside a tunable's bounds.
type Outside string

// The treatments of such values.
const (
	Refused Outside = "refused" // EINVAL; at boot the value is ignored
	Clamped Outside = "clamped" // the nearest bound is used
	Rounded Outside = "rounded" // the next valid value is used
	OwnSize Outside = "default" // the system uses its default
	Wrapped Outside = "wrapped" // the low bits are used: another number
	Taken   Outside = "taken"   // stored unchecked
	Off     Outside = "off"     // it counts as NO
	One     Outside = "one"     // any number but 0 counts as 1
	Fatal   Outside = "fatal"   // the kernel stops: it panics, or does not boot
)

// Change is the difference from the record on some releases: those from From on and before Until. A
// zero From is the beginning, a zero Until the end. Later changes override earlier ones; fields
// that are not given stay.
type Change struct {
	From      release.Release   `yaml:"from" cbor:",omitzero"`
	Until     release.Release   `yaml:"until" cbor:",omitzero"`
	Exists    *bool             `yaml:"exists" cbor:",omitzero"`
	Settable  Settable          `yaml:"settable" cbor:",omitzero"`
	Type      Type              `yaml:"type" cbor:",omitzero"`
	Unit      string            `yaml:"unit" cbor:",omitzero"`
	Mechanism setting.Mechanism `yaml:"mechanism" cbor:",omitzero"`
	Default   *string           `yaml:"default" cbor:",omitzero"`
	Formula   *string           `yaml:"formula" cbor:",omitzero"`
	Effective string            `yaml:"effective" cbor:",omitzero"`
	Scope     Scope             `yaml:"scope" cbor:",omitzero"`
	Module    *string           `yaml:"module" cbor:",omitzero"`
	// Constraints, if given, replace all of the record's.
	Constraints *Constraints `yaml:"constraints" cbor:",omitzero"`
	// Why names the commit, release note or file as evidence.
	Why string `yaml:"why" cbor:",omitzero"`
}

// Caution is a warning for hosts on which an expression holds; without one, for all.
// conditions.yaml describes the conditions.
type Caution struct {
	When string `yaml:"when" cbor:",omitzero"`
	Text string `yaml:"text" cbor:",omitzero"`
	// Fix says what to do about a line if not remove it.
	Fix string `yaml:"fix" cbor:",omitzero"`
	// Kind is harmful, ineffective, memory, order, security or note.
	Kind    string   `yaml:"kind" cbor:",omitzero"`
	Vectors []Vector `yaml:"vectors" cbor:"-"`
}

// Coupling is another tunable whose value must agree with this one.
type Coupling struct {
	Name string `yaml:"name" cbor:",omitzero"`
	// Holds is the required condition, with `this` for this tunable's value and `other` for the
	// other's; "" means "see also".
	Holds   string   `yaml:"holds" cbor:",omitzero"`
	Why     string   `yaml:"why" cbor:",omitzero"`
	Vectors []Vector `yaml:"vectors" cbor:"-"`
}

// Recommendation is a value for a role, with a reason.
type Recommendation struct {
	Role string `yaml:"role" cbor:",omitzero"`
	// Value or Formula is the value; Do is for advice without a number.
	Value   string `yaml:"value" cbor:",omitzero"`
	Formula string `yaml:"formula" cbor:",omitzero"`
	// Do is leave, raise, bound, measure or choose; "" means leave.
	Do      string   `yaml:"do" cbor:",omitzero"`
	When    string   `yaml:"when" cbor:",omitzero"`
	Reason  string   `yaml:"reason" cbor:",omitzero"`
	Vectors []Vector `yaml:"vectors" cbor:"-"`
}

// Level is a value worth trying when tuning by experiment: valid, reversible by writing the old
// value, and safe for the host.
type Level struct {
	// Value, or Formula over the host's facts.
	Value   string `yaml:"value" cbor:",omitzero"`
	Formula string `yaml:"formula" cbor:",omitzero"`
	// When is the condition under which it is worth trying; "" is always.
	When string `yaml:"when" cbor:",omitzero"`
	// Source says who proposes it: a manual, a kernel's comment, a published configuration.
	Source  string   `yaml:"source" cbor:",omitzero"`
	Vectors []Vector `yaml:"vectors" cbor:"-"`
}

// Vector is a worked example of an expression.
type Vector struct {
	// With holds variables of the environment (memory, cpus, role …), `this` and `other`.
	With map[string]any `yaml:"with" cbor:",omitzero"`
	// Values holds tunables for value() and text().
	Values map[string]string `yaml:"values" cbor:",omitzero"`
	// Want is the result in the format of `sysctl -n` (true or false for conditions).
	Want string `yaml:"want" cbor:",omitzero"`
	// From says where the example comes from: a host's report, a seed, by hand.
	From string `yaml:"from" cbor:",omitzero"`
}
