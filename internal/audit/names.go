package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/hint"
	"linerate/internal/lazy"
	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// commandLine is the prefix of names of kernel command line parameters.
const commandLine = "cmdline."

// running reports whether the kernel knows a sysctl; known is false if the audit has no running values.
func (a *auditor) running(name string) (exists, known bool) {
	if !a.live {
		return false, false
	}
	_, ok := a.f.LiveValue(name)
	return ok, true
}

// sysctlName matches a name for sysctl(8), also in a script or a profile.
var sysctlName = lazy.Regexp(`^(net|kernel|vm|fs)\.[a-z0-9_./-]+$`)

// closedName matches families of tunables that FreeBSD alone extends, ofService a variable of a service, which may be a port's.
var (
	closedName = lazy.Regexp(`^(?:net\.(?:inet6?|link|isr|pf|bpf)|kern\.ipc|vm|security|hw\.(?:ix|ixl|em|igb|igc|vtnet|ice|mlx|cxgbe|bnxt|pci)|dev\.(?:ix|ixl|em|igb|igc|vtnet|ice))\.`)
	ofService  = lazy.Regexp(`_(?:en\w*|flags?|program|config|user|group|conf|pidfile|rules|\w+_\w+)$`)
)

// unknown reports names that are not in the catalogue: typos as errors, others only where they matter.
func (a *auditor) unknown(j judged) []candidate {
	if j.rec != nil || j.Stage == fact.Hints || strings.HasPrefix(j.Name, "systemd.link.") || strings.HasPrefix(j.Name, "hint.") || j.Stage == fact.Conf && !sysctlName().MatchString(j.Name) || j.Stage == fact.Field || a.product != nil && a.product.Has(j.Name) {
		return nil
	}
	exists, known := a.running(j.Name)
	if exists {
		return a.access(j)
	}
	if a.stock(j.Stage, j.Name) || globbed(a.Rules.BootWords, j.Name) || a.f.OS == fact.Linux && j.Stage == fact.Sysctl && strings.HasPrefix(j.Text, "-") { // "-name = value": it may fail
		return nil
	}
	if joined := a.joinedUnit(j); joined != nil {
		return joined
	}
	near, older, of := a.typo(j, true), a.typo(j, false), "unjudged"
	switch {
	case len(near) == 0 && len(older) > 0:
		of, near = "old", older[:1]
	case len(near) > 0:
		of = "near"
	case j.Stage == fact.Sysctl && known:
		of = "running"
	case a.whole(j):
		of = "whole"
	case j.Stage != fact.Sysctl && (j.Stage != fact.Loader || !strings.Contains(j.Name, ".")):
		return nil // ports add variables and modules of their own
	}
	c := a.says("LR-UNKNOWN", of, j.Line, with{"near": either(near), "since": wholeSince[a.f.OS].Short(),
		"kernel": map[string]string{fact.Linux: "kernel of kernel.org", fact.FreeBSD: "FreeBSD"}[a.f.OS]})
	switch denied := a.denied(j); {
	case denied && of == "old":
		c.Severity, c.Action = Warning, Remove
	case denied && of == "near":
		c.Severity, c.Action = Error, Change
	case of == "near" && (a.closed(j) || a.f.OS == fact.Linux || closedName().MatchString(j.Name) || j.Stage == fact.RCConf && !ofService().MatchString(j.Name)):
		c.Severity, c.Action = Warning, Change
	}
	return []candidate{c}
}

// unitWithin matches a name under dev. with the unit directly after the driver.
var unitWithin = lazy.Regexp(`^dev\.([a-z_][a-z0-9_]*[a-z_])([0-9]+)\.([a-z_][A-Za-z0-9_.]*)$`)

// joinedUnit reports an interface name in place of a device: dev.igc0.x for dev.igc.0.x. Driver and unit are separate nodes
// (sys/kern/subr_bus.c).
func (a *auditor) joinedUnit(j judged) []candidate {
	m := unitWithin().FindStringSubmatch(j.Name)
	if m == nil || a.f.OS != fact.FreeBSD || j.Stage != fact.Sysctl && j.Stage != fact.Loader {
		return nil
	}
	meant := fmt.Sprintf("dev.%s.%s.%s", m[1], m[2], m[3])
	rec, known := a.c.Lookup(a.f.OS, meant)
	if !known || !rec.Exists(a.f.Release) {
		return nil
	}
	c := a.says("LR-UNKNOWN", "unit", j.Line, with{"meant": meant})
	if against := a.objection(rec, meant, j); against != "" {
		c.Fix = fmt.Sprintf("Decide what is wanted before correcting the name: %s.", strings.TrimSuffix(against, "."))
	} else {
		c.sets("", meant, j.Value)
	}
	return []candidate{c}
}

// objection returns why a line's value may be wrong under a corrected or new name, "" if nothing is known: the name may have
// another meaning, unit or direction, or a default that has grown since.
func (a *auditor) objection(rec *tunable.Record, name string, j judged) string {
	value := j.Value
	if p := rec.RejectOn(a.f.Release, value); p != nil {
		return fmt.Sprintf("%s does not take the value (%s)", name, p.Message)
	}
	for _, cl := range a.c.ClaimsOn(rec) {
		if (cl.Verdict == tunable.Wrong || cl.Verdict == tunable.Stale) && cl.Value != "" && !cl.Harmless && rec.SameValue(cl.Value, value) && a.claimHolds(cl) {
			return fmt.Sprintf("%s=%s follows advice that is %s: %s", name, value, cl.Verdict, cl.Truth)
		}
	}
	d, known := rec.DefaultOf(name, a.f.Release, a.env)
	if known && rec.Type.Integer() && !rec.Constraints.Mask && less("1", value) < 0 && less(value, d) < 0 {
		return fmt.Sprintf("%s=%s is below the default, %s", name, value, d)
	}
	j.Name, j.rec, j.st = name, rec, rec.At(a.f.Release)
	for _, c := range a.lowers(j) {
		return c.Message
	}
	return ""
}

// wholeSince is the first release for which the catalogue is complete in those families; of older kernels it has only what later
// ones kept.
var wholeSince = map[string]release.Release{fact.Linux: release.MustParse("5.10"), fact.FreeBSD: release.MustParse("11.0")}

// whole reports a sysctl of a family for which the catalogue is complete.
func (a *auditor) whole(j judged) bool {
	return j.Stage == fact.Sysctl && (a.f.Release.IsZero() || !a.f.Release.Before(wholeSince[a.f.OS])) &&
		slices.ContainsFunc(a.Rules.Whole[a.f.OS], func(p string) bool { return strings.HasPrefix(j.Name, p) })
}

// stock reports a name that the system has but the catalogue lacks: it is not a typo, and there is nothing to report.
func (a *auditor) stock(m fact.Stage, name string) bool {
	switch m {
	case fact.RCConf:
		return a.Rules.stock("rc", name)
	case fact.CommandLine:
		return a.Rules.stock("kernel", strings.TrimPrefix(name, commandLine))
	}
	module, loads := strings.CutSuffix(name, "_load")
	return m == fact.Loader && loads && a.Rules.stock("module", module)
}

// denied reports a name that this system is known to lack: the running kernel lacks it, or the catalogue is complete for its
// family.
func (a *auditor) denied(j judged) bool {
	exists, known := a.running(j.Name)
	return j.Stage == fact.Sysctl && known && !exists || a.whole(j)
}

// closed reports whether the catalogue has nearly all names of this kind, so that a name one letter off is a misspelling. Short
// names of third-party modules may resemble one by chance.
func (a *auditor) closed(j judged) bool {
	return j.Stage == fact.CommandLine && !strings.Contains(strings.TrimPrefix(j.Name, commandLine), ".") ||
		j.Stage == fact.Loader && strings.HasSuffix(j.Name, "_load") && len(j.Name) >= len("accf_http_load")
}

// ask returns the command that shows a sysctl on a host.
func ask(os, name string) string {
	if os == fact.Linux {
		return "sysctl " + name
	}
	return "sysctl -d " + name
}

// typo returns the catalogue's names that may have been meant, all equally close ones, or none if none is close enough. If here
// is set, at least one must exist on this release.
func (a *auditor) typo(j judged, here bool) []string {
	if a.strangers++; a.strangers > maxStrangers {
		return nil
	}
	slips := 2
	if j.Stage == fact.CommandLine && len(j.Name) < len(commandLine)+8 {
		return nil // user space defines its own words there, and short ones are similar by chance
	}
	if len(j.Name) < 12 || j.Stage == fact.RCConf || !strings.Contains(j.Name, ".") {
		slips = 1 // short names of other things are close by chance
	}
	var best []string
	long := ""
	forms := tunable.Folded(j.Name) // computed once, because there may be many unknown names
	for _, r := range a.c.Records {
		if r.OS != a.f.OS || !a.fits(r, j.Stage) || strings.HasPrefix(j.Name, commandLine) != strings.HasPrefix(r.Name, commandLine) {
			continue
		}
		switch d := nameDistance(forms, r.Name, slips); {
		case d > slips || here && !r.Exists(a.f.Release):
		case d < slips || len(best) == 0:
			slips, best = d, []string{r.Name}
		default:
			best = append(best, r.Name)
		}
		if long == "" && r.Exists(a.f.Release) && wordTooMany(j.Name, r.Name) {
			long = r.Name
		}
	}
	if len(best) == 0 && long != "" {
		best = []string{long}
	}
	if len(best) == 0 && j.Stage == fact.RCConf {
		best = slip(j.Name, a.Rules.RCVariables)
	}
	if word, ok := strings.CutPrefix(j.Name, commandLine); ok && len(best) == 0 {
		best = slip(word, a.Rules.KernelWords)
	}
	return best[:min(len(best), maxNear)]
}

// slip returns the stock name that differs by one letter from a name.
func slip(name string, stock words) []string {
	for _, known := range strings.Fields(string(stock)) {
		if hint.Distance(name, known, 1) == 1 && !siblings(name, known) {
			return []string{known}
		}
	}
	return nil
}

// maxNear is the maximum number of names that a finding suggests.
const maxNear = 3

// wordTooMany reports a name with an extra word in its last part: allow_unsupported_sfp for unsupported_sfp.
func wordTooMany(name, known string) bool {
	leaf, tail := lastPart(name), lastPart(known)
	return strings.Contains(tail, "_") && strings.HasSuffix(leaf, "_"+tail) && strings.TrimSuffix(name, leaf) == strings.TrimSuffix(known, tail)
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// either joins names with commas and "or".
func either(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// maxStrangers limits how many unknown names are compared with all known ones, twice each, because that is slow: a file with more
// is not tuning with typos.
const maxStrangers = 4000

// nameDistance returns the least hint.Distance of a name's forms, with device units replaced, from a known name. It ignores
// siblings, which are close without being typos: min and max, rx and tx, IPv4 and IPv6, the same setting of two drivers.
func nameDistance(forms []string, known string, limit int) int {
	least := limit + 1
	for _, n := range forms {
		if d := hint.Distance(n, known, limit); d < least && !siblings(n, known) {
			least = d
		}
	}
	return least
}

// opposites replaces by a mark the parts in which siblings differ.
var opposites = strings.NewReplacer("min", "#", "max", "#", "rx", "#", "tx", "#", "send", "#", "recv", "#",
	"0", "#", "1", "#", "2", "#", "3", "#", "4", "#", "5", "#", "6", "#", "7", "#", "8", "#", "9", "#")

func siblings(a, b string) bool {
	if driver(a) != driver(b) {
		return true
	}
	// Many names have an old spelling with a dot for an underscore.
	return opposites.Replace(a) == opposites.Replace(b) || strings.ReplaceAll(a, ".", "_") == strings.ReplaceAll(b, ".", "_")
}

// driver returns the second part of a name under dev. or hw., "" for others.
func driver(name string) string {
	parts := strings.SplitN(name, ".", 3)
	if len(parts) == 3 && (parts[0] == "dev" || parts[0] == "hw") {
		return parts[1]
	}
	return ""
}

// fits reports whether lines of stage m can set a record's mechanism.
func (a *auditor) fits(r *tunable.Record, m fact.Stage) bool {
	if a.f.OS == fact.Linux {
		return linuxFits(r, m)
	}
	switch m {
	case fact.Sysctl:
		return r.Mechanism == setting.Sysctl
	case fact.Loader:
		return r.Mechanism == setting.Sysctl || r.Mechanism == setting.Loader || r.Mechanism == setting.Module
	case fact.RCConf:
		return r.Mechanism == setting.RC
	}
	return false
}

// gone reports names that this release does not have: removed, renamed, or not yet introduced.
func (a *auditor) gone(j judged) []candidate {
	if j.rec == nil || j.st.Exists || a.product != nil && a.product.Has(j.Name) {
		return nil
	}
	if exists, _ := a.running(j.Name); exists {
		return nil // the running kernel has it
	}
	to := a.successor(j.rec)
	generic := a.builtIn(j, to)
	values := with{"generic": generic, "module": strings.TrimSuffix(j.Name, "_load"), "since": since(j.rec), "note": cmp.Or(note(j.rec), j.rec.Summary)}
	rule, of := "LR-REMOVED", "gone"
	switch {
	case generic != "":
		return []candidate{a.says(rule, "generic", j.Line, values)}
	case to != nil:
		return []candidate{a.renamed(j, to, values)}
	case !a.f.Release.IsZero() && a.f.Release.Before(j.rec.Since):
		rule, values["since"] = "LR-NOTYET", j.rec.Since.Short()
		if a.backporter() {
			of = "backports"
		}
	case a.f.OS == fact.Linux && len(j.rec.Backports) > 0 && a.vendors(j.rec):
		of, values["vendors"] = "vendor", strings.Join(j.rec.Backports, ", ")
	default:
		values["heirs"] = a.heirs(j)
	}
	c := a.says(rule, of, j.Line, values)
	if of == "gone" && j.Stage == fact.Sysctl && (rule != "LR-NOTYET" || a.f.OS != fact.Linux || a.live) { // a distribution may have backported it
		c.Severity = Error // sysctl(8) reports an error
	}
	if old := a.predecessor(j.rec); rule == "LR-NOTYET" && old != nil {
		c.Action = Change
		c.Fix = fmt.Sprintf("On %s its name is %s: %s", a.on(), unit(j.Name, old.Name), old.Summary)
	}
	return []candidate{c}
}

// builtIn returns the module that a line of loader.conf loads although GENERIC contains it, under its current name or that of the
// record that replaced it; "" if none.
func (a *auditor) builtIn(j judged, to *tunable.Record) string {
	if module, loads := loadedBy(j.Line); loads && slices.Contains(a.Rules.InGeneric, module) {
		return module
	} else if !loads || to == nil {
		return ""
	}
	if module := strings.TrimSuffix(to.Name, "_load"); slices.Contains(a.Rules.InGeneric, module) {
		return module
	}
	return ""
}

// backporter reports a kernel of a distribution that backports whole subsystems: Red Hat's, whose version says little.
func (a *auditor) backporter() bool {
	return a.f.OS == fact.Linux && strings.Contains(a.f.Release.Branch, ".el")
}

// vendors reports whether the kernel may be a vendor's kernel with the record's backport: its release shows that a distribution
// built it, the record names its distribution, or its distribution is unknown.
func (a *auditor) vendors(r *tunable.Record) bool {
	return a.f.Release.Branch != "" || a.f.Distribution == "" || slices.ContainsFunc(r.Backports, func(b string) bool {
		return strings.HasPrefix(strings.ToLower(b), a.f.Distribution)
	})
}

// heirs names the replacements of a removed name, if known.
func (a *auditor) heirs(j judged) string {
	var names []string
	for _, n := range j.rec.Related {
		if r, ok := a.c.Lookup(j.rec.OS, n); ok && r.Exists(a.f.Release) {
			names = append(names, unit(j.Name, a.ofDriver(j.Name, n)))
		}
	}
	if len(names) == 0 {
		return "Remove the line."
	}
	return fmt.Sprintf("Remove the line. If its effect is still wanted: %s.", strings.Join(names, ", "))
}

// ofDriver replaces the driver in a related name by the host's driver, if that name exists: dev.em.N.iflib.rx_budget for hw.em's
// dev.igb.N.iflib.rx_budget.
func (a *auditor) ofDriver(have, name string) string {
	own, other := driver(have), driver(name)
	if own == "" || other == "" {
		return name
	}
	its := strings.Replace(name, "."+other+".", "."+own+".", 1)
	if r, ok := a.c.Lookup(a.f.OS, its); ok && r.Exists(a.f.Release) {
		return its
	}
	return name
}

// successor returns the record that replaced a removed one.
func (a *auditor) successor(r *tunable.Record) *tunable.Record {
	for _, name := range []string{r.RenamedTo, r.AliasOf} {
		if to, ok := a.c.Lookup(r.OS, name); ok && name != "" && to.Exists(a.f.Release) {
			return to
		}
	}
	return nil
}

// predecessor returns the existing record whose new name is r.
func (a *auditor) predecessor(r *tunable.Record) *tunable.Record {
	for _, old := range a.c.Records {
		if old.OS == r.OS && old.RenamedTo == r.Name && old.Exists(a.f.Release) {
			return old
		}
	}
	return nil
}

func (a *auditor) renamed(j judged, to *tunable.Record, values with) candidate {
	name, state := unit(j.Name, a.ofDriver(j.Name, to.Name)), to.At(a.f.Release)
	where, quoted := "", j.Value
	if file := properFile(a.f.OS, state); file != "" {
		where = " in " + file
	}
	if strings.HasSuffix(where, "loader.conf") || strings.HasSuffix(where, "rc.conf") {
		quoted = strconv.Quote(quoted)
	}
	values["new"], values["where"], values["quoted"], values["summary"] = name, where, quoted, to.Summary
	c := a.says("LR-RENAMED", "gone", j.Line, values)
	if j.Stage == fact.Sysctl {
		c.Severity = Error
	}
	d, known := to.DefaultIn(a.f.Release, a.env)
	l, set := list.Find(a.lines, func(l fact.Line) bool { return l.Name == name && l.Effective && !l.Default })
	against := a.objection(to, name, j)
	switch {
	case known && to.SameValue(j.Value, d):
		c.Action, c.Fix = Remove, fmt.Sprintf("Remove the line: %s is %s by default.", name, d)
	case state.Settable == tunable.ReadOnly:
		c.Action, c.Fix = Remove, fmt.Sprintf("Remove the line: %s only reports.", name)
	case set:
		c.Action, c.Fix = Remove, fmt.Sprintf("Remove the line: %s line %d sets %s=%s.", l.File, l.Number, l.Name, l.Value)
	case against != "":
		c.Fix = fmt.Sprintf("Remove the line, or decide on a new value: %s. %s", strings.TrimSuffix(against, "."), to.Summary)
	default:
		c.sets("", name, j.Value)
	}
	return c
}

// unit inserts the unit number of a name on the host into a name of the catalogue.
func unit(have, folded string) string {
	h, f := strings.Split(have, "."), strings.Split(folded, ".")
	if len(h) > 2 && len(f) > 2 && h[0] == "dev" && f[0] == "dev" && f[2] == "N" {
		f[2] = h[2]
	}
	return strings.Join(f, ".")
}

// since says when a record's name was removed.
func since(r *tunable.Record) string {
	if !r.Removed.IsZero() {
		return fmt.Sprintf(" (removed in %s %s)", osName(r.OS), r.Removed.Short())
	}
	return ""
}

func osName(os string) string {
	if os == fact.Linux {
		return "Linux"
	}
	return "FreeBSD"
}

// note joins the record's notes into one paragraph.
func note(r *tunable.Record) string { return strings.TrimSpace(strings.Join(r.Notes, " ")) }
