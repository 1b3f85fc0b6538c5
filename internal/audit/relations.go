package audit

import (
	"cmp"
	"fmt"
	"linerate/internal/fact"
	"linerate/internal/tunable"
	"strings"
)

// cautionKinds maps the kinds of cautions that become findings; only explain shows notes and
// security questions.
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

// cautions reports the record's cautions that apply to this host and the line's value.
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
			k.severity, k.action = Info, Measure // weigh the benchmark against the cost here
		}
		f := Finding{ID: "LR-" + strings.ToUpper(c.Kind) + ":" + j.Name, Kind: k.kind, Severity: k.severity, Action: k.action, Name: j.Name,
			Sources: j.rec.Sources, Message: fmt.Sprintf("%s=%s: %s", j.Name, j.Value, c.Text), Why: j.rec.Summary, Fix: cmp.Or(c.Fix, a.advice(j, k.kind))}.at(j.Line)
		all = append(all, candidate{Finding: f, class: caution, short: strings.TrimRight(c.Text, ".")})
	}
	return all
}

// advice says what to do about a line that is harmful or useless.
func (a *auditor) advice(j judged, kind Kind) string {
	if kind == Ineffective {
		return removeLine
	}
	if d, ok := j.rec.DefaultOf(j.Name, a.f.Release, a.env); ok {
		return fmt.Sprintf("Remove the line (default %s), or measure that it helps here.", d)
	}
	return "Remove the line, or measure that it helps here."
}

// couplings reports pairs of settings that disagree, from either side if both have lines; resolve
// keeps one.
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

// disagree reports a coupling of a line that is violated. If the other setting's default depends on
// unknown memory, it must be violated with 1 GiB and with 1 TiB.
func (a *auditor) disagree(l fact.Line, k tunable.Coupling) []candidate {
	envs, where := []tunable.Env{a.env}, ""
	if i := strings.LastIndex(k.Name, "IF"); i >= 0 { // of the same interface
		k.Name = l.Name[:strings.LastIndexByte(l.Name, '.')+1] + k.Name[i+len("IF."):]
	}
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
