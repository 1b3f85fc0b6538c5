package audit

import (
	"fmt"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
)

// aging reports lines that releases leave behind: a name that the next major
// release of FreeBSD no longer has, and a value that was the default once. Both
// are reported where nothing else is.
func (a *auditor) aging(j judged) []candidate {
	if j.rec == nil || !j.st.Exists || j.moot || a.f.Release.IsZero() || packaged(j.File) {
		return nil
	}
	if all := a.leaving(j); all != nil {
		return all
	}
	return a.formerDefault(j)
}

// leaving reports a name that is gone on the next major release.
func (a *auditor) leaving(j judged) []candidate {
	gone := j.rec.Removed
	if a.f.OS != fact.FreeBSD || gone.IsZero() || gone.Major > a.f.Release.Major+1 {
		return nil
	}
	f := Finding{ID: "LR-LEAVING:" + j.Name, Kind: Outdated, Severity: Info, Action: Measure, Name: j.Name, Sources: j.rec.Sources,
		Message: fmt.Sprintf("%s is there on %s, and gone from FreeBSD %s on", j.Name, a.on(), gone.Short()),
		Why:     "The line works until the upgrade; after it: " + a.withoutIt(j),
		Fix:     "Remove the line with the upgrade."}.at(j.Line)
	if old, until, ok := a.onceDefault(j); ok {
		f.Why = fmt.Sprintf("%s was the default before %s. %s", old, until.Short(), f.Why)
	}
	if to := a.successor(j.rec); to != nil {
		f.Action = Change
		f.Fix = fmt.Sprintf("Use %s, which %s has already.", unit(j.Name, to.Name), a.on())
	}
	return one(claimed, f)
}

// formerDefault reports a line that keeps a host at the default of earlier
// releases.
func (a *auditor) formerDefault(j judged) []candidate {
	old, until, ok := a.onceDefault(j)
	if !ok || !a.tunes(j.rec) || a.productSets(j.Name) {
		return nil
	}
	now, _ := j.rec.DefaultOf(j.Name, a.f.Release, a.env)
	return one(claimed, Finding{ID: "LR-OLD-DEFAULT:" + j.Name, Kind: Outdated, Severity: Info, Action: Measure, Name: j.Name, Sources: j.rec.Sources,
		Message: fmt.Sprintf("%s=%s was the default before %s %s; on %s it is %s", j.Name, old, osName(a.f.OS), until.Short(), a.on(), now),
		Why:     "The line keeps this host at what the system itself has given up.",
		Fix:     "Remove the line, unless a measurement on this host speaks for the old value."}.at(j.Line))
}

// onceDefault is a line's value where an earlier release had it as its default
// and this one has another, and the release that changed it.
func (a *auditor) onceDefault(j judged) (value string, until release.Release, ok bool) {
	if now, known := j.rec.DefaultOf(j.Name, a.f.Release, a.env); !known || j.st.IsFormula() || j.rec.SameValue(now, j.Value) {
		return "", until, false
	}
	for _, c := range j.rec.Changes {
		edge := c.Until
		if c.Default != nil && !edge.IsZero() && !a.f.Release.Before(edge) && j.rec.SameValue(*c.Default, j.Value) {
			return strings.TrimSpace(j.Value), edge, true
		}
	}
	return "", until, false
}
