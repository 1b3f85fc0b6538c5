package audit

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/list"
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

// isNeeded returns whether a finding calls a line outdated without which something worse would be found.
func (a *auditor) isNeeded(all []candidate) func(Finding) bool {
	return func(f Finding) bool {
		if a.trial || f.Kind != Outdated || f.Severity != Info {
			return false
		}
		less, facts := a.Input, *a.Facts
		less.Facts, less.trial, facts.Settings = &facts, true, slices.Clone(facts.Settings)
		for i, t := range facts.Settings {
			if t.Name == f.Name {
				facts.Settings[i].Live, facts.Settings[i].Lines = nil, list.Filter(t.Lines, func(l fact.Line) bool { return l.File != f.File || l.Number != f.Line })
			}
		}
		r, err := Run(less)
		return err == nil && slices.ContainsFunc(r.Findings, func(o Finding) bool {
			return o.Severity != Info && !slices.ContainsFunc(all, func(c candidate) bool { return c.ID == o.ID })
		})
	}
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
