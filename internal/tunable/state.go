package tunable

import (
	"linerate/internal/fact/release"
	"linerate/internal/setting"
)

// State is what a record says about one release.
type State struct {
	Exists    bool
	Settable  Settable
	Type      Type
	Unit      string
	Mechanism setting.Mechanism
	// Default is nil if there is none, or Formula computes it.
	Default   *string
	Formula   string
	Effective string
	Scope     Scope
	Module    string
	Constraints
}

// Reversible reports whether a running system accepts a new value, and then the old one again.
func (s State) Reversible() bool { return s.Settable.AtRuntime() && !s.OnlyRaise }

// IsFormula reports whether the system computes the default from the machine.
func (s State) IsFormula() bool { return s.Formula != "" && s.Default == nil }

// At returns the state on a release. A zero release means the newest one that is out.
func (r *Record) At(rel release.Release) State {
	s := State{
		Exists: r.existed(rel), Settable: r.Settable, Type: r.Type, Unit: r.Unit, Mechanism: r.Mechanism,
		Default: r.Default, Formula: r.Formula, Effective: r.Effective, Scope: r.Scope, Module: r.Module,
		Constraints: r.Constraints,
	}
	for _, c := range r.Changes {
		if r.covered(c, rel) {
			c.apply(&s)
		}
	}
	return s
}

// Exists reports whether a release has the tunable.
func (r *Record) Exists(rel release.Release) bool { return r.At(rel).Exists }

// existed is Exists without Changes.
func (r *Record) existed(rel release.Release) bool {
	if rel.IsZero() {
		return !r.out(r.Removed)
	}
	return !rel.Before(r.Since) && (r.Removed.IsZero() || rel.Before(r.Removed))
}

// covered reports whether a change applies to a release.
func (r *Record) covered(c Change, rel release.Release) bool {
	if rel.IsZero() {
		return !r.out(c.Until) && (c.From.IsZero() || r.out(c.From))
	}
	return !rel.Before(c.From) && (c.Until.IsZero() || rel.Before(c.Until))
}

func (c Change) apply(s *State) {
	if c.Exists != nil {
		s.Exists = *c.Exists
	}
	set(&s.Settable, c.Settable)
	set(&s.Type, c.Type)
	set(&s.Unit, c.Unit)
	set(&s.Mechanism, c.Mechanism)
	set(&s.Effective, c.Effective)
	set(&s.Scope, c.Scope)
	if c.Module != nil {
		s.Module = *c.Module
	}
	if c.Constraints != nil {
		s.Constraints = *c.Constraints
	}
	if c.Default != nil {
		s.Default, s.Formula = c.Default, ""
	}
	if c.Formula != nil {
		s.Formula, s.Default = *c.Formula, c.Default
	}
}

func set[T ~string](into *T, v T) {
	if v != "" {
		*into = v
	}
}
