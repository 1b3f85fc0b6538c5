package audit

import (
	"linerate/internal/fact"
	"linerate/internal/tunable"
)

// judged is a line with the catalogue's record of its name.
type judged struct {
	fact.Line
	rec *tunable.Record // nil if the catalogue does not know the name
	st  tunable.State   // state of rec on the host's release
	// moot means that the system would have that value anyway, so a line without effect does no
	// harm.
	moot bool
}

// judge checks every effective line against the catalogue.
func (a *auditor) judge() []candidate {
	var all []candidate
	for _, l := range a.lines {
		if !l.Effective || l.Stage == fact.Field {
			continue // repeats reports it; a field is not a tunable
		}
		j := a.judged(l)
		checks := []func(judged) []candidate{a.unknown, a.gone, a.contained, a.misplaced, a.option, a.module, a.rejected, a.lowers, a.asDefault, a.cautions, a.aging}
		if l.Hidden() && (j.rec == nil || !j.rec.Type.Integer() && j.rec.Type != tunable.Bool && j.rec.Type != tunable.Numbers) { // only the name can be checked; a hidden value is not a number, so numeric tunables are judged as usual
			checks = append(checks[:4:4], a.noChoice)
		}
		for _, check := range checks {
			all = append(all, check(j)...)
		}
	}
	return all
}

// judged looks up the record of a line.
func (a *auditor) judged(l fact.Line) judged {
	j := judged{Line: l}
	if r, ok := a.c.Lookup(a.f.OS, l.Name); ok {
		j.rec, j.st = r, r.At(a.f.Release)
		d, known := r.DefaultOf(l.Name, a.f.Release, a.env)
		if own, ok := a.setByProduct(l.Name); ok { // the default here is the appliance's
			d, known = own, true
		}
		j.moot = known && r.SameValue(l.Value, d)
	}
	return j
}

// ifEffective lowers the severity if the system has the line's value anyway.
func (j judged) ifEffective(s Severity) Severity {
	if j.moot {
		return Info
	}
	return s
}

func (a *auditor) on() string {
	if a.f.Release.IsZero() {
		return "today's " + osName(a.f.OS)
	}
	return osName(a.f.OS) + " " + a.f.Release.Short()
}
