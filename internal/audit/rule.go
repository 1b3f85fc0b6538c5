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
	ID       string   `yaml:"id"`
	Kind     Kind     `yaml:"kind"`
	Severity Severity `yaml:"severity"`
	Action   Action   `yaml:"action"`
	OS       string   `yaml:"os"`
	// Roles lists the roles that the rule is for; empty means all. "!" excludes a role.
	Roles []string `yaml:"roles"`
	// Since and Until limit the releases: from, and before.
	Since release.Release `yaml:"since"`
	Until release.Release `yaml:"until"`
	// Each is host (the default), line, lost, nic, shaper or counter.
	Each string `yaml:"each"`
	// Names lists the tunables (globs, with units folded as in the catalogue) or counters that a
	// rule for lines or counters applies to; "!" excludes.
	Names []string `yaml:"names"`
	// When is the condition; "" is always true.
	When string `yaml:"when"`
	// Worse is the condition under which the finding is one severity higher.
	Worse string `yaml:"worse"`
	// Name is the subject of the finding, a text with ${}; "" means the name of the line, interface
	// or counter.
	Name string `yaml:"name"`
	// At lists tunables, or "pf.conf:limit.NAME" for a pf limit, "pf.conf:scrub", "ipfw:nat",
	// "nft:notrack" for rules, "service:NAME:WORD" for a line of a daemon, "class:NAME" for an
	// interface of a driver class. The finding is placed at the first that a file of the host sets.
	At      []string `yaml:"at"`
	Message string   `yaml:"message"`
	Why     string   `yaml:"why"`
	Fix     string   `yaml:"fix"`
	// Sets lists the settings in the fix, NAME=VALUE, as texts with ${}.
	Sets    []string `yaml:"sets"`
	Sources []string `yaml:"sources"`
	// Covers lists the rules whose less specific finding at the same place is dropped.
	Covers []string `yaml:"covers"`
	// Fires and Silent are hosts on which the rule must and must not report.
	Fires  []Example `yaml:"fires"`
	Silent []Example `yaml:"silent"`

	file string
}

// Example is a small host for testing a rule.
type Example struct {
	Note    string `yaml:"note"`
	Release string `yaml:"release"`
	Role    string `yaml:"role"`
	// Files maps paths to the text of files.
	Files map[string]string `yaml:"files"`
	// Live holds running values, Counters kernel counters.
	Live     map[string]string `yaml:"live"`
	Counters map[string]uint64 `yaml:"counters"`
	Memory   uint64            `yaml:"memory"`
	CPUs     int               `yaml:"cpus"`
	Cores    int               `yaml:"cores"`
	NICs     []ExampleNIC      `yaml:"nics"`
	// Rates are interrupts per second, by name ("irq24: ix0:rxq0").
	Rates    map[string]float64 `yaml:"rates"`
	PFStates *uint64            `yaml:"pf_states"`
	// Conntrack holds the number of entries and the limit of Linux's connection tracking.
	Conntrack []uint64 `yaml:"conntrack"`
	// IPFWRules is the number of ipfw rules.
	IPFWRules int      `yaml:"ipfw_rules"`
	Services  []string `yaml:"services"`
	Modules   []string `yaml:"modules"`
}

// ExampleNIC is an interface of an Example.
type ExampleNIC struct {
	Name     string   `yaml:"name"`
	Driver   string   `yaml:"driver"`
	Kind     string   `yaml:"kind"`
	RXQueues int      `yaml:"rx_queues"`
	Speed    uint64   `yaml:"speed"`
	Options  []string `yaml:"options"`
	Members  []string `yaml:"members"`
	// FlowControl is rx, tx, full or none.
	FlowControl string `yaml:"flow_control"`
}

// RuleSet is a set of rules, sorted by id, with the lists that checks use.
type RuleSet struct {
	rules []*Rule
	Lists
}

// Lists holds knowledge of the checks other than conditions.
type Lists struct {
	// Classes maps a class to its drivers.
	Classes map[string][]string `yaml:"classes"`
	// RCModules maps variables of rc.conf to the module that they load.
	RCModules map[string]string `yaml:"rc_modules"`
	// Policies lists tunables (globs) that define what is permitted, not performance: measurements
	// cannot prove or refute them.
	Policies []string `yaml:"policies"`
	// Distributions lists tunables (globs) that distributions set in their own files, so that a
	// host does not have the kernel's default.
	Distributions []string `yaml:"distributions"`
	// Repeatable lists names (globs) that may occur several times, each with an effect.
	Repeatable []string `yaml:"repeatable"`
	// Small lists the roles of machines that may have less than 1 GiB of memory.
	Small []string `yaml:"small"`
	// Transforms lists sysctls that read back differently than written.
	Transforms []string `yaml:"transforms"`
	// Whole maps a system to prefixes of names for which the catalogue is complete, for kernels as
	// released by kernel.org and FreeBSD.
	Whole map[string][]string `yaml:"whole"`
	// BootWords lists kernel parameters (globs) that select what is booted and shown at boot, not
	// how the host runs.
	BootWords []string `yaml:"boot_words"`
	// NotGeneric lists the kernel options that GENERIC lacks.
	NotGeneric []string `yaml:"not_generic"`
	// InGeneric lists the modules built into GENERIC.
	InGeneric []string `yaml:"in_generic"`
	// PCTSysctls lists the sysctls that Proxmox VE accepts in a container's configuration.
	PCTSysctls []string `yaml:"pct_sysctls"`
	// KubernetesSafe lists the sysctls that a kubelet allows in any pod.
	KubernetesSafe []string `yaml:"kubernetes_safe"`
	// Brings maps modules (globs) to the modules that they also load.
	Brings map[string][]string `yaml:"brings"`
	// Writes describes the side effects of writing tunables.
	Writes []*Write `yaml:"writes"`
	// Writers lists the programs that write tunables by themselves.
	Writers []*Writer `yaml:"writers"`
	// RCVariables and Modules are the variables of a stock rc.conf and the modules of a stock
	// kernel, separated by blanks.
	RCVariables words `yaml:"rc_variables"`
	// KernelWords are the words of the kernel's command line.
	KernelWords words `yaml:"kernel_words"`
	// PFLimits and PFTimeouts are the names known to pfctl(8).
	PFLimits   words `yaml:"pf_limits"`
	PFTimeouts words `yaml:"pf_timeouts"`
	Modules    words `yaml:"modules"`
	// LinkKeys are the keys of systemd.link(5).
	LinkKeys words `yaml:"link_keys"`
	// Remarks maps the rules of the audit's own checks to their texts.
	Remarks map[string]Remark `yaml:"remarks"`
	// Consequences says, by system and by the stage that reads the line, what the system does with
	// an unknown name; "module" is for a module that the loader does not find.
	Consequences map[string]map[string]string `yaml:"consequences"`
	// MechanismWords describes, by system and mechanism, a name that cannot be set where it is.
	MechanismWords map[string]map[setting.Mechanism]string `yaml:"mechanism_words"`
	// LateModules maps modules that are loaded after sysctl.d is applied to what loads them.
	LateModules map[string]string `yaml:"late_modules"`
	// IfconfigWords are the parameters of ifconfig(8) that accept a leading dash.
	IfconfigWords words `yaml:"ifconfig_words"`
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
	Rules []*Rule `yaml:"rules"`
	Lists `yaml:",inline"`
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
		return slices.ContainsFunc(spellings, func(s string) bool {
			ok, err := path.Match(pattern, s)
			return err == nil && ok
		})
	})
}
