package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/evidence"
	"linerate/internal/judge"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// changes returns the pooled measurements of changes from the host's current value.
func (p *planning) changes(name string) []evidence.Change { return p.judging().Of(name).Evidence }

// judging returns the judge of the host, creating it on first use.
func (p *planning) judging() *judge.Judge {
	if p.judge == nil {
		p.judge = judge.New(judge.Input{Facts: p.Facts, Catalogue: p.Catalogue, Role: p.Role, Evidence: p.Evidence})
	}
	return p.judge
}

// evidence returns the evidence for a setting from advice.
func (p *planning) evidence(a *Advice, r *tunable.Record, name, value string) Evidence {
	e := Evidence{Kind: string(a.Basis)}
	if a.Basis == Capacity {
		e.Kind = Arithmetic
	}
	for _, c := range p.changes(name) {
		if r.SameValue(c.After, value) && c.Says != evidence.Untold {
			e.Text, e.Refs = c.Text, c.Verdicts
		}
	}
	e.Refs = append(e.Refs, a.Sources...)
	return e
}

// measured applies evidence about tunables without advice: it plans what helps on this host, and
// lists what conflicts or has no effect as left alone.
func (p *planning) measured() {
	var names []string
	for _, m := range p.Evidence {
		if r, ok := p.Catalogue.Lookup(p.Facts.OS, m.Tunable); ok && strings.EqualFold(m.OS, p.Facts.OS) && p.matters(r, m.Driver) {
			names = append(names, p.instances(m.Tunable)...)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		r, ok := p.Catalogue.Lookup(p.Facts.OS, name)
		if ok && p.taken[name] == 0 {
			p.weigh(name, r, p.changes(name))
		}
	}
}

// matters reports whether a tunable exists on this host, belongs to a driver that the host uses,
// and is a tuning: whether a service runs is the administrator's decision.
func (p *planning) matters(r *tunable.Record, driver string) bool {
	s := r.At(p.Facts.Release)
	card := !strings.HasPrefix(r.Subsystem, "nic-") || slices.Contains(p.names.Drivers, driver)
	return s.Exists && card && r.Mechanism != setting.RC && (s.Module == "" || p.Facts.HasModule(s.Module) || s.Module == "pf" && p.names.PF)
}

// instances returns the host's names for a tunable of a study: a device tunable has one for each
// port of its driver.
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

// weigh decides about one tunable by its measurements.
func (p *planning) weigh(name string, r *tunable.Record, all []evidence.Change) {
	n := p.at(name, "")
	if best := evidence.Best(all); best != nil {
		p.take(name, r, *best, n)
		return
	}
	said := evidence.Told(all)
	if len(said) == 0 {
		return
	}
	p.leave(name, strings.Join(said, " "), n)
	hopeful := slices.ContainsFunc(all, func(c evidence.Change) bool { return c.Says == evidence.Elsewhere })
	if !hopeful {
		p.taken[name] = leftByEvidence
	}
}

// take adds a measured gain to the plan.
func (p *planning) take(name string, r *tunable.Record, c evidence.Change, n *names) {
	if problem := r.Reject(c.After); problem != nil {
		p.leave(name, c.Text+" This system does not take "+c.After+": "+problem.Message+".", n)
	} else if !p.gains(name, r, c.After, n, c.Text, Evidence{Kind: MeasuredHere, Text: c.Text, Refs: c.Verdicts}) {
		p.leave(name, c.Text+" linerate writes no file that sets it.", n)
	}
}

// gains adds a value that was measured to help to the plan; it returns false if no file can hold it.
func (p *planning) gains(name string, r *tunable.Record, value string, n *names, reason string, e Evidence) bool {
	s := step(name, value, r, p.current(name, n))
	s.Reason, s.Risk, s.Evidence = reason, cmp.Or(oneLine(r.Hurts), "None is known beyond what was measured."), e
	if err := p.place(&s, r, r.Name, ""); err != nil || s.Where.File == "" && !s.Where.Runtime || value == "" {
		return false
	}
	p.add(s, r, value)
	return true
}

// claims returns what others say of a value: for it, sources whose claim the catalogue confirms;
// against it, sources that recommend something else. A source counts once per claim, however many
// values it gives.
func (p *planning) claims(r *tunable.Record, value string) (pro, con []Claim) {
	type said struct{ source, says, verdict string }
	var order []said
	values := map[said][]string{}
	for _, c := range p.Catalogue.ClaimsOn(r) {
		if c.Says == "" || c.Value == "" {
			continue // without a value it is neither for nor against; explain shows it
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
