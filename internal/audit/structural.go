package audit

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/tunable"
)

// judged is a line with what the catalogue knows of its name.
type judged struct {
	fact.Line
	rec *tunable.Record // nil when the catalogue does not know the name
	st  tunable.State   // rec on the host's release
	// moot: the system has that value anyway, so a line without effect
	// costs nothing.
	moot bool
}

// line holds one line against the catalogue. At most one finding comes of
// it, the first that applies: a name that does not exist has no wrong value.
func (a *auditor) line(l fact.Line) {
	j := judged{Line: l}
	if r, ok := a.c.Lookup(a.f.OS, l.Name); ok {
		j.rec, j.st = r, r.At(a.f.Release)
		d, known := r.DefaultIn(a.f.Release, a.env)
		j.moot = known && r.SameValue(l.Value, d)
	}
	if !l.Effective {
		return // repeats() speaks of it
	}
	for _, check := range []func(judged) bool{a.unknown, a.gone, a.misplaced, a.module, a.rejected, a.asDefault, a.cautions} {
		if check(j) {
			return
		}
	}
}

// ifEffective lowers a severity where the line's value is what the system
// has anyway.
func (j judged) ifEffective(s Severity) Severity {
	if j.moot {
		return Info
	}
	return s
}

func (a *auditor) on() string {
	name := map[string]string{fact.FreeBSD: "FreeBSD", fact.Linux: "Linux"}[a.f.OS]
	if a.f.Release.IsZero() {
		return "today's " + name
	}
	return name + " " + a.f.Release.Short()
}

// running reports whether the kernel knows a sysctl; known is false when the
// audit has no running values.
func (a *auditor) running(name string) (exists, known bool) {
	if !a.f.Live() {
		return false, false
	}
	_, ok := a.f.LiveValue(name)
	return ok, true
}

// unknown reports names that the catalogue does not have: typos as errors,
// others only where they matter.
func (a *auditor) unknown(j judged) bool {
	if j.rec != nil || j.Mechanism == fact.Hints || j.Mechanism == fact.Conf {
		return false
	}
	exists, known := a.running(j.Name)
	if exists {
		return a.access(j)
	}
	near := a.typo(j, true)
	f := Finding{ID: "LR-UNKNOWN:" + j.Name, Kind: Unknown, Name: j.Name}.at(j.Line)
	switch gone := a.typo(j, false); {
	case near == "" && gone != "":
		f.Severity, f.Action = Warning, Remove
		f.Message = fmt.Sprintf("%s is not known; the nearest name, %s, is not there on %s either", j.Name, gone, a.on())
		f.Why = "The name is one or two letters off one that only other releases have. " + consequence(j.Mechanism)
		f.Fix = "Remove the line."
	case near != "":
		f.Severity, f.Action = Error, Change
		if j.Mechanism == fact.RCConf {
			f.Severity = Warning
		}
		f.Message = fmt.Sprintf("%s is not known on %s; did you mean %s?", j.Name, a.on(), near)
		f.Why = "The name is one or two letters off a known one, and nothing by this name is in the catalogue."
		f.Fix = fmt.Sprintf("If %s was meant, correct the name.", near)
	case j.Mechanism == fact.Sysctl && known:
		f.Severity, f.Action = Error, Remove
		f.Message = fmt.Sprintf("the running kernel has no %s", j.Name)
		f.Why = "sysctl(8) answers \"unknown oid\": the name is gone, misspelt, or its module is not loaded."
		f.Fix = "Remove the line, or load the module that brings the name."
	case j.Mechanism == fact.Sysctl || j.Mechanism == fact.Loader && strings.Contains(j.Name, "."):
		f.Severity, f.Action = Info, Measure
		f.Message = j.Name + " is not in the catalogue; the audit cannot judge it"
		f.Why = "The catalogue knows what matters to networks, not every name."
		f.Fix = fmt.Sprintf("Ask the host: sysctl -d %s", j.Name)
	default:
		return true // ports bring rc.conf variables and modules of their own
	}
	a.add(f)
	return true
}

// typo is the catalogued name that somebody may have meant, "" when none is
// near enough to say so. With here it must be one that this release has.
func (a *auditor) typo(j judged, here bool) string {
	slips := 2
	if len(j.Name) < 12 || j.Mechanism == fact.RCConf || !strings.Contains(j.Name, ".") {
		slips = 1 // short names of other things are near by chance
	}
	best := ""
	for _, r := range a.c.Records {
		if r.OS != a.f.OS || !a.fits(r, j.Mechanism) {
			continue
		}
		if d := nameDistance(j.Name, r.Name, slips); d <= slips && (!here || r.Exists(a.f.Release)) {
			slips, best = d-1, r.Name
			if slips < 1 {
				break
			}
		}
	}
	return best
}

// nameDistance is hint.Distance with lengths compared first, and units of
// devices replaced. Siblings — min and max, rx and tx, IPv4 and IPv6, the same
// setting of two drivers — are near without being slips.
func nameDistance(name, known string, limit int) int {
	least := limit + 1
	for _, n := range tunable.Folded(name) {
		if diff := len(n) - len(known); diff <= limit && -diff <= limit && !siblings(n, known) {
			least = min(least, hint.Distance(n, known))
		}
	}
	return least
}

// opposites replaces what tells siblings apart by a mark.
var opposites = strings.NewReplacer("min", "#", "max", "#", "rx", "#", "tx", "#", "send", "#", "recv", "#",
	"0", "#", "1", "#", "2", "#", "3", "#", "4", "#", "5", "#", "6", "#", "7", "#", "8", "#", "9", "#")

func siblings(a, b string) bool {
	if driver(a) != driver(b) {
		return true
	}
	// A dot for an underscore is the old spelling of many names, not a slip.
	return opposites.Replace(a) == opposites.Replace(b) || strings.ReplaceAll(a, ".", "_") == strings.ReplaceAll(b, ".", "_")
}

// driver is the second part of a name under dev. or hw., "" of others.
func driver(name string) string {
	parts := strings.SplitN(name, ".", 3)
	if len(parts) == 3 && (parts[0] == "dev" || parts[0] == "hw") {
		return parts[1]
	}
	return ""
}

// fits reports whether records of this mechanism are set by such lines.
func (a *auditor) fits(r *tunable.Record, m fact.Mechanism) bool {
	switch m {
	case fact.Sysctl:
		return r.Mechanism == tunable.Sysctl
	case fact.Loader:
		return r.Mechanism == tunable.Sysctl || r.Mechanism == tunable.Loader || r.Mechanism == tunable.Module
	case fact.RCConf:
		return r.Mechanism == tunable.RC
	}
	return false
}

// gone reports names that this release does not have: removed, renamed, or
// not there yet.
func (a *auditor) gone(j judged) bool {
	if j.rec == nil || j.st.Exists {
		return false
	}
	if exists, _ := a.running(j.Name); exists {
		return false // the kernel knows better
	}
	f := Finding{Name: j.Name, Sources: j.rec.Sources, Severity: Warning}.at(j.Line)
	if j.Mechanism == fact.Sysctl {
		f.Severity = Error // sysctl(8) rejects it aloud
	}
	switch to := a.successor(j.rec); {
	case to != nil:
		a.renamed(&f, j, to)
	case !a.f.Release.IsZero() && a.f.Release.Before(j.rec.Since):
		f.ID, f.Kind, f.Action = "LR-NOTYET:"+j.Name, Unknown, Remove
		f.Message = fmt.Sprintf("%s is not there before %s %s; this is %s", j.Name, osName(a.f.OS), j.rec.Since.Short(), a.on())
		f.Fix = "Remove the line until the upgrade."
		if old := a.predecessor(j.rec); old != nil {
			f.Action = Change
			f.Fix = fmt.Sprintf("On %s its name is %s: %s", a.on(), unit(j.Name, old.Name), old.Summary)
		}
	default:
		f.ID, f.Kind, f.Action = "LR-REMOVED:"+j.Name, Removed, Remove
		f.Message = fmt.Sprintf("%s does not exist on %s%s", j.Name, a.on(), since(j.rec))
		f.Fix = "Remove the line."
	}
	if f.Why = note(j.rec); f.Why == "" {
		f.Why = j.rec.Summary
	}
	f.Why += " " + consequence(j.Mechanism)
	a.add(f)
	return true
}

// successor is the record that took a removed one's place.
func (a *auditor) successor(r *tunable.Record) *tunable.Record {
	for _, name := range []string{r.RenamedTo, r.AliasOf} {
		if to, ok := a.c.Lookup(r.OS, name); ok && name != "" && to.Exists(a.f.Release) {
			return to
		}
	}
	return nil
}

// predecessor is the record of which r is the new name, where it exists.
func (a *auditor) predecessor(r *tunable.Record) *tunable.Record {
	for _, old := range a.c.Records {
		if old.OS == r.OS && old.RenamedTo == r.Name && old.Exists(a.f.Release) {
			return old
		}
	}
	return nil
}

func (a *auditor) renamed(f *Finding, j judged, to *tunable.Record) {
	name := unit(j.Name, to.Name)
	f.ID, f.Kind, f.Action = "LR-RENAMED:"+j.Name, Renamed, Change
	f.Message = fmt.Sprintf("%s is %s on %s", j.Name, name, a.on())
	d, known := to.DefaultIn(a.f.Release, a.env)
	if known && to.SameValue(j.Value, d) {
		f.Action = Remove
		f.Fix = fmt.Sprintf("Remove the line: %s is %s by default.", name, d)
		return
	}
	if p := to.Reject(j.Value); p != nil {
		f.Fix = fmt.Sprintf("Remove the line; %s does not take its value (%s). %s", name, p.Message, to.Summary)
		return
	}
	where := ""
	if file := properFile(a.f.OS, to.At(a.f.Release)); file != "" {
		where = " in " + file
	}
	value := j.Value
	if strings.HasSuffix(where, "loader.conf") || strings.HasSuffix(where, "rc.conf") {
		value = fmt.Sprintf("%q", value)
	}
	f.Fix = fmt.Sprintf("Set %s=%s%s if it is still wanted, and check the meaning: %s", name, value, where, to.Summary)
}

// unit gives a name of the catalogue the unit number of a name on the host.
func unit(have, folded string) string {
	h, f := strings.Split(have, "."), strings.Split(folded, ".")
	if len(h) > 2 && len(f) > 2 && h[0] == "dev" && f[0] == "dev" && f[2] == "N" {
		f[2] = h[2]
	}
	return strings.Join(f, ".")
}

// since says when a record's name went.
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

// note is what the record's notes say, in one paragraph.
func note(r *tunable.Record) string { return strings.TrimSpace(strings.Join(r.Notes, " ")) }

// consequence is what a system does with a name it does not know.
func consequence(m fact.Mechanism) string {
	switch m {
	case fact.Sysctl:
		return "sysctl(8) reports an unknown oid and goes on; nothing is set."
	case fact.Loader, fact.Hints:
		return "The loader passes any name on and no one reads this one; nothing is set and nothing is said."
	case fact.RCConf:
		return "rc(8) keeps a variable that no script reads."
	}
	return "Nothing is set."
}

// properFile is where a tunable belongs, "" where no file is the place.
func properFile(os string, s tunable.State) string {
	switch {
	case os == fact.Linux && (s.Mechanism != tunable.Sysctl || !s.Settable.AtRuntime()):
		return ""
	case s.Mechanism == tunable.RC:
		return "/etc/rc.conf"
	case s.Mechanism == tunable.Loader, s.Mechanism == tunable.Module, s.Mechanism == tunable.Sysctl && s.Settable == tunable.Boot:
		return "/boot/loader.conf"
	case s.Mechanism == tunable.Sysctl && s.Settable.AtRuntime():
		return "/etc/sysctl.conf"
	}
	return ""
}

// misplaced reports lines in a file that has no power over the name.
func (a *auditor) misplaced(j judged) bool {
	if j.rec == nil {
		return false
	}
	f := Finding{ID: "LR-MISPLACED:" + j.Name, Kind: Misplaced, Action: Move, Name: j.Name,
		Severity: j.ifEffective(Error), Sources: j.rec.Sources}.at(j.Line)
	to := properFile(a.f.OS, j.st)
	runtime, boot := a.powers(j)
	switch {
	case j.st.Mechanism != tunable.Sysctl && !a.fits(j.rec, j.Mechanism):
		f.Message = fmt.Sprintf("%s cannot be set in %s", j.Name, base(j.File))
		f.Why = fmt.Sprintf("It is %s. %s", mechanismWords[j.st.Mechanism], consequence(j.Mechanism))
	case j.st.Mechanism == tunable.Sysctl && !runtime && !boot:
		f.Action, to = Remove, ""
		f.Message = j.Name + " only reports; it cannot be set"
		f.Why = "The kernel declares it read-only."
	case j.Mechanism == fact.Sysctl && !runtime:
		f.Message = fmt.Sprintf("%s can be set at boot only; a line in %s has no effect", j.Name, base(j.File))
		f.Why = fmt.Sprintf("The kernel reads it once, from the loader's environment; sysctl(8) answers that %s is a read only tunable.", j.Name)
	case j.Mechanism == fact.Loader && j.st.Mechanism == tunable.Sysctl && !boot:
		f.Message = fmt.Sprintf("%s can be set on the running system only; a line in %s has no effect", j.Name, base(j.File))
		f.Why = "The kernel does not fetch it from the loader's environment: the line is accepted, nothing is set and nothing is said."
	default:
		return false
	}
	f.Fix = moveFix(&f, j, to)
	if f.Action == Move {
		f.Fix += a.idle(j)
	}
	a.add(f)
	return true
}

// idle says that a line would do nothing in its proper place either, where a
// rule knows that.
func (a *auditor) idle(j judged) string {
	for _, r := range a.Rules.rules {
		spellings := tunable.Folded(j.Name)
		if r.Kind != Ineffective || r.Each != EachLine || !r.forHost(a.f.OS, a.f.Release, a.Role) || !r.takes(spellings) {
			continue
		}
		s := a.aboutLine(j.Line, spellings[len(spellings)-1])
		if yes, err := language().Holds(r.When, s.env); err != nil || !yes {
			continue
		}
		if text, err := language().Fill(r.Message, s.env); err == nil {
			return fmt.Sprintf(" — it would do nothing there either (%s): rather remove it.", text)
		}
	}
	e := a.env.With(j.Value, "")
	for _, c := range j.rec.Cautions {
		if yes, err := e.Holds(c.When); c.Kind == "ineffective" && c.When != "" && !e.Unknown(c.When) && err == nil && yes {
			return fmt.Sprintf(" — it would do nothing there either (%s): rather remove it.", strings.TrimRight(c.Text, "."))
		}
	}
	return ""
}

// moveFix says where a misplaced line belongs; a line whose value is the
// default belongs nowhere.
func moveFix(f *Finding, j judged, to string) string {
	switch {
	case j.moot:
		f.Action = Remove
		return fmt.Sprintf("Remove the line: %s is %s by default.", j.Name, j.Value)
	case to == "" || f.Action == Remove:
		f.Action = Remove
		return "Remove the line."
	case to == "/boot/loader.conf":
		return fmt.Sprintf("Move it to %s: %s=\"%s\", and reboot.", to, j.Name, j.Value)
	case to == "/etc/rc.conf":
		return fmt.Sprintf("Move it to %s: %s=\"%s\".", to, j.Name, j.Value)
	}
	return fmt.Sprintf("Move it to %s: %s=%s", to, j.Name, j.Value)
}

var mechanismWords = map[tunable.Mechanism]string{
	tunable.Loader:       "a variable of the kernel's environment, without a sysctl: only the loader can set it",
	tunable.RC:           "a variable of rc.conf",
	tunable.Module:       "a module for the loader",
	tunable.Ifconfig:     "a flag of an interface, for ifconfig",
	tunable.KernelOption: "compiled into the kernel",
	tunable.Mount:        "an option of mount(8) and fstab(5)",
	tunable.Tunefs:       "set with tunefs(8)",
	tunable.LoginConf:    "a capability of login.conf(5)",
	tunable.Firewall:     "a line of the firewall's own configuration",
	tunable.Service:      "a line of the daemon's own configuration",
	tunable.Sysctl:       "a sysctl",
	tunable.Ethtool:      "a setting of the interface, for ethtool",
}

func base(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// powers says when the name can be set: the running kernel's word where it
// is known, else the catalogue's.
func (a *auditor) powers(j judged) (runtime, boot bool) {
	if s, ok := a.f.Setting(j.Name); ok && s.Access != nil {
		return s.Access.Runtime, s.Access.Boot
	}
	return j.st.Settable.AtRuntime(), j.st.Settable.AtBoot()
}

// access judges a name outside the catalogue by the running kernel's word.
func (a *auditor) access(j judged) bool {
	s, _ := a.f.Setting(j.Name)
	if s.Access == nil {
		return true
	}
	j.rec = &tunable.Record{Name: j.Name, Mechanism: tunable.Sysctl, Sources: []string{"sysctl -aNT and -aNW of this host"}}
	j.st = tunable.State{Exists: true, Mechanism: tunable.Sysctl, Settable: settable(*s.Access)}
	a.misplaced(j)
	return true
}

func settable(x fact.Access) tunable.Settable {
	switch {
	case x.Boot && x.Runtime:
		return tunable.BootRuntime
	case x.Boot:
		return tunable.Boot
	case x.Runtime:
		return tunable.Runtime
	}
	return tunable.ReadOnly
}

// module reports names whose module nobody loads, and those set before it is.
func (a *auditor) module(j judged) bool {
	if j.rec == nil || j.st.Module == "" || j.Mechanism != fact.Sysctl {
		return false
	}
	exists, known := a.running(j.Name)
	when := a.earliest(j.st.Module)
	if exists && when != late || when == never && !known && !a.f.Read("/boot/loader.conf") {
		return false // it is there, or what the loader loads is not known
	}
	f := Finding{Name: j.Name, Sources: j.rec.Sources}.at(j.Line)
	switch when {
	case never:
		f.ID, f.Kind, f.Severity, f.Action = "LR-NOMODULE:"+j.Name, Unknown, Warning, Change
		f.Message = fmt.Sprintf("%s comes with the module %s, which nothing here loads", j.Name, j.st.Module)
		f.Why = "Without the module the name does not exist. " + consequence(j.Mechanism)
		f.Fix = fmt.Sprintf("Load it: %s_load=\"YES\" in /boot/loader.conf. Or remove the line.", j.st.Module)
	case late:
		f.ID, f.Kind, f.Severity, f.Action = "LR-ORDER:"+j.Name, Order, Info, Change
		f.Message = fmt.Sprintf("%s is set before its module %s is loaded", j.Name, j.st.Module)
		f.Why = "rc.d/sysctl runs first and skips names that do not exist yet; rc.d/sysctl_lastload sets them after the network and the services are up. In between the default holds."
		f.Fix = fmt.Sprintf("If that matters, load the module early: %s_load=\"YES\" in /boot/loader.conf.", j.st.Module)
		f.Sources = append(slices.Clone(f.Sources), "libexec/rc/rc.d/sysctl", "libexec/rc/rc.d/sysctl_lastload")
	default:
		return false
	}
	a.add(f)
	return f.Kind == Unknown
}

// When a module gets into the kernel.
type arrival int

const (
	never arrival = iota
	late          // by rc(8), after the first reading of sysctl.conf
	early         // by the loader, or it is in the kernel
)

func (a *auditor) earliest(module string) arrival {
	m, known := a.f.Module(module)
	if known && m.InKernel || slices.ContainsFunc(m.Lines, func(l fact.Line) bool {
		return l.Mechanism == fact.Loader && l.Effective && strings.EqualFold(l.Value, "YES")
	}) {
		return early
	}
	if a.Rules.RCModules[module] == "cloned_interfaces" {
		v, _ := a.f.RCValue("cloned_interfaces")
		if strings.Contains(v, strings.TrimPrefix(module, "if_")) {
			return late
		}
	}
	if len(m.Lines) > 0 || a.f.RCYes(a.Rules.RCModules[module]) || known && m.Loaded != nil && *m.Loaded {
		return late
	}
	return never
}
