package audit

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"

	"linerate/internal/fact/release"
	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/yamlfile"
)

// The subjects for which a rule is evaluated.
const (
	EachHost    = "host"    // the whole host
	EachLine    = "line"    // every effective line that sets one of Names, whether or not it overrides others
	EachLost    = "lost"    // every such line of an appliance's user that the appliance overwrites
	EachNIC     = "nic"     // every network interface
	EachShaper  = "shaper"  // every shaper of an appliance
	EachCounter = "counter" // every counter whose name matches one of Names
)

// Rule is one check as data: its finding is reported if its condition holds.
// docs/reference/audit.md lists the names in expressions; texts may contain expressions in ${}.
type Rule struct {
	ID       string   `yaml:"id" cbor:",omitzero"`
	Kind     Kind     `yaml:"kind" cbor:",omitzero"`
	Severity Severity `yaml:"severity" cbor:",omitzero"`
	Action   Action   `yaml:"action" cbor:",omitzero"`
	OS       string   `yaml:"os" cbor:",omitzero"`
	// Roles lists the roles that the rule is for; empty means all. "!" excludes a role.
	Roles []string `yaml:"roles" cbor:",omitzero"`
	// Since and Until limit the releases: from, and before.
	Since release.Release `yaml:"since" cbor:",omitzero"`
	Until release.Release `yaml:"until" cbor:",omitzero"`
	// Each is host (the default), line, lost, nic, shaper or counter.
	Each string `yaml:"each" cbor:",omitzero"`
	// Names lists the tunables (globs, with units folded as in the catalogue) or counters that a
	// rule for lines or counters applies to; "!" excludes.
	Names []string `yaml:"names" cbor:",omitzero"`
	// When is the condition; "" is always true.
	When string `yaml:"when" cbor:",omitzero"`
	// Worse is the condition under which the finding is one severity higher.
	Worse string `yaml:"worse" cbor:",omitzero"`
	// Name is the subject of the finding, a text with ${}; "" means the name of the line, interface
	// or counter.
	Name string `yaml:"name" cbor:",omitzero"`
	// At lists tunables, or "pf.conf:limit.NAME" for a pf limit, "pf.conf:scrub", "ipfw:nat",
	// "nft:notrack" for rules, "service:NAME:WORD" for a line of a daemon, "class:NAME" for an
	// interface of a driver class. The finding is placed at the first that a file of the host sets.
	At      []string `yaml:"at" cbor:",omitzero"`
	Message string   `yaml:"message" cbor:",omitzero"`
	Why     string   `yaml:"why" cbor:",omitzero"`
	Fix     string   `yaml:"fix" cbor:",omitzero"`
	// Sets lists the settings in the fix, NAME=VALUE, as texts with ${}.
	Sets    []string `yaml:"sets" cbor:",omitzero"`
	Sources []string `yaml:"sources" cbor:",omitzero"`
	// Covers lists the rules whose less specific finding at the same place is dropped.
	Covers []string `yaml:"covers" cbor:",omitzero"`
	// Fires and Silent are hosts on which the rule must and must not report.
	Fires  []Example `yaml:"fires" cbor:",omitzero"`
	Silent []Example `yaml:"silent" cbor:",omitzero"`

	file string
}

// Example is a small host for testing a rule.
type Example struct {
	Note    string `yaml:"note" cbor:",omitzero"`
	Release string `yaml:"release" cbor:",omitzero"`
	Role    string `yaml:"role" cbor:",omitzero"`
	// Files maps paths to the text of files.
	Files map[string]string `yaml:"files" cbor:",omitzero"`
	// Live holds running values, Counters kernel counters.
	Live     map[string]string `yaml:"live" cbor:",omitzero"`
	Counters map[string]uint64 `yaml:"counters" cbor:",omitzero"`
	Memory   uint64            `yaml:"memory" cbor:",omitzero"`
	CPUs     int               `yaml:"cpus" cbor:",omitzero"`
	Cores    int               `yaml:"cores" cbor:",omitzero"`
	NICs     []ExampleNIC      `yaml:"nics" cbor:",omitzero"`
	// Rates are interrupts per second, by name ("irq24: ix0:rxq0").
	Rates    map[string]float64 `yaml:"rates" cbor:",omitzero"`
	PFStates *uint64            `yaml:"pf_states" cbor:",omitzero"`
	// Conntrack holds the number of entries and the limit of Linux's connection tracking.
	Conntrack []uint64 `yaml:"conntrack" cbor:",omitzero"`
	// IPFWRules is the number of ipfw rules.
	IPFWRules int      `yaml:"ipfw_rules" cbor:",omitzero"`
	Services  []string `yaml:"services" cbor:",omitzero"`
	Modules   []string `yaml:"modules" cbor:",omitzero"`
}

// ExampleNIC is an interface of an Example.
type ExampleNIC struct {
	Name     string   `yaml:"name" cbor:",omitzero"`
	Driver   string   `yaml:"driver" cbor:",omitzero"`
	Kind     string   `yaml:"kind" cbor:",omitzero"`
	RXQueues int      `yaml:"rx_queues" cbor:",omitzero"`
	Speed    uint64   `yaml:"speed" cbor:",omitzero"`
	Options  []string `yaml:"options" cbor:",omitzero"`
	Members  []string `yaml:"members" cbor:",omitzero"`
	// FlowControl is rx, tx, full or none.
	FlowControl string `yaml:"flow_control" cbor:",omitzero"`
}

// RuleSet is a set of rules, sorted by id, with the lists that checks use.
type RuleSet struct {
	rules []*Rule
	Lists
}

// Lists holds knowledge of the checks other than conditions.
type Lists struct {
	// Classes maps a class to its drivers.
	Classes map[string][]string `yaml:"classes" cbor:",omitzero"`
	// RCModules maps variables of rc.conf to the module that they load.
	RCModules map[string]string `yaml:"rc_modules" cbor:",omitzero"`
	// Policies lists tunables (globs) that define what is permitted, not performance: measurements
	// cannot prove or refute them.
	Policies []string `yaml:"policies" cbor:",omitzero"`
	// Distributions lists tunables (globs) that distributions set in their own files, so that a
	// host does not have the kernel's default.
	Distributions []string `yaml:"distributions" cbor:",omitzero"`
	// Repeatable lists names (globs) that may occur several times, each with an effect.
	Repeatable []string `yaml:"repeatable" cbor:",omitzero"`
	// Small lists the roles of machines that may have less than 1 GiB of memory.
	Small []string `yaml:"small" cbor:",omitzero"`
	// Transforms lists sysctls that read back differently than written.
	Transforms []string `yaml:"transforms" cbor:",omitzero"`
	// Whole maps a system to prefixes of names for which the catalogue is complete, for kernels as
	// released by kernel.org and FreeBSD.
	Whole map[string][]string `yaml:"whole" cbor:",omitzero"`
	// BootWords lists kernel parameters (globs) that select what is booted and shown at boot, not
	// how the host runs.
	BootWords []string `yaml:"boot_words" cbor:",omitzero"`
	// NotGeneric lists the kernel options that GENERIC lacks.
	NotGeneric []string `yaml:"not_generic" cbor:",omitzero"`
	// InGeneric lists the modules built into GENERIC.
	InGeneric []string `yaml:"in_generic" cbor:",omitzero"`
	// PCTSysctls lists the sysctls that Proxmox VE accepts in a container's configuration.
	PCTSysctls []string `yaml:"pct_sysctls" cbor:",omitzero"`
	// KubernetesSafe lists the sysctls that a kubelet allows in any pod.
	KubernetesSafe []string `yaml:"kubernetes_safe" cbor:",omitzero"`
	// Brings maps modules (globs) to the modules that they also load.
	Brings map[string][]string `yaml:"brings" cbor:",omitzero"`
	// Writes describes the side effects of writing tunables.
	Writes []*Write `yaml:"writes" cbor:",omitzero"`
	// Writers lists the programs that write tunables by themselves.
	Writers []*Writer `yaml:"writers" cbor:",omitzero"`
	// RCVariables and Modules are the variables of a stock rc.conf and the modules of a stock
	// kernel, separated by blanks.
	RCVariables words `yaml:"rc_variables" cbor:",omitzero"`
	// KernelWords are the words of the kernel's command line.
	KernelWords words `yaml:"kernel_words" cbor:",omitzero"`
	// PFLimits and PFTimeouts are the names known to pfctl(8).
	PFLimits   words `yaml:"pf_limits" cbor:",omitzero"`
	PFTimeouts words `yaml:"pf_timeouts" cbor:",omitzero"`
	Modules    words `yaml:"modules" cbor:",omitzero"`
	// LinkKeys are the keys of systemd.link(5).
	LinkKeys words `yaml:"link_keys" cbor:",omitzero"`
	// Remarks maps the rules of the audit's own checks to their texts.
	Remarks map[string]Remark `yaml:"remarks" cbor:",omitzero"`
	// Consequences says, by system and by the stage that reads the line, what the system does with
	// an unknown name; "module" is for a module that the loader does not find.
	Consequences map[string]map[string]string `yaml:"consequences" cbor:",omitzero"`
	// MechanismWords describes, by system and mechanism, a name that cannot be set where it is.
	MechanismWords map[string]map[setting.Mechanism]string `yaml:"mechanism_words" cbor:",omitzero"`
	// LateModules maps modules that are loaded after sysctl.d is applied to what loads them.
	LateModules map[string]string `yaml:"late_modules" cbor:",omitzero"`
	// IfconfigWords are the parameters of ifconfig(8) that accept a leading dash.
	IfconfigWords words `yaml:"ifconfig_words" cbor:",omitzero"`
}

// words is a text of names separated by blanks.
type words string

// has reports whether words contains a name.
func (w words) has(name string) bool {
	return name != "" && slices.Contains(strings.Fields(string(w)), name)
}

// stock reports whether a list of stock names, "module" or "rc", contains a name.
func (l *Lists) stock(kind, name string) bool { return l.known(kind).has(name) }

func (l *Lists) known(kind string) words {
	return map[string]words{"module": l.Modules, "rc": l.RCVariables, "kernel": l.KernelWords, "link": l.LinkKeys, "ifconfig": l.IfconfigWords}[kind]
}

// merge adds the lists of another file; a duplicate key is an error.
func (l *Lists) merge(o Lists, file string) error {
	into, from := reflect.ValueOf(l).Elem(), reflect.ValueOf(o)
	for i := range into.NumField() {
		at, more := into.Field(i), from.Field(i)
		switch {
		case more.IsZero():
		case more.Kind() == reflect.String:
			at.SetString(strings.TrimSpace(at.String() + " " + more.String()))
		case more.Kind() == reflect.Slice:
			at.Set(reflect.AppendSlice(at, more))
		case at.IsNil():
			at.Set(more)
		default:
			for _, k := range more.MapKeys() {
				if at.MapIndex(k).IsValid() {
					return fmt.Errorf("%s: %s: %s already exists", file, into.Type().Field(i).Tag.Get("yaml"), k)
				}
				at.SetMapIndex(k, more.MapIndex(k))
			}
		}
	}
	return nil
}

// Rules returns the rules of the set.
func (s *RuleSet) Rules() []*Rule { return slices.Clone(s.rules) }

// LoadRules reads rules/*.yaml. Only this package's tests validate the content; expressions are
// compiled on first use.
func LoadRules(fsys fs.FS) (*RuleSet, error) {
	files, err := yamlfile.Own[RuleFile](fsys, "rules/*.yaml")
	set, errs := &RuleSet{}, []error{err}
	for _, f := range files {
		errs = append(errs, set.merge(f.Doc.Lists, f.Name))
		for _, r := range f.Doc.Rules {
			r.file, r.Each = path.Base(f.Name), cmp.Or(r.Each, EachHost)
		}
		set.rules = append(set.rules, f.Doc.Rules...)
	}
	slices.SortFunc(set.rules, func(a, b *Rule) int { return strings.Compare(a.ID, b.ID) })
	return set, errors.Join(errs...)
}

// RuleFile is a file of catalogue/rules.
type RuleFile struct {
	Rules []*Rule `yaml:"rules" cbor:",omitzero"`
	Lists `yaml:",inline" cbor:",omitzero"`
}

// forHost reports whether the rule is for a host of this system, release and role.
func (r *Rule) forHost(os string, rel release.Release, role string) bool {
	return r.applies(os, rel) && listed(r.Roles, func(s string) bool { return s == role })
}

// applies reports whether the rule is for a system and release.
func (r *Rule) applies(os string, rel release.Release) bool {
	return (r.OS == "" || r.OS == os) && (rel.IsZero() || !rel.Before(r.Since) && (r.Until.IsZero() || rel.Before(r.Until)))
}

// listed reports whether a list with exclusions ("!x") accepts something: no exclusion matches, and
// another entry does or there is none.
func listed(list []string, match func(string) bool) bool {
	wanted, found := false, false
	for _, s := range list {
		if no, ok := strings.CutPrefix(s, "!"); ok {
			if match(no) {
				return false
			}
			continue
		}
		wanted = true
		found = found || match(s)
	}
	return found || !wanted
}

// taken reports whether a list of patterns with exclusions accepts a name.
func taken(patterns []string, name string) bool {
	return listed(patterns, func(p string) bool { return globs(p, name) })
}

// takes reports whether Names match a name in any of its spellings.
func (r *Rule) takes(spellings []string) bool {
	return listed(r.Names, func(pattern string) bool {
		return slices.ContainsFunc(spellings, func(s string) bool { return list.Globs(pattern, s) })
	})
}
