package audit

import (
	"slices"
	"strings"

	"linerate/internal/appliance"
	"linerate/internal/fact"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// settled assigns each line of an appliance's list of tunables, which both the loader and sysctl(8)
// read, to the one that can set the name. It does not change f.
func settled(f *fact.Facts, c *tunable.Catalogue) *fact.Facts {
	if f.Product == nil {
		return f
	}
	g := *f
	g.Settings = slices.Clone(f.Settings)
	for i, s := range g.Settings {
		if !slices.ContainsFunc(s.Lines, func(l fact.Line) bool { return l.Stage == fact.Tunables }) {
			continue
		}
		stage := fact.Sysctl
		if byLoader(f, c, s.Name) {
			stage = fact.Loader
		}
		s.Lines = slices.Clone(s.Lines)
		for j := range s.Lines {
			if s.Lines[j].Stage == fact.Tunables {
				s.Lines[j].Stage = stage
			}
		}
		g.Settings[i] = s
	}
	return &g
}

// byLoader reports a name that can only be set, or only set in time, by the loader.
func byLoader(f *fact.Facts, c *tunable.Catalogue, name string) bool {
	r, ok := c.Lookup(f.OS, name)
	if !ok {
		return !strings.Contains(name, ".") || strings.HasPrefix(name, "hw.") || strings.HasPrefix(name, "hint.")
	}
	st := r.At(f.Release)
	if st.Mechanism != setting.Sysctl {
		return true
	}
	return st.Settable.AtBoot() && (!st.Settable.AtRuntime() || r.Reset == tunable.NeedReboot)
}

// setByProduct returns the value that the appliance itself gives a tunable: without the line this
// applies, not the base system's default.
func (a *auditor) setByProduct(name string) (value string, ok bool) {
	if a.product == nil {
		return "", false
	}
	if n, has := a.product.NodeOf(name); has && (!strings.HasPrefix(n.Node, "firewall ") || a.f.FieldValue("firewall") != "") {
		return n.Value(n.Default), true
	}
	return a.product.SetsItself(name)
}

// productSets reports a tunable whose default on this appliance is not the base system's.
func (a *auditor) productSets(name string) bool { _, ok := a.setByProduct(name); return ok }

// ofEvery reports a line from which an appliance sets every interface, and conf.default.
func (a *auditor) ofEvery(l fact.Line) bool {
	if a.product == nil {
		return false
	}
	n, ok := a.product.NodeOf(l.Name)
	return ok && n.Every && n.At(l.Place)
}

// ownNode returns the appliance's own place for a tunable if it writes another value.
func ownNode(f *fact.Facts, name, value string) string {
	p := appliance.Of(f)
	if p == nil {
		return ""
	}
	n, ok := p.NodeOf(name)
	if !ok {
		return ""
	}
	node, written := n.In(p, f.Product.Version), n.Value(n.Default)
	s, _ := f.Tunable(name)
	for _, l := range s.Lines {
		if l.Place == "set "+node {
			written = l.Value
		}
	}
	if written == value {
		return ""
	}
	return node
}

// speak rewrites a fix in the appliance's terms: where its user finds what a base system has in a
// file.
func (a *auditor) speak(f *Finding) {
	if a.product == nil {
		return
	}
	if f.Place != "" {
		f.Fix = a.product.FixAt(f.Fix, f.Place, f.Name)
		return
	}
	f.Fix = a.product.ForFiles(f.Fix)
}

// productName returns the appliance and its release, "" for a plain host.
func (a *auditor) productName() string {
	if a.f.Product == nil {
		return ""
	}
	name := strings.TrimSpace(a.f.Product.Title + " " + a.f.Product.Version)
	if a.f.Product.As != "" {
		name += " (a release that is not known here: judged as " + a.f.Product.As + ")"
	}
	return name
}
