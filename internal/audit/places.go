package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// properFile returns the file that a tunable belongs to, "" if there is none.
func properFile(os string, s tunable.State) string {
	switch {
	case os == fact.Linux && (s.Mechanism != setting.Sysctl || !s.Settable.AtRuntime()):
		return ""
	case os == fact.Linux:
		return "/etc/sysctl.d/90-local.conf"
	case s.Mechanism == setting.RC:
		return "/etc/rc.conf"
	case s.Mechanism == setting.Loader, s.Mechanism == setting.Module, s.Mechanism == setting.Sysctl && s.Settable == tunable.Boot:
		return "/boot/loader.conf"
	case s.Mechanism == setting.Sysctl && s.Settable.AtRuntime():
		return "/etc/sysctl.conf"
	}
	return ""
}

// OfValue returns the findings about one value, as if written where it takes effect on the host of in.Facts, of which nothing
// else need be known.
func OfValue(in Input, rec *tunable.Record, name, value string) ([]Finding, error) {
	file := properFile(rec.OS, rec.At(in.Facts.Release))
	if file == "" {
		return nil, nil
	}
	l := fact.Line{File: file, Number: math.MaxInt32, Text: name + "=" + value, Name: name, Value: value, Order: math.MaxInt32, Effective: true,
		Stage: map[string]fact.Stage{"/etc/rc.conf": fact.RCConf, "/boot/loader.conf": fact.Loader}[file]}
	l.Stage = cmp.Or(l.Stage, fact.Sysctl)
	f := *in.Facts
	f.Settings = slices.Clone(f.Settings)
	f.AddLines([]fact.Line{l})
	f.Normalise()
	in.Facts = &f
	r, err := Run(in)
	return slices.DeleteFunc(r.Findings, func(x Finding) bool { return x.Line != l.Number || x.Kind == Default || x.Kind == Order }), err
}

// misplaced reports lines in a file that cannot set the name.
func (a *auditor) misplaced(j judged) []candidate {
	if j.rec == nil {
		return nil
	}
	if a.f.OS == fact.Linux {
		return a.linuxMisplaced(j)
	}
	of, to := "", properFile(a.f.OS, j.st)
	runtime, boot := a.powers(j)
	switch {
	case len(a.option(j)) > 0:
		return nil // no stock kernel has it, so the file does not matter
	case j.Stage == fact.Loader && j.st.Scope == tunable.VNET && a.oneStack():
		return nil // a kernel without VIMAGE fetches it
	case j.st.Mechanism != setting.Sysctl && !a.fits(j.rec, j.Stage):
		of = "elsewhere"
	case j.st.Mechanism == setting.Sysctl && !runtime && !boot:
		of, to = "read-only", ""
	case j.Stage == fact.Sysctl && !runtime:
		of = "boot"
	case j.Stage == fact.Sysctl && boot && j.rec.Reset == tunable.NeedReboot:
		of, to = "too-late", "/boot/loader.conf"
	case j.Stage == fact.Loader && j.st.Mechanism == setting.Sysctl && !boot:
		of = "runtime"
	default:
		return nil
	}
	c := a.says("LR-MISPLACED", of, j.Line, with{"what": a.Rules.MechanismWords[a.f.OS][j.st.Mechanism], "why": "The kernel declares it read-only."})
	c.Sources = j.rec.Sources // for a name outside the catalogue, the host's own information
	c.Severity = j.ifEffective(map[bool]Severity{true: Warning, false: Error}[of == "too-late"])
	c.Fix = a.moveFix(&c.Finding, j, to)
	return []candidate{c}
}

// moveFix says where a misplaced line belongs; a line with the default value belongs nowhere.
func (a *auditor) moveFix(f *Finding, j judged, to string) string {
	var p *tunable.ValueProblem
	if !j.Hidden() {
		p = j.rec.RejectOn(a.f.Release, j.Value)
	}
	switch {
	case j.moot:
		f.Action = Remove
		return fmt.Sprintf("Remove the line: %s is %s by default.", j.Name, j.Value)
	case a.setAt(to, j).Name != "":
		f.Action = Remove
		l := a.setAt(to, j)
		return fmt.Sprintf("Remove the line: %s line %d sets %s=%s.", l.File, l.Number, l.Name, l.Value)
	case to == "":
		f.Action = Remove
		return removeLine
	case p != nil:
		f.Action = Change
		return fmt.Sprintf("Write it in %s with a value that it takes (%s), or remove the line.", to, p.Message)
	}
	f.sets(mechanismOf[to], j.Name, j.Value)
	if against := a.objection(j.rec, j.Name, j); against != "" && !j.Hidden() {
		return fmt.Sprintf("Decide what is wanted before moving it to %s: %s.", to, strings.TrimSuffix(against, "."))
	}
	switch to {
	case "/boot/loader.conf":
		return fmt.Sprintf("Move it to %s: %s=\"%s\", and reboot.", to, j.Name, j.Value)
	case "/etc/rc.conf":
		return fmt.Sprintf("Move it to %s: %s=\"%s\".", to, j.Name, j.Value)
	}
	return fmt.Sprintf("Move it to %s: %s=%s", to, j.Name, j.Value)
}

// mechanismOf maps a file to the mechanism that it serves.
var mechanismOf = map[string]setting.Mechanism{"/boot/loader.conf": setting.Loader, "/etc/rc.conf": setting.RC, "/etc/sysctl.conf": setting.Sysctl}

// setAt returns the line in the proper file that already sets the tunable, under this or another of its names.
func (a *auditor) setAt(file string, j judged) fact.Line {
	stage, ok := map[string]fact.Stage{"/etc/sysctl.conf": fact.Sysctl, "/boot/loader.conf": fact.Loader, "/etc/rc.conf": fact.RCConf}[file]
	for _, l := range a.lines {
		if !ok || l.Stage != stage || !l.Effective || l.Default {
			continue
		}
		if r, known := a.c.Lookup(a.f.OS, l.Name); l.Name == j.Name || known && (r.AliasOf == j.rec.Name || j.rec.AliasOf == r.Name && !strings.HasPrefix(r.Name, "dev.")) {
			return l
		}
	}
	return fact.Line{}
}

// oneStack reports a kernel known to be built without VIMAGE: it fetches the tunables of a network stack from the loader like all
// others.
func (a *auditor) oneStack() bool {
	return len(a.f.KernelOptions) > 0 && !slices.ContainsFunc(a.f.KernelOptions, func(o string) bool { return o == "VIMAGE" || strings.HasPrefix(o, "VIMAGE=") })
}

func base(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// powers reports when the name can be set: according to the running kernel if known, else to the catalogue. The kernel's flags
// are incomplete for boot: what TUNABLE_*_FETCH reads has no flag, and a VIMAGE kernel does not fetch a vnet's tunables despite
// the flag.
func (a *auditor) powers(j judged) (runtime, boot bool) {
	runtime, boot = j.st.Settable.AtRuntime(), j.st.Settable.AtBoot()
	if s, ok := a.f.Tunable(j.Name); ok && s.Access != nil {
		runtime = s.Access.Runtime
		boot = boot || s.Access.Boot && j.st.Scope != tunable.VNET
	}
	return runtime, boot
}

// access judges a name outside the catalogue by the running kernel's flags.
func (a *auditor) access(j judged) []candidate {
	s, _ := a.f.Tunable(j.Name)
	if s.Access == nil {
		return nil
	}
	j.rec = &tunable.Record{Name: j.Name, Mechanism: setting.Sysctl, Sources: []string{"sysctl -aNT and -aNW of this host"}}
	j.st = tunable.State{Exists: true, Mechanism: setting.Sysctl, Settable: settable(*s.Access)}
	return a.misplaced(j)
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
