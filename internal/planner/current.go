package planner

import (
	"cmp"
	"fmt"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/factexpr"
	"linerate/internal/setting"
)

// current is a tunable as the host has it.
type current struct {
	Value  string
	Origin string // "default", "/etc/sysctl.conf:12", "the running kernel"
	Known  bool
}

// current finds a tunable's value: running, else what the files set, else the
// default of the catalogue; and where it comes from.
func (p *planning) current(name string, n *names) current {
	s, set := p.Facts.Setting(name)
	if !set {
		s, set = p.Facts.RCSetting(name)
	}
	place := ""
	fromFile := ""
	if set && len(s.Lines) > 0 {
		last := s.Lines[len(s.Lines)-1]
		place, fromFile = fmt.Sprintf("%s:%d", last.File, last.Number), last.Value
	}
	if limit, ok := strings.CutPrefix(name, "pf.conf:limit."); ok && p.Facts.Firewall.PF != nil {
		return p.pfLimit(limit, name)
	}
	if c := p.offload(name, n.Device); c.Known {
		return c
	}
	usual := ""
	if r, ok := p.Catalogue.Lookup(p.Facts.OS, name); ok {
		usual, _ = p.Catalogue.Default(r, p.Facts)
	}
	live, running := p.Facts.LiveValue(name)
	switch {
	case running && place != "" && live == fromFile:
		return current{live, place, true}
	case running && live == usual:
		return current{live, "default", true}
	case running:
		return current{live, "the running kernel", true}
	case place != "":
		return current{fromFile, place, true}
	case usual != "":
		return current{usual, "default", true}
	}
	return current{Value: n.Text(name)}
}

// offload is an interface's feature as the interface has it.
func (p *planning) offload(name, device string) current {
	for _, nic := range p.Facts.NICs {
		if device == "" || nic.Name != device || nic.Options == nil {
			continue
		}
		for template, known := range properties {
			if known.mechanism == setting.Offload && instance(template, device) == name {
				return current{factexpr.Offload(&nic, cmp.Or(known.option, known.name)), "the running interface", true}
			}
		}
	}
	return current{}
}

// pfLimit is a limit of pf: as the kernel has it, else as pf.conf sets it,
// else the default.
func (p *planning) pfLimit(limit, name string) current {
	pf := p.Facts.Firewall.PF
	of := func(list []fact.Limit) (string, bool) {
		for _, l := range list {
			if l.Name == limit {
				return fmt.Sprint(l.Value), true
			}
		}
		return "", false
	}
	set, inFile := of(pf.FileLimits)
	running, known := of(pf.Limits)
	switch {
	case known && inFile && set == running, !known && inFile:
		return current{set, pf.File, true}
	case known:
		return current{running, "the running kernel", true}
	}
	if r, ok := p.Catalogue.Lookup(p.Facts.OS, name); ok {
		if usual, ok := p.Catalogue.Default(r, p.Facts); ok {
			return current{usual, "default", true}
		}
	}
	return current{}
}
