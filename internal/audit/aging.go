package audit

import (
	"fmt"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
)

// aging reports outdated lines: a name that the next major release of FreeBSD removes, and a value
// that was once the default. Both are reported only if nothing else is.
func (a *auditor) aging(j judged) []candidate {
	if j.rec == nil || !j.st.Exists || j.moot || a.f.Release.IsZero() || packaged(j.File) {
		return nil
	}
	if all := a.leaving(j); all != nil {
		return all
	}
	return a.formerDefault(j)
}

// leaving reports a name that the next major release removes.
func (a *auditor) leaving(j judged) []candidate {
	gone := j.rec.Removed
	if a.f.OS != fact.FreeBSD || gone.IsZero() || gone.Major > a.f.Release.Major+1 {
		return nil
	}
	once := ""
	if old, until, ok := a.onceDefault(j); ok {
		once = fmt.Sprintf("%s was the default before %s. ", old, until.Short())
	}
	c := a.says("LR-LEAVING", "next", j.Line, with{"gone": gone.Short(), "once": once})
	if to := a.successor(j.rec); to != nil {
		c.Action = Change
		c.Fix = fmt.Sprintf("Use %s, which %s has already.", unit(j.Name, to.Name), a.on())
	}
	return []candidate{c}
}

// formerDefault reports a line that keeps the default of an earlier release.
func (a *auditor) formerDefault(j judged) []candidate {
	old, until, ok := a.onceDefault(j)
	if !ok || !a.tunes(j.rec) || a.productSets(j.Name) {
		return nil
	}
	now, _ := j.rec.DefaultOf(j.Name, a.f.Release, a.env)
	return []candidate{a.says("LR-OLD-DEFAULT", "once", j.Line, with{"old": old, "until": until.Short(), "now": now})}
}

// onceDefault returns the line's value if it was the default of an earlier release but is not that
// of this one, and the release that changed it.
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
