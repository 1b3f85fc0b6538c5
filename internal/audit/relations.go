package audit

import (
	"cmp"
	"fmt"
	"linerate/internal/fact"
	"linerate/internal/tunable"
	"slices"
	"strings"
)

// cautionKinds are the findings that a record's cautions make; notes and
// questions of security are for explain.
var cautionKinds = map[string]struct {
	kind     Kind
	severity Severity
	action   Action
}{
	"harmful":     {Harmful, Warning, Change},
	"ineffective": {Ineffective, Info, Remove},
	"memory":      {Memory, Warning, Measure},
	"order":       {Order, Info, Change},
}

// cautions reports what the record warns of, where its condition holds for
// this host and the line's value.
func (a *auditor) cautions(j judged) []candidate {
	if j.rec == nil {
		return nil
	}
	var all []candidate
	e := a.env.With(j.Value, "")
	for _, c := range j.rec.Cautions {
		k, ok := cautionKinds[c.Kind]
		if !ok || c.When == "" || e.Unknown(c.When) {
			continue
		}
		yes, err := e.Holds(c.When)
		a.fail(err)
		if !yes {
			continue
		}
		if a.required(j.Line, j.rec) {
			k.severity, k.action = Info, Measure // between the benchmark and what it costs here
		}
		f := Finding{ID: "LR-" + strings.ToUpper(c.Kind) + ":" + j.Name, Kind: k.kind, Severity: k.severity, Action: k.action, Name: j.Name,
			Sources: j.rec.Sources, Message: fmt.Sprintf("%s=%s: %s", j.Name, j.Value, c.Text), Why: j.rec.Summary, Fix: cmp.Or(c.Fix, a.advice(j, k.kind))}.at(j.Line)
		all = append(all, candidate{Finding: f, class: caution, short: strings.TrimRight(c.Text, ".")})
	}
	return all
}

// advice is what to do about a line that does harm or nothing.
func (a *auditor) advice(j judged, kind Kind) string {
	if kind == Ineffective {
		return removeLine
	}
	if d, ok := j.rec.DefaultOf(j.Name, a.f.Release, a.env); ok {
		return fmt.Sprintf("Remove the line (default %s), or measure that it helps here.", d)
	}
	return "Remove the line, or measure that it helps here."
}

// couplings reports pairs of settings that disagree: from either side where
// both have lines, to be reported once.
func (a *auditor) couplings() []candidate {
	var all []candidate
	for _, l := range a.lines {
		rec, ok := a.c.Lookup(a.f.OS, l.Name)
		if !ok || !l.Effective || !rec.Exists(a.f.Release) {
			continue
		}
		for _, k := range rec.Coupled {
			all = append(all, a.disagree(l, k)...)
		}
	}
	return all
}

// atOdds: a setting coupled to the line's wants another value of one of them.
func (a *auditor) atOdds(j judged) bool {
	return j.Effective && slices.ContainsFunc(j.rec.Coupled, func(k tunable.Coupling) bool { return len(a.disagree(j.Line, k)) > 0 })
}

// disagree reports one coupling of a line, if it does not hold: where the host's memory is
// unknown and the other's default computed from it, with a GiB and with a TiB.
func (a *auditor) disagree(l fact.Line, k tunable.Coupling) []candidate {
	envs, where := []tunable.Env{a.env}, ""
	if a.env.Text(k.Name) == "" && a.f.Memory.Physical == 0 {
		envs, where = []tunable.Env{a.machine(usual, false), a.machine(huge, false)}, ", its default with "+size(huge, false)
	}
	other := ""
	for _, e := range envs {
		other = e.Text(k.Name)
		if k.Holds == "" || other == "" || e.Unknown(k.Holds) {
			return nil
		}
		ok, err := e.With(l.Value, other).Holds(k.Holds)
		a.fail(err)
		if ok || err != nil {
			return nil
		}
	}
	c := a.says("LR-COUPLED", "pair", l, with{"other": k.Name + "=" + other + where, "why": k.Why, "wanted": a.c.Words(k.Holds, l.Name, k.Name)})
	c.ID += "~" + k.Name
	c.once = "coupled " + min(l.Name, k.Name) + "~" + max(l.Name, k.Name)
	return []candidate{c}
}
