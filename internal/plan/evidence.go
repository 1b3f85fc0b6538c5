package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/evidence"
	"linerate/internal/judge"
	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/tunable"
)

// about lists what was measured of a tunable and matters to this role.
func (p *planning) about(name string) []evidence.Row {
	return list.Filter(p.Evidence, func(m evidence.Row) bool {
		return (m.Tunable == name || template(m.Tunable, name)) && judge.Concerns(p.Role, m.Metric)
	})
}

// template tells whether a study's name with N stands for a host's.
func template(pattern, name string) bool {
	before, after, ok := strings.Cut(pattern, ".N.")
	if !ok {
		return false
	}
	unit, found := strings.CutPrefix(name, before+".")
	if !found {
		return false
	}
	unit, found = strings.CutSuffix(unit, "."+after)
	return found && unit != "" && strings.Trim(unit, "0123456789") == ""
}

// evidence is what stands behind an advice's setting.
func (p *planning) evidence(a *Advice, name string) Evidence {
	e := Evidence{Kind: string(a.Basis)}
	if a.Basis == Capacity {
		e.Kind = Arithmetic
	}
	byKind := map[string][]evidence.Row{}
	for _, m := range p.about(name) {
		kind := MeasuredOthers
		if judge.Alike(p.Facts, p.names.Drivers, m) {
			kind = MeasuredHere
		}
		byKind[kind] = append(byKind[kind], m)
		e.Refs = append(e.Refs, m.ID)
	}
	var said []string
	for _, kind := range []string{MeasuredHere, MeasuredOthers} {
		if len(byKind[kind]) > 0 {
			said = append(said, kind+": "+summary(byKind[kind]))
		}
	}
	e.Text = strings.Join(said, "; ")
	e.Refs = append(e.Refs, a.Sources...)
	return e
}

// measured lets evidence speak that no advice is about: a gain on hardware
// like this enters the plan, what conflicts or does nothing is left alone and
// says so, the plan shows what was measured elsewhere.
func (p *planning) measured() {
	byName := map[string][]evidence.Row{}
	var order []string
	for _, m := range p.Evidence {
		if !m.Alone || !judge.Concerns(p.Role, m.Metric) || !strings.EqualFold(m.OS, p.Facts.OS) || p.ofOtherCards(m) {
			continue
		}
		if byName[m.Tunable] == nil {
			order = append(order, m.Tunable)
		}
		byName[m.Tunable] = append(byName[m.Tunable], m)
	}
	slices.Sort(order)
	for _, name := range order {
		if r, ok := p.Catalogue.Lookup(p.Facts.OS, name); ok && p.matters(r) {
			for _, n := range p.instances(name) {
				p.weigh(n, r, byName[name])
			}
		}
	}
}

// matters tells whether a tunable is there on this host, and a tuning: what
// switches a service on is the admin's to decide.
func (p *planning) matters(r *tunable.Record) bool {
	s := r.At(p.Facts.Release)
	return s.Exists && r.Mechanism != setting.RC && (s.Module == "" || p.Facts.HasModule(s.Module) || s.Module == "pf" && p.names.PF)
}

// ofOtherCards tells what is about a card that this host has not.
func (p *planning) ofOtherCards(m evidence.Row) bool {
	r, ok := p.Catalogue.Lookup(p.Facts.OS, m.Tunable)
	return ok && strings.HasPrefix(r.Subsystem, "nic-") && !slices.Contains(p.names.Drivers, m.Driver)
}

// instances are the names on this host of a tunable that a study set: a
// device's is one for each port of its driver.
func (p *planning) instances(name string) []string {
	if !strings.Contains(name, ".N.") {
		return []string{name}
	}
	var out []string
	for _, n := range p.names.NICs {
		if strings.HasPrefix(name, "dev."+n.Driver+".") {
			out = append(out, instance(name, n.Name))
		}
	}
	return out
}

// away turns verdicts into those about a change from what the host has: what
// was measured the other way round is turned, what compared two other values
// says nothing here.
func (p *planning) away(name string, r *tunable.Record, all []evidence.Row) []evidence.Row {
	now := p.current(name, p.at(name, "")).Value
	usual, _ := p.Catalogue.Default(r, p.Facts)
	is := func(value string) bool { return cmp.Or(value, usual) == now }
	var out []evidence.Row
	for _, m := range all {
		switch {
		case is(m.Before) && !is(m.After):
			out = append(out, m)
		case is(m.After) && !is(m.Before):
			out = append(out, m.Reversed())
		}
	}
	return out
}

// weigh decides about one tunable by its verdicts.
func (p *planning) weigh(name string, r *tunable.Record, all []evidence.Row) {
	if p.taken[name] != 0 {
		return
	}
	var here, there []evidence.Row
	for _, m := range p.away(name, r, all) {
		if judge.Alike(p.Facts, p.names.Drivers, m) {
			here = append(here, m)
		} else {
			there = append(there, m)
		}
	}
	n := p.at(name, "")
	gain := judge.Gain(here)
	switch {
	case len(here) == 0 && len(there) == 0:
	case len(here) == 0:
		p.leave(name, elsewhereText(there), n)
		if evidence.ClearestGain(there) == nil {
			p.taken[name] = leftByEvidence
		}
	case evidence.Conflict(here):
		p.leave(name, "The evidence on hardware like this conflicts: "+summary(here)+".", n)
		p.taken[name] = leftByEvidence
	case gain == nil:
		p.leave(name, "Measured on hardware like this: "+summary(here)+". No gain was shown.", n)
		p.taken[name] = leftByEvidence
	default:
		p.take(name, r, *gain, n)
	}
}

// elsewhereText is what verdicts from other hardware or releases are good for.
func elsewhereText(ms []evidence.Row) string {
	if evidence.ClearestGain(ms) == nil {
		return "Others measured it and found nothing better, on other hardware or releases: " + summary(ms) + "."
	}
	return "Measured by others, on other hardware or releases: " + summary(ms) + ". Measure it here before it is set."
}

// take puts a measured gain into the plan.
func (p *planning) take(name string, r *tunable.Record, m evidence.Row, n *names) {
	current := p.current(name, n)
	if problem := r.Reject(m.After); problem != nil {
		p.leave(name, "Measured to help here ("+m.Text()+"), and this system does not take the value: "+problem.Message+".", n)
		return
	}
	if current.Value == m.After {
		p.leave(name, "It is "+m.After+" already, and that was measured to help: "+m.Text()+".", n)
		return
	}
	s := Step{Name: name, Value: m.After, Current: Current{Origin: current.Origin}, ResetCost: string(r.Reset),
		Reason: "It was measured to help on hardware like this: " + m.Text() + ".", Risk: cmp.Or(oneLine(r.Hurts), "None is known beyond what was measured."),
		Evidence: Evidence{Kind: MeasuredHere, Text: m.Text(), Refs: []string{m.ID}}}
	if current.Known {
		s.Current.Value = &current.Value
	}
	if err := p.place(&s, r, r.Name, ""); err != nil || s.Where.File == "" && !s.Where.Runtime || m.After == "" {
		p.leave(name, "Measured to help here ("+m.Text()+"), and linerate has no place of its own to set it.", n)
		return
	}
	s.Undo = undo(s)
	s.For, s.Against = p.claims(r, m.After)
	p.taken[name] = set
	p.plan.Settings = append(p.plan.Settings, s)
}

// summary sums verdicts up: one in full, more by their machines, outcomes and
// range.
func summary(ms []evidence.Row) string {
	if len(ms) == 1 {
		return ms[0].Text()
	}
	machines := map[string]bool{}
	count := map[stats.Verdict]int{}
	low, high := ms[0], ms[0]
	for _, m := range ms {
		machines[m.Machine()] = true
		count[m.Verdict]++
		if m.EffectPercent.Float() < low.EffectPercent.Float() {
			low = m
		}
		if m.EffectPercent.Float() > high.EffectPercent.Float() {
			high = m
		}
	}
	var outcomes []string
	for _, v := range stats.Verdicts() {
		if count[v] > 0 {
			outcomes = append(outcomes, fmt.Sprintf("%d %s", count[v], v))
		}
	}
	return fmt.Sprintf("%s on %s: %s; from %s (%s; %s) to %s (%s; %s)", show.Plural(len(ms), "comparison"), show.Plural(len(machines), "machine"), strings.Join(outcomes, ", "),
		show.SignedPercent(low.EffectPercent.Float()), low.Machine(), low.Release, show.SignedPercent(high.EffectPercent.Float()), high.Machine(), high.Release)
}

// claims are what others say of a value: those whose word the catalogue found
// to hold are for it, those that say something else against. One source says
// one thing once, whatever values it gives for it.
func (p *planning) claims(r *tunable.Record, value string) (pro, con []Claim) {
	type said struct{ source, says, verdict string }
	var order []said
	values := map[said][]string{}
	for _, c := range p.Catalogue.ClaimsOn(r) {
		if c.Says == "" || c.Value == "" {
			continue // what names no value is neither for one nor against it: explain tells it
		}
		k := said{c.Source, c.Says, c.Verdict}
		if values[k] == nil {
			order = append(order, k)
		}
		values[k] = append(values[k], c.Value)
	}
	for _, k := range order {
		claim := Claim{Text: oneLine(fmt.Sprintf("%s (%s): %s", strings.Join(values[k], ", "), k.verdict, k.says)), Source: k.source}
		says := slices.ContainsFunc(values[k], func(v string) bool { return v == value || value == "off" && strings.HasPrefix(v, "-") })
		switch stands := slices.Contains([]string{tunable.Holds, tunable.Measured, tunable.Depends}, k.verdict); {
		case stands && says:
			pro = append(pro, claim)
		case !says:
			con = append(con, claim)
		}
	}
	return pro, con
}
