package audit

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/linux"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// linuxConsequences are what Linux does with a name it does not know.
var linuxConsequences = map[fact.Stage]string{
	fact.Sysctl:      "sysctl(8) says \"cannot stat\" of it and goes on; nothing is set.",
	fact.CommandLine: "The kernel hands unknown parameters to init, which passes over them; nothing is set.",
	fact.Modprobe:    "The module is loaded, and the kernel logs \"unknown parameter\"; nothing is set.",
	fact.Udev:        "udev logs that it cannot write the attribute; nothing is set.",
}

// consequence is what the host's system does with a name it does not know.
func (a *auditor) consequence(m fact.Stage) string {
	if a.product != nil && m == fact.Sysctl && a.product.Unknown != "" {
		return a.product.Unknown
	}
	if words, ok := linuxConsequences[m]; ok && a.f.OS == fact.Linux {
		return words
	}
	return consequence(m)
}

// linuxFits reports whether records of a mechanism are set by such lines.
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
	return true // rules and scripts may write anything
}

// distributionSets reports names that distributions set in files of theirs which were not
// read here.
func (a *auditor) distributionSets(name string) bool {
	return slices.ContainsFunc(a.Rules.Distributions, func(p string) bool { return globs(p, name) })
}

// bootWord reports a parameter that says what is booted, not how it runs.
func (a *auditor) bootWord(name string) bool {
	return slices.ContainsFunc(a.Rules.BootWords, func(p string) bool { return globs(p, name) })
}

// linuxMisplaced reports lines of Linux in a file that has no power over the
// name.
func (a *auditor) linuxMisplaced(j judged) []candidate {
	f := Finding{ID: "LR-MISPLACED:" + j.Name, Kind: Misplaced, Action: Remove, Name: j.Name,
		Severity: j.ifEffective(Error), Sources: j.rec.Sources, Fix: "Remove the line."}.at(j.Line)
	switch {
	case !linuxFits(j.rec, j.Stage):
		f.Message = fmt.Sprintf("%s cannot be set in %s", j.Name, base(j.File))
		f.Why = fmt.Sprintf("It is %s. %s", linuxMechanisms[j.st.Mechanism], a.consequence(j.Stage))
	case j.st.Mechanism == setting.Sysctl && j.st.Settable == tunable.ReadOnly:
		f.Message = j.Name + " only reports; it cannot be set"
		f.Why = "The file below /proc/sys cannot be written: sysctl(8) answers \"Permission denied\"."
	case j.Stage == fact.Sysctl && j.st.Settable == tunable.Boot:
		f.Message = fmt.Sprintf("%s can be set at boot only; a line in %s has no effect", j.Name, base(j.File))
		f.Why = "The running kernel does not take a new value."
		f.Fix = "Set it on the kernel's command line, or remove the line."
	default:
		return nil
	}
	return one(misplaced, f)
}

// linuxMechanisms say what a name is that cannot be set where it stands.
var linuxMechanisms = map[setting.Mechanism]string{
	setting.Sysctl:  "a sysctl, for sysctl.d",
	setting.Sysfs:   "a file below /sys, for a udev rule or tmpfiles.d",
	setting.Procfs:  "a file below /proc that is no sysctl, for tmpfiles.d",
	setting.Ethtool: "a setting of the interface, for ethtool or a .link file",
	setting.Cmdline: "a parameter of the kernel's command line",
	setting.Module:  "a parameter of a module, for modprobe.d",
	setting.Limit:   "a limit, for limits.conf or the unit",
	setting.Systemd: "a line of a file of systemd",
}

// lateModules are modules that firewalls, containers and daemons load after
// sysctl.d was applied, with what loads them. br_netfilter is none of them
// where systemd runs: a rule of udev applies net.bridge.* again.
var lateModules = map[string]string{
	"nf_conntrack":  "the first rule that asks for connection tracking",
	"nf_flow_table": "the first flow table",
	"ip_vs":         "the first virtual server",
	"br_netfilter":  "Docker, Kubernetes or the first rule about bridges",
	"sunrpc":        "the first NFS mount",
	"lockd":         "the first NFS mount",
	"nfsv4":         "the first NFS mount",
	"mpls_router":   "the first label",
	"sctp":          "the first socket",
}

// linuxModule reports sysctls whose module comes after sysctl.d: the line
// fails at boot, quietly, and the module brings its own default.
func (a *auditor) linuxModule(j judged) []candidate {
	by, ok := lateModules[j.st.Module]
	if !ok || j.Place != "" || a.arrivesEarly(j) { // an appliance's own programs set it when they are up
		return nil
	}
	f := Finding{ID: "LR-ORDER:" + j.Name, Kind: Order, Severity: Warning, Action: Change, Name: j.Name,
		Message: fmt.Sprintf("%s, as all of module %s in %s, is set before the module is loaded", j.Name, j.st.Module, base(j.File)),
		Why:     fmt.Sprintf("sysctl.d is applied early at boot; the module comes with %s. Until then the name does not exist, the line fails, and nobody applies it again: the default holds.", by),
		Fix:     fmt.Sprintf("Load the module before: a line \"%s\" in /etc/modules-load.d/. Or set it where the module is loaded.", j.st.Module),
		Sources: append(slices.Clone(j.rec.Sources), "systemd-sysctl.service(8)")}.at(j.Line)
	if v, live := a.f.LiveValue(j.Name); live && j.rec.SameValue(v, j.Value) {
		f.Severity = Info // somebody applied it since
	}
	if len(a.f.Modules) == 0 {
		f.Severity = Info // a list alone says nothing of modules
	}
	return []candidate{{Finding: f, class: late, once: "late " + j.st.Module + " " + f.File}}
}

// arrivesEarly reports a module that is there when sysctl.d is applied, or of
// which that is not known: a tree that holds nothing but sysctl.d says nothing
// of modules.
func (a *auditor) arrivesEarly(j judged) bool {
	if a.loadedEarly(j.st.Module) || a.appliedAgain(j) || a.product != nil && slices.Contains(a.product.Loads, j.st.Module) {
		return true
	}
	if j.st.Module == "br_netfilter" && (a.f.Read("/etc/systemd") || a.live) {
		return true
	}
	return strings.HasPrefix(j.Line.Text, "-") // "-name = value": meant to fail quietly
}

// loadedEarly reports a module that the kernel holds, that modules-load.d loads,
// or that comes with one that is.
func (a *auditor) loadedEarly(module string) bool {
	for _, m := range a.f.Modules {
		early := m.InKernel || slices.ContainsFunc(m.Lines, func(l fact.Line) bool { return l.Effective })
		if early && (m.Name == module || a.brings(m.Name, module)) {
			return true
		}
	}
	return false
}

// brings reports a module that loads another with it.
func (a *auditor) brings(module, other string) bool {
	for pattern, with := range a.Rules.Brings {
		if globs(pattern, module) && slices.Contains(with, other) {
			return true
		}
	}
	return false
}

// appliedAgain reports a sysctl that udev or modprobe applies again when its
// module is there.
func (a *auditor) appliedAgain(j judged) bool {
	s, ok := a.f.Tunable(linux.Applied + j.st.Module)
	return ok && slices.ContainsFunc(s.Lines, func(l fact.Line) bool {
		return strings.HasPrefix("/"+strings.ReplaceAll(j.Name, ".", "/"), l.Value)
	})
}

// linuxFiles reports files that are not read at boot, each once.
func (a *auditor) linuxFiles() []candidate {
	if a.f.OS != fact.Linux {
		return nil
	}
	var all []candidate
	for _, l := range a.lines {
		if l.Effective {
			continue
		}
		f := Finding{Name: base(l.File), Kind: Misplaced, Severity: Error}.at(l)
		f.ID = "LR-UNREAD:" + f.Name
		if strings.HasPrefix(l.Note, linux.WrongSection) || l.Note == linux.BadLimit {
			all = append(all, passedOver(l))
			continue
		}
		switch l.Note {
		case linux.Unread:
			f.Action = Move
			f.Message = l.File + " is not read at boot"
			f.Why = "systemd-sysctl reads the directories of sysctl.d only; this file wants a link 99-sysctl.conf there, which distributions had for long (Debian up to 12). procps' sysctl(8) reads it when it is run by hand, the boot does not."
			f.Fix = "Move its lines to /etc/sysctl.d/90-local.conf."
			f.Sources = []string{"sysctl.d(5)", "systemd-sysctl.service(8)"}
		case linux.NotConf:
			f.Action = Change
			f.Message = l.File + " is not read: its name does not end in .conf"
			f.Why = "systemd-sysctl and sysctl(8) read files of sysctl.d whose names end in .conf, and say nothing of others."
			f.Fix = fmt.Sprintf("mv %s %s.conf, or remove the file.", l.File, l.File)
			f.Sources = []string{"sysctl.d(5)", "sysctl(8)"}
		case linux.NeverMatched:
			f.Action = Change
			f.Message = l.File + " is never applied"
			f.Why = "udev applies the first .link file, by name, that matches a device, and an earlier one matches every device."
			f.Fix = "Give the file a name that sorts before, such as 10-" + strings.TrimLeft(base(l.File), "0123456789-") + "."
			f.Sources = []string{"systemd.link(5)"}
		case linux.NotExecutable:
			if a.product != nil {
				continue // its own init sources the file
			}
			f.Severity, f.Action = Warning, Change
			f.Message = l.File + " is not executable: systemd does not run it"
			f.Why = "systemd-rc-local-generator starts the script only if it has the x bit, and says nothing without it."
			f.Fix = "chmod +x " + l.File + ", or move what it sets to sysctl.d, a .link file or a unit."
			f.Sources = []string{"systemd-rc-local-generator(8)"}
		case linux.NotDebian:
			f.Action = Move
			f.Message = l.File + " is not read"
			f.Why = "Drop-ins in /etc/default/grub.d are Debian's and Ubuntu's; grub-mkconfig of other distributions reads /etc/default/grub alone."
			f.Fix = "Move the words to /etc/default/grub and make the menu anew: grub2-mkconfig(8), or grubby(8) where the menu is of entries."
			f.Sources = []string{"util/grub-mkconfig.in"}
		case linux.Replaced:
			if a.bootWord(l.Name) {
				continue
			}
			f.Action = Change
			f.Message = fmt.Sprintf("%s line %d does not reach the kernel: a later line sets the variable anew", l.File, l.Number)
			f.Why = "GRUB's files are read by a shell, those of grub.d (cloud images bring one) after /etc/default/grub: an assignment without the variable's old value drops it."
			f.Fix = "Write the words into a file of /etc/default/grub.d that sorts last, as VARIABLE=\"$VARIABLE word …\", and run update-grub."
			f.Sources = []string{"util/grub-mkconfig.in", "util/grub.d/10_linux.in"}
		default:
			continue
		}
		all = append(all, candidate{Finding: f, class: misplaced, once: f.ID})
	}
	return all
}

// passedOver reports a limit of a unit that systemd does not take.
func passedOver(l fact.Line) candidate {
	_, key, _ := strings.Cut(strings.TrimPrefix(l.Name, "systemd/"), "/")
	right := "[Service]"
	if strings.HasPrefix(key, "Default") {
		right = "[Manager]"
	}
	f := Finding{ID: "LR-UNIT-IGNORED:" + l.Name, Name: l.Name, Kind: Syntax, Severity: Error, Action: Change, Sources: []string{"systemd.exec(5)", "systemd.resource-control(5)", "systemd src/basic/rlimit-util.c"}}.at(l)
	if section, wrong := strings.CutPrefix(l.Note, linux.WrongSection); wrong {
		f.Kind, f.Action = Misplaced, Move
		f.Message = fmt.Sprintf("%s=%s stands under %s, where systemd passes over it", key, l.Value, section)
		f.Why = fmt.Sprintf("systemd knows the key under %s alone and logs \"Unknown key … in section %s, ignoring\": the default holds.", right, section)
		f.Fix = fmt.Sprintf("Move the line to the section %s, run systemctl daemon-reload and restart the service.", right)
		return candidate{Finding: f, class: misplaced}
	}
	f.Message = fmt.Sprintf("systemd cannot read %s=%s and passes over the line", key, l.Value)
	f.Why = "It logs \"Failed to parse …, ignoring\", and the value before holds. Its word for no limit is infinity (unlimited is limits.conf's); K, M and G stand behind sizes alone, and numbers have no commas."
	f.Fix = "Write a whole number or infinity, run systemctl daemon-reload and restart the service."
	return candidate{Finding: f, class: misplaced}
}
