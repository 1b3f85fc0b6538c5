package plan

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/appliance"
	"linerate/internal/fact"
	"linerate/internal/judge"
)

// current returns the value of a tunable and its origin: from the interface, from pf's limits, or
// from the judge.
func (p *planning) current(name string, n *names) judge.Standing {
	if limit, ok := strings.CutPrefix(name, "pf.conf:limit."); ok && p.Facts.Firewall.PF != nil {
		return p.pfLimit(limit, name)
	}
	if c := p.ofDevice(name, n.Device); c.Known {
		return c
	}
	c := p.judging().Stands(name)
	if c.Value == "" && c.Origin == "default" {
		return judge.Standing{Value: n.Text(name)}
	}
	return c
}

// ofDevice returns a property of an interface from its facts.
func (p *planning) ofDevice(name, device string) judge.Standing {
	nic, ok := p.Facts.NIC(device)
	if device == "" || !ok {
		return judge.Standing{}
	}
	for template, known := range properties {
		if instance(template, device) != name {
			continue
		}
		if v, ok := known.value(&nic); ok {
			return judge.Standing{Value: v, Origin: "the running interface", Known: true}
		}
	}
	return judge.Standing{}
}

// pfLimit returns a limit of pf: the kernel's, else that in pf.conf, else the default.
func (p *planning) pfLimit(limit, name string) judge.Standing {
	pf := p.Facts.Firewall.PF
	of := func(list []fact.Limit) (value, origin string, ok bool) {
		for _, l := range list {
			if l.Name == limit {
				if l.File == "" && l.Text != "" {
					return fmt.Sprint(l.Value), l.Text, true
				}
				return fmt.Sprint(l.Value), pf.File, true
			}
		}
		return "", "", false
	}
	set, origin, inFile := of(pf.FileLimits)
	running, _, known := of(pf.Limits)
	switch {
	case known && inFile && set == running, !known && inFile:
		return judge.Standing{Value: set, Origin: origin, Known: true}
	case known:
		return judge.Standing{Value: running, Origin: "the running kernel", Known: true}
	}
	if a := appliance.Of(p.Facts); a != nil && slices.ContainsFunc(a.Limits, func(l appliance.MemoryLimit) bool { return l.Name == limit }) {
		return judge.Standing{} // depends on memory, which is unknown
	}
	if c := p.judging().Stands(name); c.Known {
		return c
	}
	return judge.Standing{}
}
