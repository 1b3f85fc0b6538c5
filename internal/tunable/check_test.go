package tunable

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/fact/release"
	"linerate/internal/list"
	"linerate/internal/setting"
)

// The permitted contents of a record's fields.
var (
	settables = []Settable{Boot, Runtime, BootRuntime, ReadOnly}
	types     = []Type{Int, Uint, Long, Ulong, S8, S16, S32, S64, U8, U16, U32, U64, Bool, String, Opaque, Node, YesNo, List, Flag, Numbers}
	scopes    = []Scope{"", Host, VNET, Jail, Interface, Process, FS, NetNS, IPCNS, Namespace, Device, RouteScope, SocketScope, User}
	resets    = []Reset{"", NoReset, LinkFlap, Restart, Reload, NeedReboot, NewSockets, Remount}
	verdicts  = []string{Folklore, Holds, Depends, Stale, Wrong, Measured}
	cautions  = []string{"harmful", "ineffective", "memory", "order", "security", "note"}
	outsides  = []Outside{"", Refused, Clamped, Rounded, OwnSize, Wrapped, Taken, Off, One, Fatal}
	deeds     = []string{"", "leave", "raise", "bound", "measure", "choose"}
	decoders  = []string{"", "harvest"}
	alls      = []All{"", AllMax, AllOr, AllAnd, AllRole, AllSets, AllMin, AllWins, AllOnly, AllIgnored}
	hows      = []string{"probed", "source", "documentation"}
	whats     = []string{"exists", "access", "default", "range", "scope", "effect", "reset", "coupling"}
	nameForm  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:%-]*$`)
	// linuxForm also matches commands, files and lines of Linux: "ethtool -K IF gro",
	// "/sys/class/net/IF/mtu", "kernel: mitigations=".
	linuxForm = regexp.MustCompile(`^[A-Za-z0-9_/][A-Za-z0-9_.:%/=+*, -]*[A-Za-z0-9_.=*]$`)
)

// Load is Read with checks of every record and claim.
func Load(fsys fs.FS) (*Catalogue, error) {
	c, err := Read(fsys)
	if err != nil {
		return c, err
	}
	return c, errors.Join(c.Check(), c.checkNames())
}

// Check checks every record and claim against the schema, compiles every expression and runs its
// vectors.
func (c *Catalogue) Check() error {
	errs := list.Map(c.Records, (*Record).check)
	for _, set := range c.Claims {
		for _, cl := range set.Claims {
			errs = append(errs, cl.check(set.File))
		}
	}
	return errors.Join(errs...)
}

// recorded are the mechanisms that records may have.
var recorded = []setting.Mechanism{setting.Sysctl, setting.Loader, setting.RC, setting.Ifconfig, setting.Ethtool, setting.Module, setting.KernelOption, setting.Mount, setting.Tunefs,
	setting.LoginConf, setting.Firewall, setting.Service, setting.Sysfs, setting.Procfs, setting.Cmdline, setting.Limit, setting.Qdisc, setting.CC, setting.Route, setting.Socket, setting.Systemd}

// check checks one record against the schema.
func (r *Record) check() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s:%d: %s: %s", r.File, r.Line, r.Name, fmt.Sprintf(format, args...)))
	}
	if !r.nameFits() {
		bad("name has odd characters")
	}
	oneOf(bad, "mechanism", r.Mechanism, recorded)
	oneOf(bad, "settable", r.Settable, settables)
	oneOf(bad, "type", r.Type, types)
	oneOf(bad, "scope", r.Scope, scopes)
	oneOf(bad, "reset", r.Reset, resets)
	oneOf(bad, "decode", r.Decode, decoders)
	oneOf(bad, "with_all", r.WithAll, alls)
	if strings.TrimSpace(r.Summary) == "" {
		bad("no summary")
	}
	if len(r.Sources) == 0 {
		bad("no sources")
	}
	r.checkReleases(bad)
	r.checkExpressions(bad)
	r.checkDefault(bad)
	r.checkChecks(bad)
	r.checkRange(bad)
	r.checkLevels(bad)
	return errors.Join(errs...)
}

func (r *Record) nameFits() bool {
	if r.OS == Linux {
		return linuxForm.MatchString(r.Name)
	}
	return nameForm.MatchString(r.Name)
}

// checkChecks validates `checked` and the notes on instances.
func (r *Record) checkChecks(bad func(string, ...any)) {
	for _, c := range r.Checked {
		if c.Release.IsZero() || len(c.What) == 0 {
			bad("a check needs a release and what was checked")
		}
		oneOf(bad, "checked how", c.How, hows)
		for _, w := range c.What {
			oneOf(bad, "checked", w, whats)
		}
	}
	for name := range r.InstanceDefaults {
		if !slices.Contains(r.Instances, name) {
			bad("a default of %s, which is no instance", name)
		}
	}
}

func (r *Record) checkReleases(bad func(string, ...any)) {
	if !r.Removed.IsZero() && !r.Since.Before(r.Removed) {
		bad("removed in %s, but there only since %s", r.Removed, r.Since)
	}
	for _, c := range r.Changes {
		if c.From.IsZero() && c.Until.IsZero() {
			bad("a change needs from or until")
		}
		if !c.Until.IsZero() && !c.From.Before(c.Until) {
			bad("a change ends (%s) before it begins (%s)", c.Until, c.From)
		}
		if c.Settable != "" {
			oneOf(bad, "settable", c.Settable, settables)
		}
		if c.Type != "" {
			oneOf(bad, "type", c.Type, types)
		}
		if c.Mechanism != "" {
			oneOf(bad, "mechanism", c.Mechanism, recorded)
		}
		oneOf(bad, "scope", c.Scope, scopes)
	}
}

// checkDefault checks the record's own defaults against its type and bounds.
func (r *Record) checkDefault(bad func(string, ...any)) {
	defaults := []*string{r.Default}
	for _, c := range r.Changes {
		defaults = append(defaults, c.Default)
	}
	for _, d := range defaults {
		if d == nil || *d == "" {
			continue
		}
		if p := r.Reject(*d); p != nil && p.Kind == ProblemType {
			bad("default %q: %s", *d, p.Message)
		}
	}
}

// checkRange: a settable record says, or implies, what happens to values that it does not accept,
// on every release on which this differs.
func (r *Record) checkRange(bad func(string, ...any)) {
	for _, rel := range r.turns() {
		s := r.At(rel)
		oneOf(bad, "outside", s.Outside, outsides)
		if s.Exists && s.Settable != ReadOnly && s.Type != Node && s.Type != Opaque && r.RangeOn(rel).Outside == "" {
			bad("its bounds say nothing of values outside (constraints: outside)")
		}
		if s.Exists && s.Settable != ReadOnly && r.Reset == "" {
			bad("settable, and what that costs is missing (reset)")
		}
	}
}

// turns returns the releases at which something about the record begins, including the newest
// (zero).
func (r *Record) turns() []release.Release {
	all := []release.Release{{}, r.Since}
	for _, c := range r.Changes {
		all = append(all, c.From)
	}
	return all
}

// checkLevels: a level is a legal value that a running system accepts and reads back, or that the
// next boot reads, and that has a source.
func (r *Record) checkLevels(bad func(string, ...any)) {
	if len(r.Levels) > 0 && (r.Settable == ReadOnly || r.Settable.AtRuntime() && r.Constraints.OnlyRaise) {
		bad("levels of what nobody can set, or take back")
	}
	for _, l := range r.Levels {
		checkCondition(bad, "level", l.When, nil)
		checkExpression(bad, "level", l.Formula, l.Vectors)
		switch p := r.Reject(l.Value); {
		case l.Source == "" || (l.Value == "") == (l.Formula == ""):
			bad("a level needs a value or a formula, and a source")
		case l.Formula != "" && len(l.Vectors) == 0:
			bad("a level's formula without a vector")
		case l.Value != "" && p != nil:
			bad("level %s: %s", l.Value, p.Message)
		}
		for _, v := range l.Vectors {
			if p := r.Reject(v.Want); p != nil {
				bad("level %s: %s", l.Formula, p.Message)
			}
		}
	}
}

func oneOf[T ~string](bad func(string, ...any), what string, v T, known []T) {
	if !slices.Contains(known, v) {
		bad("%s %q is none of %v", what, v, known)
	}
}

func (c Claim) check(file string) error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s:%d: claim on %s: %s", file, c.Line, c.Name, fmt.Sprintf(format, args...)))
	}
	if c.Name == "" || c.At == "" {
		bad("needs a name and a place (at)")
	}
	oneOf(bad, "verdict", c.Verdict, verdicts)
	if (c.Verdict == Wrong || c.Verdict == Stale || c.Verdict == Depends) && c.Truth == "" {
		bad("verdict %s needs a truth", c.Verdict)
	}
	return errors.Join(errs...)
}

// checkNames rejects duplicate names, and names that the catalogue mentions but lacks.
func (c *Catalogue) checkNames() error {
	var errs []error
	taken := map[key]*Record{}
	for _, r := range c.Records {
		for _, name := range append([]string{r.Name}, r.Instances...) {
			if old := taken[key{r.OS, name}]; old != nil {
				errs = append(errs, fmt.Errorf("%s:%d: %s: already at %s:%d", r.File, r.Line, name, old.File, old.Line))
			}
			taken[key{r.OS, name}] = r
		}
	}
	for _, set := range c.Claims {
		for _, cl := range set.Claims {
			if _, ok := c.Lookup(set.OS, cl.Name); !ok {
				errs = append(errs, fmt.Errorf("%s:%d: claim on %s, which has no record", set.File, cl.Line, cl.Name))
			}
		}
	}
	concepts := map[string]bool{}
	for _, k := range c.Concepts {
		if concepts[k.Name] || k.Title == "" {
			errs = append(errs, fmt.Errorf("concepts.yaml: %s: twice, or without a title", k.Name))
		}
		concepts[k.Name] = true
	}
	for _, r := range c.Records {
		refs := slices.Clone(r.Related)
		for _, k := range r.Coupled {
			refs = append(refs, k.Name)
		}
		if r.RenamedTo != "" {
			refs = append(refs, r.RenamedTo)
		}
		if r.AliasOf != "" {
			refs = append(refs, r.AliasOf)
		}
		for _, name := range refs {
			if _, ok := c.Lookup(r.OS, name); !ok {
				errs = append(errs, fmt.Errorf("%s:%d: %s mentions %s, which has no record", r.File, r.Line, r.Name, name))
			}
		}
		if r.Concept != "" && !concepts[r.Concept] {
			errs = append(errs, fmt.Errorf("%s:%d: %s: concept %q is not in concepts.yaml", r.File, r.Line, r.Name, r.Concept))
		}
	}
	return errors.Join(errs...)
}
