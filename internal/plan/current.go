package plan

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/appliance"
	"linerate/internal/fact"
)

// current is a tunable as the host has it.
type current struct {
	Value  string
	Origin string // "default", "/etc/sysctl.conf:12", "the running kernel"
	Known  bool
	// Fleeting: it is the running value, and the files say that the next boot
	// has another.
	Fleeting bool
}

// current finds a tunable's value: running, else what the files set, else the
// default of the catalogue; and where it comes from.
func (p *planning) current(name string, n *names) current {
	s, set := p.Facts.Tunable(name)
	if !set {
		s, set = p.Facts.RCVariable(name)
	}
	place, fromFile := "", ""
	if l, ok := s.Stands(); set && ok {
		place, fromFile = fmt.Sprintf("%s:%d", l.File, l.Number), l.Value
		if l.Number == 0 && l.Note != "" {
			place = l.Note // of a product, which no file tells
		}
	}
	if limit, ok := strings.CutPrefix(name, "pf.conf:limit."); ok && p.Facts.Firewall.PF != nil {
		return p.pfLimit(limit, name)
	}
	if c := p.ofDevice(name, n.Device); c.Known {
		return c
	}
	usual := ""
	if r, ok := p.Catalogue.Lookup(p.Facts.OS, name); ok {
		usual, _ = p.Catalogue.Default(r, p.Facts)
		if l, ok := s.Stands(); fromFile != "" && ok {
			fromFile = r.Stored(p.Facts.Release, l, usual)
		}
	}
	live, running := p.Facts.LiveValue(name)
	switch {
	case running && place != "" && live == fromFile:
		return current{Value: live, Origin: place, Known: true}
	case running && live == usual:
		return current{Value: live, Origin: "default", Known: true, Fleeting: place != ""}
	case running:
		return current{Value: live, Origin: "the running kernel", Known: true, Fleeting: place != "" || usual != "" && p.filesRead()}
	case place != "":
		return current{Value: fromFile, Origin: place, Known: true}
	case usual != "":
		return current{Value: usual, Origin: "default", Known: true}
	}
	return current{Value: n.Text(name)}
}

// filesRead tells whether the host's own configuration is known: only then
// does a value without a line end with the next boot.
func (p *planning) filesRead() bool {
	return p.Facts.Read("/etc/sysctl") || p.Facts.Read("/etc/rc.conf")
}

// ofDevice is a property of an interface as the interface has it.
func (p *planning) ofDevice(name, device string) current {
	nic, ok := p.Facts.NIC(device)
	if device == "" || !ok {
		return current{}
	}
	for template, known := range properties {
		if instance(template, device) != name {
			continue
		}
		if v, ok := known.value(&nic); ok {
			return current{Value: v, Origin: "the running interface", Known: true}
		}
	}
	return current{}
}

// pfLimit is a limit of pf: as the kernel has it, else as pf.conf sets it,
// else the default.
func (p *planning) pfLimit(limit, name string) current {
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
		return current{Value: set, Origin: origin, Known: true}
	case known:
		return current{Value: running, Origin: "the running kernel", Known: true}
	}
	if a := appliance.Of(p.Facts); a != nil && slices.ContainsFunc(a.Limits, func(l appliance.MemoryLimit) bool { return l.Name == limit }) {
		return current{} // by memory, which is not known
	}
	if r, ok := p.Catalogue.Lookup(p.Facts.OS, name); ok {
		if usual, ok := p.Catalogue.Default(r, p.Facts); ok {
			return current{Value: usual, Origin: "default", Known: true}
		}
	}
	return current{}
}
