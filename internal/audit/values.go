package audit

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/tunable"
)

// rejected reports values that the system refuses, or replaces by others.
func (a *auditor) rejected(j judged) bool {
	if j.rec == nil {
		return false
	}
	p := j.rec.Reject(j.Value)
	if p == nil {
		return a.onlyRaise(j)
	}
	f := Finding{ID: "LR-RANGE:" + j.Name, Kind: Range, Severity: Error, Action: Change, Name: j.Name, Sources: j.rec.Sources,
		Message: fmt.Sprintf("%s=%s: %s", j.Name, j.Value, p.Message)}.at(j.Line)
	f.Severity, f.Why = outside(p.Outside, j)
	d, known := j.rec.DefaultIn(a.f.Release, a.env)
	f.Fix = "Give a value that fits, or remove the line."
	if known {
		f.Fix = fmt.Sprintf("Give a value that fits, or remove the line (default %s).", d)
	}
	a.add(f)
	return true
}

// onlyRaise reports runtime lines below what the kernel computed at boot,
// where it refuses to go down.
func (a *auditor) onlyRaise(j judged) bool {
	if !j.rec.Constraints.OnlyRaise || j.Mechanism != fact.Sysctl {
		return false
	}
	d, known := a.floor(j)
	if !known || less(j.Value, d) >= 0 {
		return false
	}
	a.add(Finding{ID: "LR-RANGE:" + j.Name, Kind: Range, Severity: Error, Action: Remove, Name: j.Name, Sources: j.rec.Sources,
		Message: fmt.Sprintf("%s=%s is below the %s that the kernel has; it can only be raised", j.Name, j.Value, d),
		Why:     "The kernel answers \"Invalid argument\" to a smaller value on a running system.",
		Fix:     "Remove the line: the kernel's own value is larger."}.at(j.Line))
	return true
}

// floor is the value that a runtime line meets: the running one, what the
// loader set, or the default.
func (a *auditor) floor(j judged) (string, bool) {
	if v, ok := a.f.LiveValue(j.Name); ok {
		return v, true
	}
	s, _ := a.f.Setting(j.Name)
	if l, ok := s.EffectiveLine(fact.Loader); ok {
		return l.Value, true
	}
	return j.rec.DefaultIn(a.f.Release, a.env)
}

// asDefault reports lines that set what is so anyway, and those that replace
// a better default.
func (a *auditor) asDefault(j judged) bool {
	if j.rec == nil {
		return false
	}
	if a.lowers(j) {
		return true
	}
	if !j.moot || a.restores(j) {
		return false
	}
	a.add(Finding{ID: "LR-DEFAULT:" + j.Name, Kind: Default, Severity: Info, Action: Remove, Name: j.Name, Sources: j.rec.Sources,
		Message: fmt.Sprintf("%s=%s is the default of %s", j.Name, quoteEmpty(j.Value), a.on()),
		Why:     "The line changes nothing today, and will hold the system back when a later release chooses better.",
		Fix:     "Remove the line."}.at(j.Line))
	return true
}

// quoteEmpty makes an empty value visible.
func quoteEmpty(v string) string {
	if v == "" {
		return `""`
	}
	return v
}

// restores reports whether another file sets the name to something else, so
// that a line with the default has an effect.
func (a *auditor) restores(j judged) bool {
	s, ok := a.f.Setting(j.Name)
	if j.Mechanism == fact.RCConf {
		s, ok = a.f.RCSetting(j.Name)
	}
	return ok && slices.ContainsFunc(s.Lines, func(l fact.Line) bool {
		return l.Mechanism != j.Mechanism && !j.rec.SameValue(l.Value, j.Value)
	})
}

// lowers reports lines that put a number below a default that the kernel
// computes, or that has grown since the number was good advice.
func (a *auditor) lowers(j judged) bool {
	if !j.rec.Type.Integer() {
		return false
	}
	f := Finding{ID: "LR-LOWERS:" + j.Name, Kind: LowersDefault, Name: j.Name, Sources: j.rec.Sources}.at(j.Line)
	d, known := j.rec.DefaultIn(a.f.Release, a.env)
	switch {
	case j.st.IsFormula() && !known:
		if j.rec.Constraints.OnlyRaise || capacity(j) {
			f.Severity, f.Action = Info, Measure
			f.Message = fmt.Sprintf("%s=%s replaces a default that the kernel computes from the machine", j.Name, j.Value)
			f.Why = fmt.Sprintf("The default is %s; a number copied from another machine may be below it.", j.st.Formula)
			f.Fix = fmt.Sprintf("Compare: sysctl -n %s without the line. Remove it unless it is above.", j.Name)
			a.add(f)
			return true
		}
		return false
	case !known || less(j.Value, d) >= 0:
		return false
	case j.st.IsFormula() && capacity(j):
		f.Severity, f.Action = Warning, Remove
		f.Message = fmt.Sprintf("%s=%s is below the %s that the kernel computes for this machine", j.Name, j.Value, d)
		f.Why = fmt.Sprintf("The default is %s.", j.st.Formula)
	default:
		old, ok := a.grownFrom(j)
		if !ok {
			return false
		}
		f.Severity, f.Action = Warning, Remove
		f.Message = fmt.Sprintf("%s=%s was above the default once; on %s it lowers %s", j.Name, j.Value, a.on(), d)
		f.Why = fmt.Sprintf("The default was %s on earlier releases and has grown past the line's value.", old)
	}
	f.Fix = "Remove the line."
	a.add(f)
	return true
}

// capacity reports a number of which more is meant to be better: the values
// that switch something off, and signs, are decisions and no stale numbers.
func capacity(j judged) bool {
	v, ok := tunable.ParseInteger(strings.TrimSpace(j.Value))
	return ok && v.Cmp(big.NewInt(1)) > 0
}

// grownFrom is the default of earlier releases that a line's value was not
// below, while it is below the one of this release.
func (a *auditor) grownFrom(j judged) (string, bool) {
	if !capacity(j) {
		return "", false
	}
	var older []string
	if j.rec.Default != nil {
		older = append(older, *j.rec.Default)
	}
	for _, c := range j.rec.Changes {
		if c.Default != nil && (a.f.Release.IsZero() || c.From.IsZero() || c.From.Before(a.f.Release)) {
			older = append(older, *c.Default)
		}
	}
	i := slices.IndexFunc(older, func(d string) bool { return capacity(judged{Line: fact.Line{Value: d}}) && less(j.Value, d) >= 0 })
	if i < 0 {
		return "", false
	}
	return older[i], true
}

// less compares two values as numbers; texts that are none are equal.
func less(a, b string) int {
	x, ok := tunable.ParseInteger(strings.TrimSpace(a))
	y, ok2 := tunable.ParseInteger(strings.TrimSpace(b))
	if !ok || !ok2 {
		return 0
	}
	return x.Cmp(y)
}

// repeats reports lines that a later one overrides.
func (a *auditor) repeats() {
	for _, s := range a.f.Settings {
		rec, _ := a.c.Lookup(a.f.OS, s.Name)
		if rec == nil {
			rec = &tunable.Record{Type: tunable.Int}
		}
		for _, l := range s.Lines {
			if win, ok := s.EffectiveLine(l.Mechanism); ok && !l.Effective && !l.Default && win != l && l.Order < win.Order {
				a.overridden(rec, l, win)
			}
		}
		a.twoFiles(rec, s)
	}
}

func (a *auditor) overridden(rec *tunable.Record, l, win fact.Line) {
	f := Finding{ID: "LR-DUPLICATE:" + l.Name, Kind: Duplicate, Action: Remove, Name: l.Name, Sources: []string{}}.at(l)
	where := fmt.Sprintf("line %d", win.Number)
	if win.File != l.File {
		where = fmt.Sprintf("%s line %d", win.File, win.Number)
	}
	f.Fix = "Remove one of the two."
	if rec.SameValue(l.Value, win.Value) {
		f.Severity = Info
		f.Message = fmt.Sprintf("%s=%s is set again, to the same, at %s", l.Name, l.Value, where)
		f.Why = "The later line wins; this one does nothing."
	} else {
		f.Severity = Warning
		f.Message = fmt.Sprintf("%s=%s is overridden by %s at %s", l.Name, l.Value, win.Value, where)
		f.Why = "Files are read in order and the later line wins: this one does nothing."
		f.Fix = "Decide which value is meant, and remove the other line."
	}
	a.add(f)
}

// twoFiles reports a sysctl that the loader and sysctl.conf set differently:
// the latter has the last word.
func (a *auditor) twoFiles(rec *tunable.Record, s fact.Setting) {
	boot, ok := s.EffectiveLine(fact.Loader)
	run, ok2 := s.EffectiveLine(fact.Sysctl)
	if !ok || !ok2 || boot.Default || run.Default || !rec.At(a.f.Release).Settable.AtRuntime() || !rec.At(a.f.Release).Settable.AtBoot() {
		return
	}
	f := Finding{ID: "LR-DUPLICATE:" + s.Name, Kind: Duplicate, Severity: Info, Action: Remove, Name: s.Name}.at(boot)
	f.Message = fmt.Sprintf("%s is set here to %s and again to %s at %s line %d", s.Name, boot.Value, run.Value, run.File, run.Number)
	f.Why = "The loader's value holds until rc.d/sysctl sets the other."
	f.Fix = "Keep one of the two lines: this one if it must hold from the start."
	if !rec.SameValue(boot.Value, run.Value) {
		f.Severity = Warning
	}
	a.add(f)
}

// drift reports lines whose value the running host does not have.
func (a *auditor) drift() {
	if !a.f.Live() {
		return
	}
	a.notLoaded()
	for _, s := range a.f.Settings {
		l, ok := s.FromFiles()
		if !ok || s.Live == nil || s.Namespace != fact.Kernel || l.Default || a.said(l, Misplaced, Range, Unknown, Removed, Renamed) ||
			slices.ContainsFunc(a.Rules.Transforms, func(p string) bool { return globs(p, s.Name) }) {
			continue
		}
		rec, ok := a.c.Lookup(a.f.OS, s.Name)
		if !ok {
			rec = &tunable.Record{Type: tunable.Long}
		}
		if rec.SameValue(l.Value, *s.Live) {
			continue
		}
		a.add(Finding{ID: "LR-DRIFT:" + s.Name, Kind: Drift, Severity: Warning, Action: Change, Name: s.Name, Sources: []string{"sysctl -a of this host"},
			Message: fmt.Sprintf("%s: the file says %s, the host runs %s", s.Name, l.Value, *s.Live),
			Why:     driftWhy(l),
			Fix:     "Find out which is meant: put the running value into the file, or set the file's value now."}.at(l))
	}
}

// notLoaded reports modules that loader.conf loads and the kernel has not.
func (a *auditor) notLoaded() {
	for _, m := range a.f.Modules {
		if m.Loaded == nil || *m.Loaded || m.InKernel {
			continue
		}
		for _, l := range m.Lines {
			if l.Mechanism != fact.Loader || !l.Effective || l.Default || a.said(l, Misplaced, Range, Unknown, Removed, Renamed) {
				continue
			}
			a.add(Finding{ID: "LR-DRIFT:" + l.Name, Kind: Drift, Severity: Warning, Action: Change, Name: l.Name, Sources: []string{"kldstat of this host"},
				Message: fmt.Sprintf("%s loads the module %s, and the kernel has not got it", base(l.File), m.Name),
				Why:     "The host has not been booted since the line was written, the file of the module is missing, or it did not fit the kernel; the loader goes on without it.",
				Fix:     fmt.Sprintf("kldload %s shows the reason. Remove the line if the module is not wanted.", m.Name)}.at(l))
		}
	}
}

func driftWhy(l fact.Line) string {
	if l.Mechanism == fact.Loader {
		return "The loader's value was changed after boot, the host has not been rebooted since the line was written, or the kernel did not accept it."
	}
	return "Somebody changed the running value, or the file since the last boot: the next boot will change it back."
}

// said reports whether a line has a finding of one of these kinds already.
func (a *auditor) said(l fact.Line, kinds ...Kind) bool {
	return slices.ContainsFunc(a.findings, func(f Finding) bool {
		return f.File == l.File && f.Line == l.Number && f.Name == l.Name && slices.Contains(kinds, f.Kind)
	})
}

// cautionKinds are the findings that a record's cautions make; notes and
// questions of security are for explain.
var cautionKinds = map[string]struct {
	kind     Kind
	severity Severity
	action   Action
}{
	"harmful":     {Harmful, Warning, Change},
	"ineffective": {Ineffective, Info, Remove},
	"memory":      {Memory, Warning, Measure},
	"order":       {Order, Info, Change},
}

// cautions reports what the record warns of, where its condition holds for
// this host and the line's value.
func (a *auditor) cautions(j judged) bool {
	if j.rec == nil {
		return false
	}
	e := a.env.With(j.Value, "")
	for _, c := range j.rec.Cautions {
		k, ok := cautionKinds[c.Kind]
		if !ok || c.When == "" || e.Unknown(c.When) {
			continue
		}
		yes, err := e.Holds(c.When)
		a.fail(err)
		if !yes {
			continue
		}
		a.add(Finding{ID: "LR-" + strings.ToUpper(c.Kind) + ":" + j.Name, Kind: k.kind, Severity: k.severity, Action: k.action, Name: j.Name,
			Sources: j.rec.Sources, Message: fmt.Sprintf("%s=%s: %s", j.Name, j.Value, c.Text), Why: j.rec.Summary, Fix: a.advice(j, k.kind)}.at(j.Line))
	}
	return false
}

// advice is what to do about a line that does harm or nothing.
func (a *auditor) advice(j judged, kind Kind) string {
	if kind == Ineffective {
		return "Remove the line."
	}
	if d, ok := j.rec.DefaultIn(a.f.Release, a.env); ok {
		return fmt.Sprintf("Remove the line (default %s), or measure that it helps here.", d)
	}
	return "Remove the line, or measure that it helps here."
}

// couplings reports pairs of settings that disagree, once each.
func (a *auditor) couplings() {
	seen := map[string]bool{}
	for _, l := range a.lines {
		rec, ok := a.c.Lookup(a.f.OS, l.Name)
		if !ok || !l.Effective || !rec.Exists(a.f.Release) || a.said(l, Misplaced, Range) {
			continue
		}
		for _, k := range rec.Coupled {
			pair := []string{l.Name, k.Name}
			slices.SortFunc(pair, cmp.Compare)
			if k.Holds == "" || seen[strings.Join(pair, "~")] {
				continue
			}
			if a.disagree(l, k) {
				seen[strings.Join(pair, "~")] = true
			}
		}
	}
}

// disagree reports one coupling of a line, if it does not hold.
func (a *auditor) disagree(l fact.Line, k tunable.Coupling) bool {
	other := a.env.Text(k.Name)
	if other == "" {
		return false
	}
	if a.env.Unknown(k.Holds) {
		return false
	}
	ok, err := a.env.With(l.Value, other).Holds(k.Holds)
	a.fail(err)
	if ok || err != nil {
		return false
	}
	a.add(Finding{ID: "LR-COUPLED:" + l.Name + "~" + k.Name, Kind: Coupled, Severity: Warning, Action: Change, Name: l.Name,
		Message: fmt.Sprintf("%s=%s does not agree with %s=%s", l.Name, l.Value, k.Name, other),
		Why:     k.Why, Fix: fmt.Sprintf("Change one of the two so that %s.", readable(k.Holds, l.Name, k.Name))}.at(l))
	return true
}

// readable writes a coupling's condition with names.
func readable(holds, this, other string) string {
	return strings.NewReplacer("this_text", this, "other_text", other, "this", this, "other", other).Replace(holds)
}
