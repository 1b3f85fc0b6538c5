package audit

import (
	"fmt"
	"slices"

	"linerate/internal/fact"
	"linerate/internal/tunable"
)

// option reports names that exist only in kernels built with an option that GENERIC lacks.
func (a *auditor) option(j judged) []candidate {
	if j.rec == nil || !j.st.Exists || a.product != nil && a.product.Has(j.Name) || !slices.Contains(a.Rules.NotGeneric, j.rec.KernelOption) ||
		j.Stage != fact.Sysctl && j.Stage != fact.Loader {
		return nil
	}
	exists, known := a.running(j.Name)
	if exists {
		return nil
	}
	of := "generic"
	if known {
		of = "running"
	}
	return []candidate{a.says("LR-NOOPTION", of, j.Line, with{"option": j.rec.KernelOption})}
}

// aliases reports two names of one variable that files set to different values.
func (a *auditor) aliases() []candidate {
	var all []candidate
	for _, l := range a.lines {
		rec, ok := a.c.Lookup(a.f.OS, l.Name)
		if !ok || !l.Effective || !rec.Exists(a.f.Release) || a.powerless(l) {
			continue
		}
		for _, name := range []string{rec.AliasOf, rec.RenamedTo} {
			if to, ok := a.c.Lookup(a.f.OS, name); name != "" && ok && to.Exists(a.f.Release) {
				all = append(all, a.sameVariable(rec, l, unit(l.Name, name))...)
			}
		}
	}
	return all
}

// sameVariable reports a line whose variable another line sets, by its other name, to another
// value.
func (a *auditor) sameVariable(rec *tunable.Record, l fact.Line, other string) []candidate {
	for _, o := range a.lines {
		if o.Name != other || !o.Effective || a.powerless(o) || rec.SameValue(l.Value, o.Value) {
			continue
		}
		return []candidate{a.says("LR-DUPLICATE", "alias", l, with{"other": o.Name + "=" + o.Value, "where": fmt.Sprintf("%s line %d", base(o.File), o.Number), "keep": o.Name})}
	}
	return nil
}

// powerless reports a line in a file that cannot set its name: it overrides nothing, and nothing
// overrides it.
func (a *auditor) powerless(l fact.Line) bool {
	return a.f.OS == fact.FreeBSD && len(a.misplaced(a.judged(l))) > 0
}
