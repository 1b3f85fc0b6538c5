package tunable

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// What the fields of a record may hold.
var (
	mechanisms = []Mechanism{Sysctl, Loader, RC, Ifconfig, Ethtool, Module, KernelOption, Mount, Tunefs, LoginConf, Firewall, Service,
		Sysfs, Procfs, Cmdline, Limit, Qdisc, CC, Route, Socket, Systemd}
	settables = []Settable{Boot, Runtime, BootRuntime, ReadOnly}
	types     = []Type{Int, Uint, Long, Ulong, S8, S16, S32, S64, U8, U16, U32, U64, Bool, String, Opaque, Node, YesNo, List, Flag, Numbers}
	scopes    = []Scope{"", Host, VNET, Jail, Interface, Process, FS, NetNS, Device, RouteScope, SocketScope, User}
	resets    = []Reset{"", NoReset, LinkFlap, Restart, Reload, NeedReboot, NewSockets, Remount}
	verdicts  = []string{Folklore, Holds, Depends, Stale, Wrong, Measured}
	cautions  = []string{"harmful", "ineffective", "memory", "order", "security", "note"}
	outsides  = []Outside{"", Refused, Clamped, Rounded, OwnSize, Wrapped, Taken, Fatal}
	deeds     = []string{"", "leave", "raise", "bound", "measure", "choose"}
	decoders  = []string{"", "harvest"}
	alls      = []All{"", AllMax, AllOr, AllAnd, AllRole, AllSets, AllOnly, AllIgnored}
	hows      = []string{"probed", "source", "documentation"}
	whats     = []string{"exists", "access", "default", "range", "scope", "effect", "reset", "coupling"}
	nameForm  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:%-]*$`)
	// linuxForm also holds commands, files and lines of Linux: "ethtool -K IF
	// gro", "/sys/class/net/IF/mtu", "kernel: mitigations=".
	linuxForm = regexp.MustCompile(`^[A-Za-z0-9_/][A-Za-z0-9_.:%/=+*, -]*[A-Za-z0-9_.=*]$`)
)

// Check holds every record and claim to the schema, compiles every expression
// and runs its vectors. Read made sure of names and references already.
func (c *Catalogue) Check() error {
	var errs []error
	for _, r := range c.Records {
		errs = append(errs, r.check())
	}
	for _, set := range c.Claims {
		for _, cl := range set.Claims {
			errs = append(errs, cl.check(set.File))
		}
	}
	return errors.Join(errs...)
}

// check holds one record to the schema.
func (r *Record) check() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s:%d: %s: %s", r.File, r.Line, r.Name, fmt.Sprintf(format, args...)))
	}
	if !r.nameFits() {
		bad("name has odd characters")
	}
	oneOf(bad, "mechanism", r.Mechanism, mechanisms)
	oneOf(bad, "settable", r.Settable, settables)
	oneOf(bad, "type", r.Type, types)
	oneOf(bad, "scope", r.Scope, scopes)
	oneOf(bad, "reset", r.Reset, resets)
	oneOf(bad, "decode", r.Decode, decoders)
	oneOf(bad, "with_all", r.WithAll, alls)
	oneOf(bad, "outside", r.Constraints.Outside, outsides)
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
	return errors.Join(errs...)
}

func (r *Record) nameFits() bool {
	if r.OS == Linux {
		return linuxForm.MatchString(r.Name)
	}
	return nameForm.MatchString(r.Name)
}

// checkChecks holds `checked`, and what is said of instances.
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
			oneOf(bad, "mechanism", c.Mechanism, mechanisms)
		}
		oneOf(bad, "scope", c.Scope, scopes)
	}
}

// checkDefault holds the record's own defaults against its type and bounds.
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
