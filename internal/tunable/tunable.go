// Package tunable is what is known of every tunable: what it is, on which
// releases it exists, where it can be set, what it is without being set, who
// claims what about it, and where all that was read.
//
// A Record is facts; a Claim is what somebody says. They are kept apart.
// Records are YAML in catalogue/, described in docs/reference/catalogue.md.
package tunable

import (
	"linerate/internal/fact/release"
	"linerate/internal/setting"
)

// Settable says when a tunable can be set.
type Settable string

// When a tunable can be set.
const (
	Boot        Settable = "boot"         // before the kernel or the module starts, or at the next boot
	Runtime     Settable = "runtime"      // while it runs
	BootRuntime Settable = "boot+runtime" // both
	ReadOnly    Settable = "read-only"    // never: it reports
)

// AtBoot reports whether a value given at boot takes effect.
func (s Settable) AtBoot() bool { return s == Boot || s == BootRuntime }

// AtRuntime reports whether a running system takes a new value.
func (s Settable) AtRuntime() bool { return s == Runtime || s == BootRuntime }

// Type is the kind of value a tunable holds, as `sysctl -t` names it for
// sysctls; the others use the nearest.
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
	// YesNo is rc.conf's and loader.conf's switch: YES or NO in any case.
	YesNo Type = "yesno"
	// List is words separated by blanks or commas.
	List Type = "list"
	// Numbers is a vector: whole numbers separated by blanks (net.ipv4.tcp_rmem).
	Numbers Type = "vector"
	// Flag is there or not (mount options, interface flags).
	Flag Type = "flag"
)

// Scope is what one setting governs.
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
	RouteScope  Scope = "route"     // what takes one route (Linux)
	SocketScope Scope = "socket"    // one socket (Linux)
	User        Scope = "user"      // one user (Linux)
)

// WholeKernel reports a scope that network namespaces share: what one of a lab sets holds in all.
func (s Scope) WholeKernel() bool { return s == Host || s == IPCNS || s == Namespace }

// All is how the value of conf.all and that of a device go together in a
// Linux record that has both.
type All string

// How conf.all and a device's own value make the one that acts.
const (
	AllMax     All = "max"     // the greater of the two
	AllOr      All = "or"      // on when either is
	AllAnd     All = "and"     // on when both are
	AllRole    All = "or-and"  // or; on devices that forward, and
	AllSets    All = "sets"    // writing all writes every device, and default
	AllMin     All = "min"     // the lesser of the two
	AllWins    All = "wins"    // all, where it is not 0, else the device's
	AllOnly    All = "only"    // all alone decides
	AllIgnored All = "ignored" // all has no effect; the device's value alone
)

// Reset is what setting a tunable costs a running host.
type Reset string

// The costs of setting a tunable.
const (
	NoReset    Reset = "none"
	LinkFlap   Reset = "link-flap" // the interface goes down and up
	Restart    Reset = "service"   // a service must be restarted
	Reload     Reset = "module"    // the module must be loaded anew
	NeedReboot Reset = "reboot"    // takes effect at the next boot
	NewSockets Reset = "new"       // only sockets, processes, states … made later feel it
	Remount    Reset = "remount"   // the file system must be mounted anew
)

// Record is what is known of one tunable. The fields up to Formula say how it
// is on the releases from Since on; Changes say what differs where.
type Record struct {
	// Name is as the system spells it, the unit number of a device replaced
	// by N (dev.igb.N.fc), an interface's name by IF (ifconfig_IF). Names of
	// mechanisms without a separate namespace carry a prefix
	// ("pf.conf:limit.states", "login.conf:openfiles").
	Name string `yaml:"name"`
	// Drivers expand {driver} in Name into one record each. "igc@13.1" is a
	// driver that came with that release.
	Drivers []string `yaml:"drivers"`
	// Instances are concrete names of a templated record that lists show too.
	Instances []string          `yaml:"instances"`
	Mechanism setting.Mechanism `yaml:"mechanism"`
	Type      Type              `yaml:"type"`
	// Unit is of the value: bytes, ms, s, packets, percent … "" for a pure
	// number or a choice.
	Unit     string   `yaml:"unit"`
	Settable Settable `yaml:"settable"`
	// Since is the first release that has it; zero when it is older than the
	// oldest release of the catalogue (FreeBSD 11.0, Linux 5.10). A Linux
	// release is mainline's; Backports says who has it earlier.
	Since release.Release `yaml:"since"`
	// Removed is the first release without it; zero while it exists.
	Removed release.Release `yaml:"removed"`
	// RenamedTo is the name that took its place, with the same meaning.
	RenamedTo string `yaml:"renamed_to"`
	// AliasOf is the record of which this is a second spelling.
	AliasOf string `yaml:"alias_of"`
	// Default is what the system has when it is not set, as `sysctl -n`
	// prints it. nil when there is none (reports) or it is Formula's.
	Default *string `yaml:"default"`
	// Formula is an expression for the default where the system computes it
	// from the machine.
	Formula string `yaml:"formula"`
	// Effective says what a default of "automatic" means in effect (0 → 16
	// frames), in words.
	Effective string `yaml:"effective"`
	Scope     Scope  `yaml:"scope"`
	// Module is the kernel module that brings it; "" when it is in every
	// GENERIC kernel.
	Module string `yaml:"module"`
	// KernelOption is what the kernel must be built with.
	KernelOption string `yaml:"kernel_option"`
	// Reset is what setting it costs; a record that is silent takes its
	// mechanism's: nothing at runtime, a reboot where only a boot reads it.
	Reset       Reset       `yaml:"reset"`
	Constraints Constraints `yaml:"constraints"`
	Changes     []Change    `yaml:"changes"`

	// Summary says what it does, in our words.
	Summary string `yaml:"summary"`
	// Helps and Hurts say when raising or setting it does.
	Helps     string           `yaml:"helps"`
	Hurts     string           `yaml:"hurts"`
	Cautions  []Caution        `yaml:"cautions"`
	Coupled   []Coupling       `yaml:"coupled"`
	Recommend []Recommendation `yaml:"recommend"`
	// Concept is the idea that other systems have too; see concepts.yaml.
	Concept string   `yaml:"concept"`
	Related []string `yaml:"related"`
	// Notes are corrections: where a claim or a seed's arithmetic is wrong.
	Notes   []string `yaml:"notes"`
	Sources []string `yaml:"sources"`
	// WithAll is for Linux records with conf.all among their instances.
	WithAll All `yaml:"with_all"`
	// InstanceDefaults are defaults of instances that differ from Default.
	InstanceDefaults map[string]string `yaml:"instance_defaults"`
	// Backports names kernels older than Since that have it, and newer than
	// Removed that still do: "RHEL 8.6 (4.18)", "5.15.46 stable".
	Backports []string `yaml:"backports"`
	// Checked says what of the record was checked, against which release.
	Checked []Check `yaml:"checked"`
	// Decode names how a number is taken apart for people: "harvest" is the
	// entropy sources of kern.random.harvest.mask.
	Decode string `yaml:"decode"`
	// Vectors are worked examples of Formula, for the tests.
	Vectors []Vector `yaml:"vectors" cbor:"-"`
	// Levels are the values worth trying where one tunes by experiment.
	Levels []Level `yaml:"levels"`

	// OS, Subsystem and Driver are from the file and the expansion.
	OS        string `yaml:"-"`
	Subsystem string `yaml:"-"`
	Driver    string `yaml:"-"`
	// File and Line say where the record stands.
	File string `yaml:"-"`
	Line int    `yaml:"-"`
}

// Check is one check of a record.
type Check struct {
	// Release is the one it was checked on.
	Release release.Release `yaml:"release"`
	// How is probed (a running kernel was asked), source (its text was read)
	// or documentation.
	How string `yaml:"how"`
	// What was checked: exists, access, default, range, scope, effect …
	What []string `yaml:"what"`
	// Note is what came of it, where the record does not say.
	Note string `yaml:"note"`
}

// Constraints bound the value.
type Constraints struct {
	Min        *float64 `yaml:"min"`
	Max        *float64 `yaml:"max"`
	PowerOfTwo bool     `yaml:"power_of_two"`
	// RoundedUp: a running system makes of what is no power of two the next one; at boot
	// it stays. Outside is of the bounds then.
	RoundedUp bool `yaml:"rounded_up"`
	// OnlyRaise: a running system refuses a smaller value.
	OnlyRaise bool `yaml:"only_raise"`
	// Multiple: the value must be a multiple of it.
	Multiple float64 `yaml:"multiple"`
	// Mask: the number is bits; more is not greater.
	Mask bool `yaml:"mask"`
	// Count is how many numbers a vector has.
	Count int `yaml:"count"`
	// Together: all numbers of a vector are stored, or none; without it each is stored
	// as it is read, up to the first that is refused.
	Together bool `yaml:"together"`
	// Jiffies: Linux keeps the time in timer ticks, rounds it up to one (of
	// 1 to 10 ms) and takes no more than 2147483647 of them.
	Jiffies bool `yaml:"jiffies"`
	// Values are the only ones allowed, for choices; Meaning explains some.
	// Meaning without Values: the system takes any number.
	Values  []string          `yaml:"values"`
	Meaning map[string]string `yaml:"meaning"`
	// Depends is a bound that another setting, the driver or the hardware
	// gives, in words: "at most the driver's maximum (ethtool -g IF)".
	Depends string `yaml:"depends"`
	// Clamped is short for outside: clamped.
	Clamped bool `yaml:"clamped" json:"-" cbor:"Clamped"`
	// Outside is what the system does with a value that these bounds do not allow; "" while
	// not known.
	Outside Outside `yaml:"outside"`
}

// Outside is what a system does with a value outside a tunable's bounds.
type Outside string

// What systems do with such values.
const (
	Refused Outside = "refused" // EINVAL; at boot the value is passed over
	Clamped Outside = "clamped" // the nearest bound is taken
	Rounded Outside = "rounded" // the next value that fits is taken
	OwnSize Outside = "default" // the system takes its own default
	Wrapped Outside = "wrapped" // the low bits are taken: another number
	Taken   Outside = "taken"   // it is stored without a check
	Off     Outside = "off"     // it counts as NO
	One     Outside = "one"     // a number that is not 0 counts as 1
	Fatal   Outside = "fatal"   // the kernel stops: it panics, or does not boot
)

// Change is what differs from the record on some releases: those from From on
// and before Until. A zero From is the beginning, a zero Until the end.
// Later changes override earlier ones; only the fields given change.
type Change struct {
	From      release.Release   `yaml:"from"`
	Until     release.Release   `yaml:"until"`
	Exists    *bool             `yaml:"exists"`
	Settable  Settable          `yaml:"settable"`
	Type      Type              `yaml:"type"`
	Unit      string            `yaml:"unit"`
	Mechanism setting.Mechanism `yaml:"mechanism"`
	Default   *string           `yaml:"default"`
	Formula   *string           `yaml:"formula"`
	Effective string            `yaml:"effective"`
	Scope     Scope             `yaml:"scope"`
	Module    *string           `yaml:"module"`
	// Constraints, where given, replace the record's whole.
	Constraints *Constraints `yaml:"constraints"`
	// Why names the commit, release note or file that says so.
	Why string `yaml:"why"`
}

// Caution warns when an expression over facts holds; without one, always. Conditions have
// words in conditions.yaml.
type Caution struct {
	When string `yaml:"when"`
	Text string `yaml:"text"`
	// Fix is what to do about a line, where removing it is not the answer.
	Fix string `yaml:"fix"`
	// Kind is harmful, ineffective, memory, order, security or note.
	Kind    string   `yaml:"kind"`
	Vectors []Vector `yaml:"vectors" cbor:"-"`
}

// Coupling is another tunable whose value must agree with this one.
type Coupling struct {
	Name string `yaml:"name"`
	// Holds is the expression that must be true of the two, with `this` for
	// this tunable's value and `other` for the other's; "" for "see also".
	Holds   string   `yaml:"holds"`
	Why     string   `yaml:"why"`
	Vectors []Vector `yaml:"vectors" cbor:"-"`
}

// Recommendation is a value for a role, with the reason.
type Recommendation struct {
	Role string `yaml:"role"`
	// Value or Formula, or, without a number to name, Do.
	Value   string `yaml:"value"`
	Formula string `yaml:"formula"`
	// Do is leave, raise, bound, measure or choose; "" is leave.
	Do      string   `yaml:"do"`
	When    string   `yaml:"when"`
	Reason  string   `yaml:"reason"`
	Vectors []Vector `yaml:"vectors" cbor:"-"`
}

// Level is a value that is worth trying where one tunes by experiment: legal,
// undone by writing the old one back, and no danger to the host.
type Level struct {
	// Value, or Formula over the host's facts.
	Value   string `yaml:"value"`
	Formula string `yaml:"formula"`
	// When is the condition under which it is worth trying; "" is always.
	When string `yaml:"when"`
	// Source is who proposes it: a manual, a kernel's comment, a published
	// configuration.
	Source  string   `yaml:"source"`
	Vectors []Vector `yaml:"vectors" cbor:"-"`
}

// Vector is a worked example of an expression.
type Vector struct {
	// With are variables of the environment (memory, cpus, role …), `this`
	// and `other`.
	With map[string]any `yaml:"with"`
	// Values are tunables that value() and text() see.
	Values map[string]string `yaml:"values"`
	// Want is the result, written as `sysctl -n` would (true, false for
	// conditions).
	Want string `yaml:"want"`
	// From says who worked it out: a host's report, a seed, by hand.
	From string `yaml:"from"`
}
