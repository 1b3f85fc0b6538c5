package audit

import (
	"fmt"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/tunable"
)

// repeats reports lines that a later one overrides.
func (a *auditor) repeats() []candidate {
	var all []candidate
	for _, s := range a.f.Settings {
		if s.Namespace == fact.Fields || len(s.Lines) == 0 { // each has its own section; most are the kernel's own
			continue
		}
		if globbed(a.Rules.Repeatable, s.Name) {
			continue
		}
		rec, _ := a.c.Lookup(a.f.OS, s.Name)
		if rec == nil {
			rec = &tunable.Record{Type: tunable.Int}
		}
		for _, l := range s.Lines {
			if win, ok := s.EffectiveLine(l.Stage); ok && !l.Effective && !l.Kept && !l.Default && win != l && l.Order < win.Order {
				// Tools copy a kernel parameter from GRUB's file to that of kernel-install.
				if copied := l.Stage == fact.CommandLine && l.File != win.File && rec.SameValue(l.Value, win.Value); !copied && !a.refused(rec, win) {
					all = append(all, a.overridden(rec, l, win))
				}
			}
		}
		all = append(all, a.twoFiles(rec, s)...)
		all = append(all, a.writtenOver(rec, s)...)
	}
	return all
}

// refused reports a sysctl line whose value the kernel refuses. The earlier value stays, and another
// finding covers the line. Of several lines systemd-sysctl writes only the last, but sysctl(8) writes all.
func (a *auditor) refused(rec *tunable.Record, l fact.Line) bool {
	if l.Stage != fact.Sysctl {
		return false
	}
	p := rec.RejectLine(a.f.Release, l)
	return p != nil && p.Outside == tunable.Refused
}

func (a *auditor) overridden(rec *tunable.Record, l, win fact.Line) candidate {
	where, of := fmt.Sprintf("line %d", win.Number), "overridden"
	if win.File != l.File {
		where = fmt.Sprintf("%s line %d", win.File, win.Number)
	}
	switch {
	case l.Hidden() || win.Hidden():
		of = "hidden"
	case rec.SameValue(l.Value, win.Value):
		of = "same"
	case l.File == "/etc/rc.conf" && win.File == "/etc/rc.conf.local":
		of = "local"
	}
	c := a.says("LR-DUPLICATE", of, l, with{"where": where, "other": win.Value})
	c.under = place{win.Name, win.File, win.Number}
	return c
}

// twoFiles reports a sysctl that the loader and sysctl.conf set to different values: the latter wins.
func (a *auditor) twoFiles(rec *tunable.Record, s fact.Tunable) []candidate {
	boot, ok := s.EffectiveLine(fact.Loader)
	run, ok2 := s.EffectiveLine(fact.Sysctl)
	if !ok || !ok2 || boot.Default || run.Default || !rec.At(a.f.Release).Settable.AtRuntime() || !rec.At(a.f.Release).Settable.AtBoot() || a.powerless(boot) || a.powerless(run) {
		return nil
	}
	c := a.says("LR-DUPLICATE", map[bool]string{true: "hidden", false: "loader"}[boot.Hidden() || run.Hidden()], boot, with{"other": run.Value, "where": fmt.Sprintf("%s line %d", run.File, run.Number)})
	if !rec.SameValue(boot.Value, run.Value) {
		c.Severity = Warning
	}
	return []candidate{c}
}

// drift reports lines whose value differs from the running one.
func (a *auditor) drift() []candidate {
	if !a.live {
		return nil
	}
	all := a.notLoaded()
	for _, s := range a.f.Settings {
		l, ok := s.StandsUnless(func(l fact.Line) bool { return l.Stage == fact.Agent }) // another finding covers what a program overwrites
		if !ok || s.Live == nil || s.Namespace != fact.Kernel || l.Default ||
			globbed(a.Rules.Transforms, s.Name) {
			continue
		}
		rec, ok := a.c.Lookup(a.f.OS, s.Name)
		if !ok {
			rec = &tunable.Record{Type: tunable.Long}
		}
		if l.Hidden() || strings.Contains(*s.Live, redact.Mark) || rec.SameValue(rec.Stored(a.f.Release, l, *s.Live), *s.Live) || l.Stage == fact.Loader && strings.TrimSpace(l.Value) == "-1" || a.idle(a.judged(l)) {
			continue // -1 requests the kernel's own choice, which then reads back; another finding covers refused or ignored values
		}
		of := "runtime"
		switch {
		case l.Stage == fact.Loader && rec.At(a.f.Release).Scope == tunable.VNET:
			of = "vnet"
		case l.Stage == fact.Loader:
			of = "loader"
		}
		all = append(all, a.says("LR-DRIFT", of, l, with{"running": *s.Live, "fix": driftFix(l, rec.At(a.f.Release).Settable)}))
	}
	return all
}

// notLoaded reports modules that loader.conf loads but the kernel does not have.
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
			all = append(all, a.says("LR-DRIFT", "module", l, with{"module": m.Name}))
		}
	}
	return all
}

// driftFix says how to make file and kernel agree.
func driftFix(l fact.Line, s tunable.Settable) string {
	switch {
	case s == "" || s.AtRuntime():
		return "Find out which is meant: put the running value into the file, or set the file's value now."
	case l.Stage == fact.Loader:
		return "Find out which is meant: put the running value into the file, or reboot and look again."
	}
	return "Put the running value into the file, or the line where it can be set."
}
