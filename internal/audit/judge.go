package audit

import (
	"linerate/internal/fact"
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

// judge holds every line that takes effect against the catalogue.
func (a *auditor) judge() []candidate {
	var all []candidate
	for _, l := range a.lines {
		if !l.Effective || l.Stage == fact.Field {
			continue // repeats speaks of it; a field is no tunable
		}
		j := a.judged(l)
		checks := []func(judged) []candidate{a.unknown, a.gone, a.contained, a.misplaced, a.option, a.module, a.onlyYes, a.rejected, a.lowers, a.asDefault, a.cautions, a.aging}
		if l.Hidden() && (j.rec == nil || !j.rec.Type.Integer() && j.rec.Type != tunable.Bool && j.rec.Type != tunable.Numbers) { // its name alone is known; what is hidden is no number
			checks = append(checks[:4:4], a.noChoice)
		}
		for _, check := range checks {
			all = append(all, check(j)...)
		}
	}
	return all
}

// judged is a line with its record.
func (a *auditor) judged(l fact.Line) judged {
	j := judged{Line: l}
	if r, ok := a.c.Lookup(a.f.OS, l.Name); ok {
		j.rec, j.st = r, r.At(a.f.Release)
		d, known := r.DefaultOf(l.Name, a.f.Release, a.env)
		if own, ok := a.setByProduct(l.Name); ok { // what stands without the line is the appliance's
			d, known = own, true
		}
		j.moot = known && r.SameValue(l.Value, d)
	}
	return j
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
	if a.f.Release.IsZero() {
		return "today's " + osName(a.f.OS)
	}
	return osName(a.f.OS) + " " + a.f.Release.Short()
}
