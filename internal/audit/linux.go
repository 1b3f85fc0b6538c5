package audit

import (
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/linux"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// linuxFits reports whether lines of stage m can set a record's mechanism.
func linuxFits(r *tunable.Record, m fact.Stage) bool {
	switch m {
	case fact.Sysctl:
		return r.Mechanism == setting.Sysctl
	case fact.Networkd:
		return r.Mechanism == setting.Sysctl || r.Mechanism == setting.Sysfs
	case fact.CommandLine:
		return r.Mechanism == setting.Cmdline || r.Mechanism == setting.Sysctl
	case fact.Modprobe:
		return r.Mechanism == setting.Module
	}
	return true // rules and scripts can write anything
}

// bootWord reports a kernel parameter that selects what is booted, not how it runs.
func (a *auditor) bootWord(name string) bool {
	return globbed(a.Rules.BootWords, name)
}

// linuxMisplaced reports lines in a file that cannot set the name on Linux.
func (a *auditor) linuxMisplaced(j judged) []candidate {
	of := ""
	switch {
	case !linuxFits(j.rec, j.Stage):
		of = "elsewhere"
	case j.st.Mechanism == setting.Sysctl && j.st.Settable == tunable.ReadOnly:
		of = "read-only"
	case j.Stage == fact.Sysctl && j.st.Settable == tunable.Boot:
		of = "boot-linux"
	default:
		return nil
	}
	c := a.says("LR-MISPLACED", of, j.Line, with{"what": a.Rules.MechanismWords[a.f.OS][j.st.Mechanism], "why": "The file below /proc/sys cannot be written: sysctl(8) answers \"Permission denied\"."})
	c.Action, c.Severity = Remove, j.ifEffective(Error)
	return []candidate{c}
}

// linuxModule reports sysctls whose module is loaded after sysctl.d is applied: the line silently
// fails at boot, and the module comes with its default.
func (a *auditor) linuxModule(j judged) []candidate {
	if s, ok := a.f.Tunable(linux.Blocked + j.st.Module); ok && len(s.Lines) > 0 {
		return []candidate{a.says("LR-NOMODULE", "linux", j.Line, with{"module": j.st.Module, "file": s.Lines[0].File, "line": strconv.Itoa(s.Lines[0].Number)})}
	}
	by, ok := a.Rules.LateModules[j.st.Module]
	if !ok || j.Place != "" || a.arrivesEarly(j) { // the appliance's own programs set it after startup
		return nil
	}
	c := a.says("LR-ORDER", "linux", j.Line, with{"module": j.st.Module, "by": by})
	if v, live := a.f.LiveValue(j.Name); live && j.rec.SameValue(v, j.Value) {
		c.Severity = Info // someone has applied it since
	}
	if len(a.f.Modules) == 0 && !a.f.Read("/etc/os-release") || a.f.From.Alone {
		c.Severity = Info // single files do not tell which modules other files load
	}
	c.once = "late " + j.st.Module + " " + c.File
	return []candidate{c}
}

// arrivesEarly reports whether a module is loaded before sysctl.d is applied, or that is unknown: a
// tree of only sysctl.d has no information about modules.
func (a *auditor) arrivesEarly(j judged) bool {
	if a.loadedEarly(j.st.Module) || a.appliedAgain(j) || a.product != nil && slices.Contains(a.product.Loads, j.st.Module) {
		return true
	}
	if j.st.Module == "br_netfilter" && (a.f.Read("/etc/systemd") || a.live) {
		return true
	}
	return strings.HasPrefix(j.Line.Text, "-") // "-name = value" is meant to fail silently
}

// loadedEarly reports a module that is in the kernel, that modules-load.d loads, or that such a
// module loads.
func (a *auditor) loadedEarly(module string) bool {
	for _, m := range a.f.Modules {
		early := m.InKernel || slices.ContainsFunc(m.Lines, func(l fact.Line) bool { return l.Effective })
		if early && (m.Name == module || a.brings(m.Name, module)) {
			return true
		}
	}
	return false
}

// brings reports whether one module also loads another.
func (a *auditor) brings(module, other string) bool {
	for pattern, with := range a.Rules.Brings {
		if globs(pattern, module) && slices.Contains(with, other) {
			return true
		}
	}
	return false
}

// appliedAgain reports a sysctl that udev or modprobe applies again after its module is loaded.
func (a *auditor) appliedAgain(j judged) bool {
	s, ok := a.f.Tunable(linux.Applied + j.st.Module)
	return ok && slices.ContainsFunc(s.Lines, func(l fact.Line) bool {
		return strings.HasPrefix("/"+strings.ReplaceAll(j.Name, ".", "/"), l.Value)
	})
}

// unread maps notes of the file readers to cases of LR-UNREAD.
var unread = map[string]string{
	linux.Unread: "systemd", linux.NotConf: "name", linux.NeverMatched: "unmatched", linux.NotExecutable: "mode", linux.NotDebian: "grub.d", linux.Replaced: "replaced",
}

// linuxFiles reports files that are not read at boot, once each.
func (a *auditor) linuxFiles() []candidate {
	if a.f.OS != fact.Linux {
		return nil
	}
	var all []candidate
	for _, l := range a.lines {
		of, known := unread[l.Note]
		switch {
		case l.Effective:
		case strings.HasPrefix(l.Note, linux.WrongSection) || l.Note == linux.BadLimit:
			all = append(all, a.passedOver(l))
		case !known, l.Note == linux.Replaced && a.bootWord(l.Name), l.Note == linux.NotExecutable && a.product != nil: // whose own init sources the file
		default:
			c := a.says("LR-UNREAD", of, called(base(l.File), l), with{"plain": strings.TrimLeft(base(l.File), "0123456789-")})
			c.once = c.ID
			all = append(all, c)
		}
	}
	return all
}

// passedOver reports a limit that systemd does not accept in a unit.
func (a *auditor) passedOver(l fact.Line) candidate {
	_, key, _ := strings.Cut(strings.TrimPrefix(l.Name, "systemd/"), "/")
	right, of := "[Service]", "value"
	if strings.HasPrefix(key, "Default") {
		right = "[Manager]"
	}
	section, wrong := strings.CutPrefix(l.Note, linux.WrongSection)
	if wrong {
		of = "section"
	}
	return a.says("LR-UNIT-IGNORED", of, l, with{"key": key, "section": section, "right": right})
}
