package study

import (
	"fmt"
	"slices"
	"strings"
)

// Availability tells which variants a testbed can try, as far as that is known before
// anything is set: what it cannot have of a setting otherwise, it says when it is asked.
type Availability struct {
	// Place is the testbed, for messages, and System the operating system of its
	// DUTs; "": any.
	Place, System string
	// NoLeave is why settings that are global to the kernel are not applied, for
	// messages; "": they are.
	NoLeave string
	// Lacks is why the testbed cannot have a setting, "" where it may; nil: it may
	// have any.
	Lacks func(Setting) string
}

// Why is why a variant cannot be tried; "": it can.
func (a Availability) Why(v Variant) string {
	if v.OS != "" && a.System != "" && !strings.EqualFold(v.OS, a.System) {
		return fmt.Sprintf("it needs a DUT of %s, %s is of %s", v.OS, a.Place, a.System)
	}
	if host := v.HostScope(); len(host) > 0 && a.NoLeave != "" {
		return fmt.Sprintf("%s is global to the kernel%s", host[0].Setting(), a.NoLeave)
	}
	for _, set := range v.Settings {
		if a.Lacks == nil {
			break
		}
		if why := a.Lacks(set); why != "" {
			return fmt.Sprintf("%s: %s", set.Setting(), why)
		}
	}
	return ""
}

// LeftOut are a study's variants that cannot be tried; never nil. Of testbeds of
// machines, and of live hosts, it knows none.
func (a Availability) LeftOut(s Spec) []Unavailable {
	out := []Unavailable{}
	for _, v := range s.Variants {
		if why := a.Why(v); why != "" && !s.OnMachines() && !s.OnLiveHost() {
			out = append(out, Unavailable{v.Name, why})
		}
	}
	return out
}

// NoAnswer is why a study has no answer there, leave given: no variant but the control
// can be tried; "": one can.
func (a Availability) NoAnswer(s Spec) string {
	a.NoLeave = ""
	if gone := a.LeftOut(s); len(gone) > 0 && len(gone) >= len(s.Variants)-1 {
		return gone[0].Reason
	}
	return ""
}

// Waits reports whether a variant could be tried with leave to change the kernel.
func (a Availability) Waits(v Variant) bool {
	with := a
	with.NoLeave = ""
	return a.Why(v) != "" && with.Why(v) == ""
}

// AllWait reports whether without leave there is nothing to compare the control with.
func (a Availability) AllWait(s Spec) bool {
	others := slices.DeleteFunc(slices.Clone(s.Variants), func(v Variant) bool { return v.Name == s.Control })
	can := func(v Variant) bool { return a.Why(v) == "" }
	return slices.ContainsFunc(others, a.Waits) && !slices.ContainsFunc(others, can) && len(a.LeftOut(s)) > 0
}

// Lacks reports whether the testbed had no way to measure a part.
func (e Environment) Lacks(p Part) bool {
	return slices.ContainsFunc(Needs(p), func(what string) bool { return e.Unavailable[what] != "" })
}
