package plan

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// maxRounds limits how often the remaining lines are audited again: removing a line can reveal that another one has no effect.
const maxRounds = 5

// Fixes returns a plan of an audit's fixes: the settings that they name, worst findings first, lines to remove, and the rest as
// fixes to make by hand. Where lines disagree, or an audit of the result has new findings, the user must decide. Unlike Make it
// does not consider what a host needs.
func Fixes(f *fact.Facts, c *tunable.Catalogue, judge Judge) (Plan, error) {
	r, err := judge(f)
	if err != nil {
		return Plan{}, err
	}
	p := &planning{Input: &Input{Facts: f, Catalogue: c, Role: r.Role}}
	p.plan = Plan{OS: r.OS, Release: r.Release, Role: r.Role, Host: r.Host}
	for _, finding := range r.Findings {
		if err := p.fix(finding); err != nil {
			return Plan{}, err
		}
	}
	offered := p.plan
	for range maxRounds {
		if p.plan, err = checked(p.plan, f, judge); err != nil {
			return Plan{}, err
		}
		over := p.plan.Over(f)
		left, err := judge(over)
		if err != nil {
			return Plan{}, err
		}
		known := len(offered.Remove)
		for _, finding := range left.Findings {
			r, ok := p.removal(finding)
			if ok && r.whole && finding.Action == audit.Remove && !slices.ContainsFunc(offered.Remove, r.same) && p.disagreeing(finding, over) == nil {
				offered.Remove, p.plan.Remove = append(offered.Remove, r), append(p.plan.Remove, r)
			}
		}
		if len(offered.Remove) == known {
			break
		}
	}
	return Seal(p.plan)
}

func (p *planning) fix(f audit.Finding) error {
	if f.Action == audit.Keep {
		return nil
	}
	if lines := p.disagreeing(f, p.Facts); lines != nil {
		p.decide(f, lines)
		return nil
	}
	placed, err := p.sets(f)
	if err != nil || placed {
		return err
	}
	r, ok := p.removal(f)
	switch {
	case f.Action == audit.Remove && f.File != "" && ok:
		p.plan.Remove = append(p.plan.Remove, r)
	default:
		p.plan.ByHand = append(p.plan.ByHand, ByHand{Name: f.Name, Do: oneLine(f.Fix), Reason: oneLine(f.Message)})
	}
	return nil
}

// sets adds the settings of a finding's fix, and reports whether they are the complete fix. If two findings set the same name,
// the worse one wins.
func (p *planning) sets(f audit.Finding) (all bool, err error) {
	all = len(f.Sets) > 0
	for _, set := range f.Sets {
		s := Step{Name: set.Name, Value: set.Value, Reason: oneLine(f.Message + ". " + f.Fix)}
		rec, known := p.Catalogue.Lookup(p.Facts.OS, set.Name)
		switch {
		case set.Mechanism != "":
			s.Mechanism = set.Mechanism
			s.Where = Where{File: PlaceOf(p.Facts.OS, s.Mechanism), Runtime: s.Mechanism == setting.Sysctl}
		case known && rec.Reject(set.Value) == nil:
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
		if r, ok := p.removal(f); ok && (f.Action == audit.Move || f.Kind == audit.Renamed || f.Name == set.Name) { // the line that it replaces
			s.Instead = []Removal{r}
		}
		if !slices.ContainsFunc(p.plan.Settings, func(o Step) bool { return o.ID() == s.ID() }) {
			p.plan.Settings = append(p.plan.Settings, s)
		}
	}
	return all, nil
}

func (p *planning) linesAt(f audit.Finding) (lines []fact.Line) {
	for _, s := range p.Facts.Settings {
		lines = append(lines, list.Filter(s.Lines, func(l fact.Line) bool { return f.Line > 0 && l.File == f.File && l.Number == f.Line })...)
	}
	return lines
}

// removal returns the line of a finding as a Removal. ok is false if the line sets another name than the finding's: it only shows
// where to look, and is correct itself.
func (p *planning) removal(f audit.Finding) (r Removal, ok bool) {
	r = Removal{File: f.File, Line: f.Line, Text: f.Text, Name: f.Name, Reason: oneLine(f.Message), Finding: f.ID}
	r.idle = slices.Contains([]audit.Kind{audit.Removed, audit.Unknown, audit.Misplaced, audit.Ineffective, audit.Syntax, audit.Duplicate}, f.Kind)
	lines := p.linesAt(f)
	if len(lines) == 0 { // of a firewall, or of a file without settings
		return r, f.Line > 0
	}
	i := slices.IndexFunc(lines, func(l fact.Line) bool { return l.Name == f.Name })
	if i < 0 {
		return r, false
	}
	l := lines[i]
	switch {
	case strings.Contains(l.Text, redact.Mark): // no tool can find the line by a text that is not the file's
	case l.Kept || l.Default || l.Place != "" || goesOn(l) || strings.HasPrefix(l.File, "/usr/lib/tuned/"): // more than a line, or a package's
	case l.Stage == fact.CommandLine:
		r.Word, r.whole = strings.TrimPrefix(f.Name, "cmdline."), true
	case len(lines) == 1:
		r.whole = true
	}
	return r, true
}

// disagreeing returns the lines in the host's own files that set a finding's name to different values; nil if they agree or none
// has an effect. A misplaced line counts, because someone intended it.
func (p *planning) disagreeing(f audit.Finding, facts *fact.Facts) []fact.Line {
	if slices.Contains([]audit.Kind{audit.Removed, audit.Renamed, audit.Unknown, audit.Syntax, audit.Range}, f.Kind) || f.Kind != audit.Misplaced && len(f.Sets) > 0 {
		return nil
	}
	rec, known := p.Catalogue.Lookup(p.Facts.OS, f.Name)
	if known && !rec.Exists(facts.Release) {
		return nil
	}
	if !known {
		rec = &tunable.Record{Type: tunable.String}
	}
	s, ok := facts.Tunable(f.Name)
	if !ok {
		s, _ = facts.RCVariable(f.Name)
	}
	own := list.Filter(s.Lines, func(l fact.Line) bool { return !l.Default && !l.Kept && !l.Adds })
	if !slices.ContainsFunc(own, func(l fact.Line) bool { return len(own) > 1 && l.Hidden() || !rec.SameValue(l.Value, own[0].Value) }) { // a masked value equals no other
		return nil
	}
	return own
}

// decide leaves a conflict to the user; it is listed once.
func (p *planning) decide(f audit.Finding, lines []fact.Line) {
	if slices.ContainsFunc(p.plan.Decide, func(d Decision) bool { return d.Name == f.Name }) {
		return
	}
	says := list.Map(lines, func(l fact.Line) string { return fmt.Sprintf("%s:%d says %s", l.File, l.Number, l.Value) })
	d := Decision{Name: f.Name, Change: "keep one of its lines", Reason: map[bool]string{true: "Two lines may disagree: ", false: "Two lines disagree: "}[slices.ContainsFunc(lines, fact.Line.Hidden)] + strings.Join(says, ", ") + "."}
	s := fact.Tunable{Lines: lines}
	if l, ok := s.Stands(); ok && !l.Hidden() {
		d.Reason += " The next boot has " + l.Value + "."
	}
	p.plan.Decide = append(p.plan.Decide, d)
}
