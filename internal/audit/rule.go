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

// What a rule is asked about, once each.
const (
	EachHost    = "host"    // the whole host: once
	EachLine    = "line"    // every line that sets one of Names and takes effect, overriding others or not
	EachLost    = "lost"    // every such line of an appliance's user that the appliance writes over
	EachNIC     = "nic"     // every network interface
	EachShaper  = "shaper"  // every shaper of an appliance
	EachCounter = "counter" // every counter whose name matches one of Names
)

// Rule is one check as data: when its condition holds, its finding is
// reported. Expressions see the environment that docs/reference/audit.md
// Lists; texts may hold expressions in ${}.
type Rule struct {
	ID       string   `yaml:"id"`
	Kind     Kind     `yaml:"kind"`
	Severity Severity `yaml:"severity"`
	Action   Action   `yaml:"action"`
	OS       string   `yaml:"os"`
	// Roles the rule is for; empty for all. A role with "!" before it is
	// excluded.
	Roles []string `yaml:"roles"`
	// Since and Until bound the releases: from, and before.
	Since release.Release `yaml:"since"`
	Until release.Release `yaml:"until"`
	// Each is host (the default), line, nic, shaper or counter.
	Each string `yaml:"each"`
	// Names are tunables (globs, units folded as in the catalogue) or
	// counters that a rule over lines or counters is for; those with "!"
	// before them are not.
	Names []string `yaml:"names"`
	// When is the condition; "" always holds.
	When string `yaml:"when"`
	// Worse is a condition under which the finding is one severity worse.
	Worse string `yaml:"worse"`
	// Name is what the finding is about: a text with ${}; "" takes the line's
	// name, the interface or the counter.
	Name string `yaml:"name"`
	// At Lists tunables ("pf.conf:limit.NAME" for a pf limit,
	// "pf.conf:scrub", "ipfw:nat", "nft:notrack" for rules, "service:NAME:WORD" for a line of
	// a daemon, "class:NAME" for an interface of a class of drivers): the
	// first that a file of the host sets gives the finding its place.
	At      []string `yaml:"at"`
	Message string   `yaml:"message"`
	Why     string   `yaml:"why"`
	Fix     string   `yaml:"fix"`
	// Sets are the settings that the fix names, NAME=VALUE, as texts with ${}.
	Sets    []string `yaml:"sets"`
	Sources []string `yaml:"sources"`
	// Covers are rules whose finding at the same place says less than this
	// one's, and is dropped.
	Covers []string `yaml:"covers"`
	// Fires and Silent are hosts on which the rule must and must not speak.
	Fires  []Example `yaml:"fires"`
	Silent []Example `yaml:"silent"`

	file string
}

// Example is a small host that tests a rule.
type Example struct {
	Note    string `yaml:"note"`
	Release string `yaml:"release"`
	Role    string `yaml:"role"`
	// Files are the text of files by path.
	Files map[string]string `yaml:"files"`
	// Live are running values; Counters what the kernel counted.
	Live     map[string]string `yaml:"live"`
	Counters map[string]uint64 `yaml:"counters"`
	Memory   uint64            `yaml:"memory"`
	CPUs     int               `yaml:"cpus"`
	Cores    int               `yaml:"cores"`
	NICs     []ExampleNIC      `yaml:"nics"`
	// Rates are interrupts per second by name ("irq24: ix0:rxq0").
	Rates    map[string]float64 `yaml:"rates"`
	PFStates *uint64            `yaml:"pf_states"`
	// Conntrack are entries and limit of Linux's connection tracking.
	Conntrack []uint64 `yaml:"conntrack"`
	// IPFWRules is how many rules ipfw has.
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

// RuleSet is rules checked and ready to run, in the order of their ids, and
// the lists that checks consult.
type RuleSet struct {
	rules []*Rule
	Lists
}

// Lists are knowledge of checks that is no condition.
type Lists struct {
	// Classes are drivers by what they do.
	Classes map[string][]string `yaml:"classes"`
	// RCModules are the variables of rc.conf that load a module.
	RCModules map[string]string `yaml:"rc_modules"`
	// Policies are tunables (globs) that say what is allowed, not how well
	// it goes: no measurement can prove or refute them.
	Policies []string `yaml:"policies"`
	// Distributions are tunables (globs) that distributions set in files of theirs, so a
	// host does not have the kernel's default.
	Distributions []string `yaml:"distributions"`
	// Repeatable are names (globs) that may be given more than once; each occurrence takes
	// effect.
	Repeatable []string `yaml:"repeatable"`
	// Small are the roles of machines that may have less than a GiB of memory.
	Small []string `yaml:"small"`
	// Transforms are sysctls that read back differently from what was written.
	Transforms []string `yaml:"transforms"`
	// Whole are, by system, prefixes of names for which the catalogue has everything that
	// can be set on its releases, as kernel.org and FreeBSD make them.
	Whole map[string][]string `yaml:"whole"`
	// BootWords are parameters of the command line (globs) that say what is
	// booted and what a boot shows, not how the host runs.
	BootWords []string `yaml:"boot_words"`
	// NotGeneric are kernel options that GENERIC is built without.
	NotGeneric []string `yaml:"not_generic"`
	// InGeneric are modules that GENERIC holds.
	InGeneric []string `yaml:"in_generic"`
	// PCTSysctls are the sysctls that Proxmox VE takes in a container's configuration.
	PCTSysctls []string `yaml:"pct_sysctls"`
	// KubernetesSafe are the sysctls that a kubelet gives any pod.
	KubernetesSafe []string `yaml:"kubernetes_safe"`
	// Brings are modules (globs) that load others with them.
	Brings map[string][]string `yaml:"brings"`
	// Writes are the side effects of writing tunables.
	Writes []*Write `yaml:"writes"`
	// Writers are the programs that write tunables by themselves.
	Writers []*Writer `yaml:"writers"`
	// RCVariables and Modules are the names, between blanks, of the variables
	// of a stock rc.conf and of a stock kernel's modules.
	RCVariables words `yaml:"rc_variables"`
	// KernelWords are the words of the kernel's command line.
	KernelWords words `yaml:"kernel_words"`
	// PFLimits and PFTimeouts are the names that pfctl(8) knows.
	PFLimits   words `yaml:"pf_limits"`
	PFTimeouts words `yaml:"pf_timeouts"`
	Modules    words `yaml:"modules"`
	// LinkKeys are those of systemd.link(5).
	LinkKeys words `yaml:"link_keys"`
	// Remarks are what the audit's own checks report, by rule.
	Remarks map[string]Remark `yaml:"remarks"`
	// Consequences are, by system, what it does with a name that it does not know, by the
	// stage that reads the line; "module" of a module that the loader does not find.
	Consequences map[string]map[string]string `yaml:"consequences"`
	// MechanismWords say, by system, what a name is that cannot be set where it stands.
	MechanismWords map[string]map[setting.Mechanism]string `yaml:"mechanism_words"`
	// LateModules are modules that are loaded after sysctl.d was applied, with what loads them.
	LateModules map[string]string `yaml:"late_modules"`
	// IfconfigWords are those of ifconfig(8) that can stand behind a dash.
	IfconfigWords words `yaml:"ifconfig_words"`
}

// words are names between blanks, as a text.
type words string

// has reports whether a name is among them.
func (w words) has(name string) bool {
	return name != "" && slices.Contains(strings.Fields(string(w)), name)
}

// stock reports a name of a list of stock names: "module" or "rc".
func (l *Lists) stock(kind, name string) bool { return l.known(kind).has(name) }

func (l *Lists) known(kind string) words {
	return map[string]words{"module": l.Modules, "rc": l.RCVariables, "kernel": l.KernelWords, "link": l.LinkKeys, "ifconfig": l.IfconfigWords}[kind]
}

// merge adds another file's lists, of whatever kind; a key given twice is a mistake.
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
					return fmt.Errorf("%s: %s: %s is there already", file, into.Type().Field(i).Tag.Get("yaml"), k)
				}
				at.SetMapIndex(k, more.MapIndex(k))
			}
		}
	}
	return nil
}

// Rules lists the rules of the set.
func (s *RuleSet) Rules() []*Rule { return slices.Clone(s.rules) }

// LoadRules reads rules/*.yaml. What they hold is checked by this package's tests alone;
// expressions are compiled when they are first needed.
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

// forHost reports whether the rule is about hosts of this system, release and
// role at all.
func (r *Rule) forHost(os string, rel release.Release, role string) bool {
	return r.applies(os, rel) && listed(r.Roles, func(s string) bool { return s == role })
}

// applies reports a rule for a system and release.
func (r *Rule) applies(os string, rel release.Release) bool {
	return (r.OS == "" || r.OS == os) && (rel.IsZero() || !rel.Before(r.Since) && (r.Until.IsZero() || rel.Before(r.Until)))
}

// listed reports whether a list with exclusions ("!x") takes something: no
// exclusion matches, and one of the others, or there is none of them.
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

// taken reports a name that a list of patterns, with exclusions, takes.
func taken(patterns []string, name string) bool {
	return listed(patterns, func(p string) bool { return globs(p, name) })
}

// takes reports whether Names cover a name in any of its spellings.
func (r *Rule) takes(spellings []string) bool {
	return listed(r.Names, func(pattern string) bool {
		return slices.ContainsFunc(spellings, func(s string) bool {
			ok, err := path.Match(pattern, s)
			return err == nil && ok
		})
	})
}
