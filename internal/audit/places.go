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

// consequence is what a system does with a name it does not know.
func consequence(m fact.Stage) string {
	switch m {
	case fact.Sysctl:
		return "sysctl(8) reports an unknown oid and goes on; nothing is set."
	case fact.Loader, fact.Hints:
		return "The loader passes any name on and no one reads this one; it sets nothing, without a message."
	case fact.RCConf:
		return "rc(8) keeps a variable that no script reads."
	}
	return "Nothing is set."
}

// properFile is where a tunable belongs, "" where no file is the place.
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

// OfValue is what the audit says of one value, written where it takes effect on the host of
// in.Facts, of which nothing else need be known.
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

// misplaced reports lines in a file that has no power over the name.
func (a *auditor) misplaced(j judged) []candidate {
	if j.rec == nil {
		return nil
	}
	if a.f.OS == fact.Linux {
		return a.linuxMisplaced(j)
	}
	f := Finding{ID: "LR-MISPLACED:" + j.Name, Kind: Misplaced, Action: Move, Name: j.Name,
		Severity: j.ifEffective(Error), Sources: j.rec.Sources}.at(j.Line)
	to := properFile(a.f.OS, j.st)
	runtime, boot := a.powers(j)
	switch {
	case len(a.option(j)) > 0:
		return nil // no stock kernel has it, wherever the line stands
	case j.Stage == fact.Loader && j.st.Scope == tunable.VNET && a.oneStack():
		return nil // a kernel without VIMAGE fetches it
	case j.st.Mechanism != setting.Sysctl && !a.fits(j.rec, j.Stage):
		f.Message = fmt.Sprintf("%s cannot be set in %s", j.Name, base(j.File))
		f.Why = fmt.Sprintf("It is %s. %s", mechanismWords[j.st.Mechanism], a.consequence(j.Stage))
	case j.st.Mechanism == setting.Sysctl && !runtime && !boot:
		f.Action, to = Remove, ""
		f.Message = j.Name + " only reports; it cannot be set"
		f.Why = "The kernel declares it read-only."
	case j.Stage == fact.Sysctl && !runtime:
		f.Message = fmt.Sprintf("%s can be set at boot only; a line in %s has no effect", j.Name, base(j.File))
		f.Why = fmt.Sprintf("The kernel reads it once, from the loader's environment; sysctl(8) answers that %s is a read only tunable.", j.Name)
	case j.Stage == fact.Sysctl && boot && j.rec.Reset == tunable.NeedReboot:
		f.Severity, to = j.ifEffective(Warning), "/boot/loader.conf"
		f.Message = fmt.Sprintf("%s acts at boot only; a line in %s comes too late", j.Name, base(j.File))
		f.Why = "The kernel takes the new value and shows it, but has used the one of its start before the file is read."
	case j.Stage == fact.Loader && j.st.Mechanism == setting.Sysctl && !boot:
		f.Message = fmt.Sprintf("%s can be set on the running system only; a line in %s has no effect", j.Name, base(j.File))
		f.Why = "The kernel does not fetch it from the loader's environment: the line is accepted, it sets nothing, without a message."
	default:
		return nil
	}
	f.Fix = a.moveFix(&f, j, to)
	return one(misplaced, f)
}

// moveFix says where a misplaced line belongs; a line whose value is the
// default belongs nowhere.
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
	case to == "" || f.Action == Remove:
		f.Action = Remove
		return "Remove the line."
	case p != nil:
		f.Action = Change
		return fmt.Sprintf("Write it in %s with a value that it takes (%s), or remove the line.", to, p.Message)
	}
	f.sets(mechanismOf[to], j.Name, j.Value)
	switch to {
	case "/boot/loader.conf":
		return fmt.Sprintf("Move it to %s: %s=\"%s\", and reboot.", to, j.Name, j.Value)
	case "/etc/rc.conf":
		return fmt.Sprintf("Move it to %s: %s=\"%s\".", to, j.Name, j.Value)
	}
	return fmt.Sprintf("Move it to %s: %s=%s", to, j.Name, j.Value)
}

// mechanismOf is the way of setting that a file stands for.
var mechanismOf = map[string]setting.Mechanism{"/boot/loader.conf": setting.Loader, "/etc/rc.conf": setting.RC, "/etc/sysctl.conf": setting.Sysctl}

// setAt is the line by which the proper file sets the tunable already, under
// this name or another of its names.
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

var mechanismWords = map[setting.Mechanism]string{
	setting.Loader:       "a variable of the kernel's environment, without a sysctl: only the loader can set it",
	setting.RC:           "a variable of rc.conf",
	setting.Module:       "a module for the loader",
	setting.Ifconfig:     "a flag of an interface, for ifconfig",
	setting.KernelOption: "compiled into the kernel",
	setting.Mount:        "an option of mount(8) and fstab(5)",
	setting.Tunefs:       "set with tunefs(8)",
	setting.LoginConf:    "a capability of login.conf(5)",
	setting.Firewall:     "a line of the firewall's own configuration",
	setting.Service:      "a line of the daemon's own configuration",
	setting.Sysctl:       "a sysctl",
	setting.Ethtool:      "a setting of the interface, for ethtool",
}

// oneStack reports a kernel that is known to be built without VIMAGE: what
// belongs to a network stack is then fetched from the loader as all else is.
func (a *auditor) oneStack() bool {
	return len(a.f.KernelOptions) > 0 && !slices.ContainsFunc(a.f.KernelOptions, func(o string) bool { return o == "VIMAGE" || strings.HasPrefix(o, "VIMAGE=") })
}

func base(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// powers says when the name can be set: the running kernel's word where it
// is known, else the catalogue's. Of the boot the kernel's flags know only
// half: what TUNABLE_*_FETCH reads has no flag, and a VIMAGE kernel does not
// fetch what belongs to a vnet though the flag is there.
func (a *auditor) powers(j judged) (runtime, boot bool) {
	runtime, boot = j.st.Settable.AtRuntime(), j.st.Settable.AtBoot()
	if s, ok := a.f.Tunable(j.Name); ok && s.Access != nil {
		runtime = s.Access.Runtime
		boot = boot || s.Access.Boot && j.st.Scope != tunable.VNET
	}
	return runtime, boot
}

// access judges a name outside the catalogue by the running kernel's word.
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
