package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// Judge audits the facts of a host, real or as changed by a plan.
type Judge func(*fact.Facts) (*audit.Report, error)

// By returns a judge with the rules, role and suppressions of another audit.
func By(known audit.Input) Judge {
	return func(f *fact.Facts) (*audit.Report, error) {
		known.Facts = f
		return audit.Run(known)
	}
}

// checked removes from the plan the changes that cause new findings of the audit, or that switch off forwarding or filtering. It
// lists them in Decide, with the reason.
func checked(p Plan, f *fact.Facts, judge Judge) (Plan, error) {
	before, err := judge(f)
	if err != nil {
		return p, err
	}
	for {
		harms, err := harmsOf(p, f, before, judge)
		if err != nil || len(harms) == 0 {
			return p, err
		}
		// Among the suspect changes, pick the one whose removal leaves the least harm.
		var least []harm
		var best part
		found := false
		for _, c := range p.suspects(harms) {
			left, err := harmsOf(p.except(c), f, before, judge)
			if err != nil {
				return p, err
			}
			if len(left) < len(harms) && (!found || len(left) < len(least)) {
				least, best, found = left, c, true
			}
			if found && len(least) == 0 {
				break
			}
		}
		if !found { // several changes, each harmful by itself: remove the last suspect first
			all := p.suspects(harms)
			if len(all) == 0 {
				return p, fmt.Errorf("the plan would do harm: %s", harms[0].text)
			}
			best = all[len(all)-1]
		}
		reason := harms[0].text
		for _, h := range harms {
			if !slices.Contains(least, h) {
				reason = h.text
				break
			}
		}
		decision := p.decision(best, reason)
		p = p.except(best)
		p.Decide = append(p.Decide, decision)
	}
}

// Harms returns what apply would make worse on a host with facts f. Apply makes settings but removes no line.
func (p Plan) Harms(f *fact.Facts, judge Judge) ([]string, error) {
	p.Remove, p.Settings = nil, slices.Clone(p.Settings)
	for i := range p.Settings {
		p.Settings[i].Instead = nil
	}
	before, err := judge(f)
	if err != nil {
		return nil, err
	}
	harms, err := harmsOf(p, f, before, judge)
	return list.Map(harms, func(h harm) string { return oneLine(h.text) }), err
}

// harm is a problem that a plan causes: the setting concerned, and the description.
type harm struct{ name, text string }

// harmsOf compares the host as changed by a plan with the current host.
func harmsOf(p Plan, f *fact.Facts, before *audit.Report, judge Judge) ([]harm, error) {
	g := p.Over(f)
	after, err := judge(g)
	if err != nil {
		return nil, err
	}
	known := map[string]audit.Severity{}
	for _, o := range before.Findings {
		known[o.PlainID()] = max2(known[o.PlainID()], o.Severity)
	}
	var all []harm
	for _, n := range after.Findings {
		was, ok := known[n.PlainID()]
		if n.Severity.AtLeast(audit.Warning) && (!ok || !was.AtLeast(n.Severity)) {
			text := n.Message
			if n.Rule() == "LR-OVERWRITTEN" { // the remedy belongs to another program
				text += ". " + n.Fix
			}
			all = append(all, harm{n.Name, text})
		}
	}
	return append(all, p.losses(f, g)...), nil
}

func max2(a, b audit.Severity) audit.Severity {
	if a != "" && a.AtLeast(b) {
		return a
	}
	return b
}

// switches matches settings that make a host route, filter, or start a service.
var switches = lazy.Regexp(`_enable$|_load$|^kld_list$|^ifconfig_|^(default|ipv6_default)router$|^(static|ipv6)_routes|^pf_rules$|^firewall_|forward(ing)?$`)

// losses returns what removed lines would break: switches that were on, and lines that would then take effect with another value.
func (p Plan) losses(f, g *fact.Facts) []harm {
	set := map[string]bool{}
	for _, s := range p.Settings {
		set[s.Name] = true
	}
	var all []harm
	for i, s := range f.Settings {
		was, ok := s.Stands()
		if !ok || was.Default || set[s.Name] {
			continue
		}
		var now fact.Line
		stands := false
		for _, t := range g.Settings[min(i, len(g.Settings)-1):] { // both are sorted, and g has at least as many
			if t.Name == s.Name && t.Namespace == s.Namespace {
				now, stands = t.Stands()
				break
			}
		}
		switch {
		case stands && now.Value == was.Value:
		case stands && !now.Default && !p.idle(was):
			all = append(all, harm{s.Name, fmt.Sprintf("%s would become %s (%s:%d): two lines disagree", s.Name, now.Value, now.File, now.Number)})
		case switches().MatchString(s.Name) && !off(was.Value) && !p.idle(was):
			all = append(all, harm{s.Name, fmt.Sprintf("%s=%s switches something on, and would be gone", s.Name, was.Value)})
		}
	}
	for _, c := range []struct {
		what     string
		was, now bool
	}{{"forward IPv4", f.ForwardsIPv4(), g.ForwardsIPv4()}, {"forward IPv6", f.ForwardsIPv6(), g.ForwardsIPv6()}, {"filter by pf", f.PFOn(), g.PFOn()}, {"filter by ipfw", f.IPFWOn(), g.IPFWOn()}} {
		if c.was && !c.now {
			all = append(all, harm{text: "the host would no longer " + c.what})
		}
	}
	return all
}

// off reports whether a value switches nothing on.
func off(value string) bool {
	return slices.Contains([]string{"", "0", "no", "off", "false", "none"}, strings.ToLower(strings.TrimSpace(value)))
}

// idle reports whether, according to the plan's own finding, a line has no effect.
func (p Plan) idle(l fact.Line) bool {
	return slices.ContainsFunc(p.Remove, func(r Removal) bool { return r.File == l.File && r.Line == l.Number && r.idle })
}

// part is one change of a plan: a setting, or the removal of a line.
type part struct{ setting, removal int }

// suspects returns the changes that may cause the harms: those about a setting that a harm names, or all.
func (p Plan) suspects(harms []harm) []part {
	about := func(name string) bool {
		return slices.ContainsFunc(harms, func(h harm) bool { return h.name != "" && (h.name == name || strings.HasSuffix(h.name, "."+name)) })
	}
	var named, all []part
	for i, s := range p.Settings {
		all = append(all, part{i, -1})
		if about(s.Name) {
			named = append(named, part{i, -1})
		}
	}
	for i, r := range p.Remove {
		all = append(all, part{-1, i})
		if about(r.Name) {
			named = append(named, part{-1, i})
		}
	}
	if len(named) > 0 {
		return named
	}
	return all
}

// except returns the plan without one change.
func (p Plan) except(c part) Plan {
	if c.setting >= 0 {
		p.Settings = slices.Delete(slices.Clone(p.Settings), c.setting, c.setting+1)
	} else {
		p.Remove = slices.Delete(slices.Clone(p.Remove), c.removal, c.removal+1)
	}
	return p
}

// decision returns the Decision for a change that is not offered.
func (p Plan) decision(c part, reason string) Decision {
	if c.setting >= 0 {
		s := p.Settings[c.setting]
		return Decision{Name: s.Title(), Change: "set to " + s.Value, Reason: fmt.Sprintf("%s But then: %s.", cmp.Or(s.Reason, "It was advised."), strings.TrimSuffix(oneLine(reason), "."))}
	}
	r := p.Remove[c.removal]
	return Decision{Name: cmp.Or(r.Name, r.Text), Change: fmt.Sprintf("remove %s:%d: %s", r.File, r.Line, r.Text), Reason: fmt.Sprintf("%s But then: %s.", r.Reason, strings.TrimSuffix(oneLine(reason), "."))}
}
