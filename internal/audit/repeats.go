package audit

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/tunable"
)

// repeats reports lines that a later one overrides.
func (a *auditor) repeats() []candidate {
	var all []candidate
	for _, s := range a.f.Settings {
		if s.Namespace == fact.Fields || len(s.Lines) == 0 { // a section each; most are the kernel's own
			continue
		}
		if slices.ContainsFunc(a.Rules.Repeatable, func(p string) bool { return globs(p, s.Name) }) {
			continue
		}
		rec, _ := a.c.Lookup(a.f.OS, s.Name)
		if rec == nil {
			rec = &tunable.Record{Type: tunable.Int}
		}
		for _, l := range s.Lines {
			if win, ok := s.EffectiveLine(l.Stage); ok && !l.Effective && !l.Kept && !l.Default && win != l && l.Order < win.Order {
				if !copied(rec, l, win) && !a.refused(rec, win) {
					all = append(all, overridden(rec, l, win)...)
				}
			}
		}
		all = append(all, a.twoFiles(rec, s)...)
		all = append(all, a.writtenOver(rec, s)...)
	}
	return all
}

// copied reports a word of the command line that GRUB's file and that of
// kernel-install both hold: where the menu is made of entries, tools copy the
// one into the other.
func copied(rec *tunable.Record, l, win fact.Line) bool {
	return l.Stage == fact.CommandLine && l.File != win.File && rec.SameValue(l.Value, win.Value)
}

// refused reports a sysctl line whose value FreeBSD refuses. The earlier value stays, and
// another finding covers the line. On Linux no earlier value stays, because systemd-sysctl
// writes only the last of several lines.
func (a *auditor) refused(rec *tunable.Record, l fact.Line) bool {
	if l.Stage != fact.Sysctl || rec.OS != tunable.FreeBSD {
		return false
	}
	p := rec.RejectLine(a.f.Release, l)
	return p != nil && p.Outside == tunable.Refused
}

func overridden(rec *tunable.Record, l, win fact.Line) []candidate {
	f := Finding{ID: "LR-DUPLICATE:" + l.Name, Kind: Duplicate, Action: Remove, Name: l.Name, Sources: []string{}}.at(l)
	where := fmt.Sprintf("line %d", win.Number)
	if win.File != l.File {
		where = fmt.Sprintf("%s line %d", win.File, win.Number)
	}
	f.Fix = "Remove one of the two."
	switch {
	case l.Hidden() || win.Hidden():
		f.Severity = Info
		f.Message = fmt.Sprintf("%s is set again at %s", l.Name, where)
		f.Why = "Files are read in order and the later line wins: this one does nothing."
	case rec.SameValue(l.Value, win.Value):
		f.Severity = Info
		f.Message = fmt.Sprintf("%s=%s is set again, to the same, at %s", l.Name, l.Value, where)
		f.Why = "The later line wins; this one does nothing."
	default:
		f.Severity = Warning
		f.Message = fmt.Sprintf("%s=%s is overridden by %s at %s", l.Name, l.Value, win.Value, where)
		f.Why = "Files are read in order and the later line wins: this one does nothing."
		f.Fix = "Decide which value is meant, and remove the other line."
	}
	return one(repeated, f)
}

// twoFiles reports a sysctl that the loader and sysctl.conf set differently:
// the latter has the last word.
func (a *auditor) twoFiles(rec *tunable.Record, s fact.Tunable) []candidate {
	boot, ok := s.EffectiveLine(fact.Loader)
	run, ok2 := s.EffectiveLine(fact.Sysctl)
	if !ok || !ok2 || boot.Default || run.Default || !rec.At(a.f.Release).Settable.AtRuntime() || !rec.At(a.f.Release).Settable.AtBoot() || a.powerless(boot) || a.powerless(run) {
		return nil
	}
	f := Finding{ID: "LR-DUPLICATE:" + s.Name, Kind: Duplicate, Severity: Info, Action: Remove, Name: s.Name}.at(boot)
	f.Message = fmt.Sprintf("%s is set here to %s and again to %s at %s line %d", s.Name, boot.Value, run.Value, run.File, run.Number)
	f.Why = "The loader's value holds until rc.d/sysctl sets the other."
	f.Fix = "Keep one of the two lines: this one if it must hold from the start."
	if !rec.SameValue(boot.Value, run.Value) {
		f.Severity = Warning
	}
	return one(repeated, f)
}

// drift reports lines whose value the running host does not have.
func (a *auditor) drift() []candidate {
	if !a.live {
		return nil
	}
	all := a.notLoaded()
	for _, s := range a.f.Settings {
		l, ok := s.Stands()
		if !ok || s.Live == nil || s.Namespace != fact.Kernel || l.Default ||
			slices.ContainsFunc(a.Rules.Transforms, func(p string) bool { return globs(p, s.Name) }) {
			continue
		}
		rec, ok := a.c.Lookup(a.f.OS, s.Name)
		if !ok {
			rec = &tunable.Record{Type: tunable.Long}
		}
		if l.Hidden() || strings.Contains(*s.Live, redact.Mark) || rec.SameValue(rec.Stored(a.f.Release, l, *s.Live), *s.Live) || l.Stage == fact.Loader && strings.TrimSpace(l.Value) == "-1" {
			continue // -1 asks for the kernel's own choice, which it then shows; another finding covers what it refuses
		}
		all = append(all, one(drifted, Finding{ID: "LR-DRIFT:" + s.Name, Kind: Drift, Severity: Warning, Action: Change, Name: s.Name, Sources: []string{"sysctl -a of this host"},
			Message: fmt.Sprintf("%s: the file says %s, the host runs %s", s.Name, l.Value, *s.Live),
			Why:     driftWhy(l, rec.At(a.f.Release).Scope == tunable.VNET),
			Fix:     driftFix(l, rec.At(a.f.Release).Settable)}.at(l))...)
	}
	return all
}

// notLoaded reports modules that loader.conf loads and the kernel has not.
func (a *auditor) notLoaded() []candidate {
	var all []candidate
	for _, m := range a.f.Modules {
		if m.Loaded == nil || *m.Loaded || m.InKernel {
			continue
		}
		for _, l := range m.Lines {
			if l.Stage != fact.Loader || !l.Effective || l.Default {
				continue
			}
			all = append(all, one(drifted, Finding{ID: "LR-DRIFT:" + l.Name, Kind: Drift, Severity: Warning, Action: Change, Name: l.Name, Sources: []string{"kldstat of this host"},
				Message: fmt.Sprintf("%s loads the module %s, and the kernel has not got it", base(l.File), m.Name),
				Why:     "The host has not been booted since the line was written, the file of the module is missing, or it did not fit the kernel; the loader goes on without it.",
				Fix:     fmt.Sprintf("kldload %s shows the reason. Remove the line if the module is not wanted.", m.Name)}.at(l))...)
		}
	}
	return all
}

// driftFix is how file and kernel come to agree again.
func driftFix(l fact.Line, s tunable.Settable) string {
	switch {
	case s == "" || s.AtRuntime():
		return "Find out which is meant: put the running value into the file, or set the file's value now."
	case l.Stage == fact.Loader:
		return "Find out which is meant: put the running value into the file, or reboot and look again."
	}
	return "Put the running value into the file, or the line where it can be set."
}

func driftWhy(l fact.Line, vnet bool) string {
	if l.Stage == fact.Loader && vnet {
		return "The loader's value was changed after boot, the host has not been booted since the line was written, or the kernel did not take it: the value belongs to a network stack (vnet), and kernels with VIMAGE do not fetch all of those from the loader."
	}
	if l.Stage == fact.Loader {
		return "The loader's value was changed after boot, the host has not been rebooted since the line was written, or the kernel did not accept it."
	}
	return "Somebody changed the running value, or the file since the last boot: the next boot will change it back."
}
