package audit

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/factexpr"
	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// subject is what a rule is evaluated for: its environment, the name for the finding, and its line.
type subject struct {
	env  *names
	name string
	at   fact.Line
}

// rules evaluates all rules for this host.
func (a *auditor) rules() []candidate {
	var all []candidate
	for _, r := range a.Rules.rules {
		if !r.forHost(a.f.OS, a.f.Release, a.Role) {
			continue
		}
		for _, s := range a.subjects(r) {
			all = append(all, a.ask(r, s)...)
		}
	}
	return all
}

// ask returns a rule's finding about one subject if its condition holds.
func (a *auditor) ask(r *Rule, s subject) []candidate {
	failed := func(err error) {
		if err != nil {
			a.fail(fmt.Errorf("rule %s: %w", r.ID, err))
		}
	}
	holds := func(code string) bool {
		yes, err := language().Holds(code, s.env)
		failed(err)
		return yes
	}
	fill := func(text string) string {
		filled, err := language().Fill(text, s.env)
		failed(err)
		return filled
	}
	if !holds(r.When) {
		return nil
	}
	f := Finding{Kind: r.Kind, Severity: r.Severity, Action: r.Action, Name: s.name, Sources: r.Sources}.at(s.at)
	f.Message, f.Why, f.Fix = fill(r.Message), fill(r.Why), fill(r.Fix)
	if r.Name != "" {
		f.Name = fill(r.Name)
	}
	for _, t := range r.Sets {
		name, value, _ := strings.Cut(fill(t), "=")
		f.sets("", strings.TrimSpace(name), strings.TrimSpace(value))
	}
	if i := slices.Index(severities, f.Severity); r.Worse != "" && i+1 < len(severities) && holds(r.Worse) {
		f.Severity = severities[i+1]
	}
	f.ID = r.ID + ":" + f.Name
	if f.Line == 0 {
		if l, ok := a.place(r.At); ok {
			f = f.at(l)
		}
	}
	f = f.unsure(a.missing(language().Reads(r.When)))
	return []candidate{{Finding: f, class: r.class(), covers: r.Covers, short: f.Message}}
}

// class returns the class of the rule's candidates.
func (r *Rule) class() class {
	switch {
	case r.Each != EachLine && r.Each != EachLost:
		return wideRule
	case r.Kind == Ineffective:
		return idleRule
	}
	return lineRule
}

func (a *auditor) subjects(r *Rule) []subject {
	var all []subject
	switch r.Each {
	case EachLine, EachLost:
		for _, l := range a.lines {
			if spellings := a.spellings(l.Name); (r.Each == EachLine && (l.Effective || l.Kept && l.Stage == fact.Field) || r.Each == EachLost && a.lost(l)) && r.takes(spellings) {
				all = append(all, a.aboutLine(l, spellings[len(spellings)-1]))
			}
		}
	case EachNIC:
		for i, n := range a.f.NICs {
			all = append(all, a.aboutNIC(n, a.names.NICs[i]))
		}
	case EachShaper:
		for _, s := range a.f.Shapers {
			e := a.names.about("")
			e.Shaper = viewShaper(s)
			all = append(all, subject{env: e, name: s.Name, at: s.Line})
		}
	case EachCounter:
		for _, c := range a.f.Counters {
			if r.takes([]string{c.Name}) {
				e := a.names.about("")
				e.Count, e.CounterName = float64(c.Value), c.Name
				e.Packets, _ = a.f.Traffic(c.Name)
				all = append(all, subject{env: e, name: c.Name})
			}
		}
	default:
		all = []subject{{env: a.names}}
	}
	return all
}

// spellings is tunable.Folded, computed once for all rules.
func (a *auditor) spellings(name string) []string {
	spelled, ok := a.spelled[name]
	if !ok {
		spelled = tunable.Folded(name)
		a.spelled[name] = spelled
	}
	return spelled
}

// lost reports a line of an appliance's user that the appliance overwrites.
func (a *auditor) lost(l fact.Line) bool {
	if l.Effective || l.Default || a.product == nil {
		return false
	}
	s, _ := a.f.Tunable(l.Name)
	last, ok := s.Stands()
	return ok && last.Order > l.Order && last.Place != l.Place
}

func (a *auditor) aboutLine(l fact.Line, folded string) subject {
	e := a.names.about(l.Value)
	e.Line = &lineView{Name: l.Name, Value: l.Value, Num: e.This, Folded: folded, File: l.File, Text: l.Text, Mechanism: string(l.Stage), Note: l.Note}
	return subject{env: e, name: l.Name, at: l}
}

func (a *auditor) aboutNIC(n fact.NIC, view *factexpr.NIC) subject {
	e := a.names.about("")
	e.NIC = view
	s := subject{env: e, name: n.Name}
	if len(n.Configured) > 0 {
		s.at = n.Configured[0]
	}
	return s
}

// place returns the line of the first of the names that a file of the host sets.
func (a *auditor) place(names []string) (fact.Line, bool) {
	for _, name := range names {
		if l, ok := a.lineOf(name); ok {
			return l, true
		}
	}
	return fact.Line{}, false
}

func (a *auditor) lineOf(name string) (fact.Line, bool) {
	pf, fw := a.f.Firewall.PF, a.f.Firewall.IPFW
	if limitName, ok := strings.CutPrefix(name, "pf.conf:limit."); ok && pf != nil {
		l, ok := list.Find(pf.FileLimits, func(l fact.Limit) bool { return l.Name == limitName && l.File != "" })
		return l.AsLine(name), ok
	}
	if path, ok := strings.CutPrefix(name, "field:"); ok {
		return a.f.FieldLine(path)
	}
	switch {
	case name == "pf.conf:scrub" && pf != nil:
		s, ok := list.Find(pf.Scrub, func(s fact.Scrub) bool { return s.MaxMSS > 0 && s.File != "" })
		return fact.Line{File: s.File, Number: s.Line, Text: s.Text}, ok
	case name == "ipfw:nat" && fw != nil && len(fw.NATLines) > 0:
		return fw.NATLines[0], true
	}
	if class, ok := strings.CutPrefix(name, "class:"); ok {
		return a.lineOfDriver(a.Rules.Classes[class])
	}
	if service, key, ok := strings.Cut(strings.TrimPrefix(name, "service:"), ":"); ok {
		return a.lineOfService(service, key)
	}
	return list.Find(a.lines, func(l fact.Line) bool { return l.Name == name && l.Effective })
}

// lineOfDriver returns the line that configures the first interface with one of the drivers.
func (a *auditor) lineOfDriver(drivers []string) (fact.Line, bool) {
	n, ok := list.Find(a.f.NICs, func(n fact.NIC) bool { return slices.Contains(drivers, n.Driver) && len(n.Configured) > 0 })
	if !ok {
		return fact.Line{}, false
	}
	return n.Configured[0], true
}

// lineOfService returns the first line with a key in a daemon's configuration.
func (a *auditor) lineOfService(name, key string) (fact.Line, bool) {
	for _, s := range a.f.Services {
		for _, d := range s.Details {
			if s.Name == name && d.Name == key {
				return d, true
			}
		}
	}
	return fact.Line{}, false
}

// folklore reports lines whose value follows an unmeasured recommendation, if there is no other
// finding.
func (a *auditor) folklore() []candidate {
	var all []candidate
	for _, l := range a.lines {
		rec, ok := a.c.Lookup(a.f.OS, l.Name)
		if !ok || !l.Effective || !a.tunes(rec) {
			continue
		}
		for _, cl := range a.c.ClaimsOn(rec) {
			if cl.Value == "" || ofAll(cl) && cl.Name != l.Name || !rec.SameValue(cl.Value, l.Value) || a.f.Release.Before(cl.Since) && !a.f.Release.IsZero() || !a.claimHolds(cl) {
				continue
			}
			if said := a.claim(l, rec, cl); said != nil && !a.upheld(l, rec) && !a.required(l, rec) {
				all = append(all, said...)
				break
			}
		}
	}
	return all
}

// upheld reports whether another claim for the line's value has a valid reason: then the wrong
// reason of someone else does not matter.
func (a *auditor) upheld(l fact.Line, rec *tunable.Record) bool {
	return slices.ContainsFunc(a.c.ClaimsOn(rec), func(cl tunable.Claim) bool {
		return cl.Verdict == tunable.Holds && cl.Value != "" && (cl.Name == l.Name || !ofAll(cl)) && rec.SameValue(cl.Value, l.Value) && a.claimHolds(cl)
	})
}

// claimHolds reports whether a claim's condition holds on this host.
func (a *auditor) claimHolds(cl tunable.Claim) bool {
	yes, err := a.env.Holds(cl.When)
	a.fail(err)
	return yes
}

// ofAll reports a claim about the "all" instance of a per-interface setting: it does not apply to
// lines of single interfaces or of default.
func ofAll(c tunable.Claim) bool { return strings.Contains(c.Name, ".all.") }

// tunes reports whether a record is about performance. What a host does, and what its owner
// permits, are decisions, not folklore.
func (a *auditor) tunes(r *tunable.Record) bool {
	if r.Mechanism != setting.Sysctl && r.Mechanism != setting.Loader {
		return false
	}
	return !a.policy(r)
}

// policy reports a tunable that defines what is permitted.
func (a *auditor) policy(r *tunable.Record) bool {
	return globbed(a.Rules.Policies, r.Name)
}

// required reports a line that a security benchmark requires: its scanner fails the host without
// the line, even if the value is the default.
func (a *auditor) required(l fact.Line, rec *tunable.Record) bool {
	return slices.ContainsFunc(a.c.ClaimsOn(rec), func(cl tunable.Claim) bool {
		set, ok := a.c.ClaimSource(cl.Source)
		return ok && set.Kind == "hardening" && cl.Name == l.Name && rec.SameValue(cl.Value, l.Value)
	})
}

// claim reports that a line follows a claim that is unproven, outdated or wrong.
func (a *auditor) claim(l fact.Line, rec *tunable.Record, cl tunable.Claim) []candidate {
	who := cl.Source
	if s, ok := a.c.ClaimSource(cl.Source); ok {
		who = fmt.Sprintf("%s (%s, %s)", s.Title, s.Author, s.Date)
	}
	values := with{"who": who, "at": cl.At, "says": cl.Says, "verdict": cl.Verdict, "truth": cl.Truth}
	switch {
	case cl.Verdict == tunable.Folklore:
		return []candidate{a.says("LR-FOLKLORE", "unmeasured", l, values)}
	case cl.Verdict != tunable.Stale && cl.Verdict != tunable.Wrong:
		return nil
	}
	of := "refuted"
	if cl.Harmless {
		of = "harmless"
	}
	c := a.says("LR-FOLKLORE", of, l, values)
	if of == "refuted" && cl.Verdict == tunable.Wrong && !slices.ContainsFunc(rec.Cautions, func(c tunable.Caution) bool { return c.Kind == "ineffective" && c.When == "" }) {
		c.Severity = Warning
	}
	c.Finding = c.unsure(a.missing(language().Reads(cl.When)))
	return []candidate{c}
}
