package plan

import (
	"slices"

	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// Fixes are the fixes of a report's findings as a plan: settings that they name, worst
// findings first, lines that are better gone, and by hand what is neither. It is for
// export's forms; what a host needs is Make's to say.
func Fixes(r *audit.Report, f *fact.Facts, c *tunable.Catalogue) (Plan, error) {
	p := &planning{Input: &Input{Facts: f, Catalogue: c, Role: r.Role}}
	p.plan = Plan{OS: r.OS, Release: r.Release, Role: r.Role, Host: r.Host}
	for _, finding := range r.Findings {
		placed, err := p.fix(finding)
		if err != nil {
			return Plan{}, err
		}
		switch {
		case finding.Action == audit.Remove && finding.File != "":
			p.plan.Remove = append(p.plan.Remove, removal(finding))
		case !placed && finding.Action != audit.Keep:
			p.plan.ByHand = append(p.plan.ByHand, ByHand{Name: finding.Name, Do: oneLine(finding.Fix), Reason: oneLine(finding.Message)})
		}
	}
	return Seal(p.plan)
}

// fix puts what a finding's fix sets into the plan, and reports whether that is all of
// it. Of two values for one setting the worse finding's stands.
func (p *planning) fix(f audit.Finding) (all bool, err error) {
	all = len(f.Sets) > 0
	for _, set := range f.Sets {
		s := Step{Name: set.Name, Value: set.Value, Reason: oneLine(f.Message + ". " + f.Fix)}
		if set.Mechanism != "" {
			s.Mechanism = set.Mechanism
			s.Where = Where{File: PlaceOf(p.Facts.OS, s.Mechanism), Runtime: s.Mechanism == setting.Sysctl}
		} else if rec, known := p.Catalogue.Lookup(p.Facts.OS, set.Name); known {
			if err := p.place(&s, rec, rec.Name, ""); err != nil {
				return false, err
			}
		}
		if s.Where.File == "" {
			all = false
			continue
		}
		if v, ok := p.Facts.Value(set.Name); ok {
			s.Current.Value = &v
		}
		if f.File != "" && (f.Action == audit.Move || f.Kind == audit.Renamed || f.Name == set.Name) { // what it replaces
			s.Instead = []Removal{removal(f)}
		}
		if slices.ContainsFunc(p.plan.Settings, func(o Step) bool { return o.ID() == s.ID() }) {
			continue
		}
		p.plan.Settings = append(p.plan.Settings, s)
	}
	return all, nil
}
