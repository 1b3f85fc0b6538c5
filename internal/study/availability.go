package study

import (
	"fmt"
	"slices"
	"strings"
)

// Availability tells which variants a testbed can try, as far as is known before anything is
// set. The testbed reports further limits when it is asked to apply a setting.
type Availability struct {
	// Place names the testbed in messages. System is the operating system of
	// its DUTs; "" means any.
	Place, System string
	// NoLeave says, for messages, why settings that are global to the kernel
	// are not applied; "" means that they are.
	NoLeave string
	// Lacks returns why the testbed cannot apply a setting, "" where it may;
	// nil means that it may apply any.
	Lacks func(Setting) string
}

// Why returns why a variant cannot be tried, or "" if it can.
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

// LeftOut lists a study's variants that cannot be tried; never nil. It knows
// nothing about testbeds of machines and live hosts, and returns none for them.
func (a Availability) LeftOut(s Spec) []Unavailable {
	out := []Unavailable{}
	for _, v := range s.Variants {
		if why := a.Why(v); why != "" && !s.OnMachines() && !s.OnLiveHost() {
			out = append(out, Unavailable{v.Name, why})
		}
	}
	return out
}

// NoAnswer returns why the testbed cannot answer a study even with leave to change the
// kernel: it can try no variant but the control. It is "" if it can try one.
func (a Availability) NoAnswer(s Spec) string {
	a.NoLeave = ""
	if gone := a.LeftOut(s); len(gone) > 0 && len(gone) >= len(s.Variants)-1 {
		return gone[0].Reason
	}
	return ""
}

// Waits reports whether a variant could be tried only with leave to change the kernel.
func (a Availability) Waits(v Variant) bool {
	with := a
	with.NoLeave = ""
	return a.Why(v) != "" && with.Why(v) == ""
}

// AllWait reports whether, without leave to change the kernel, no variant is left to compare with the control.
func (a Availability) AllWait(s Spec) bool {
	others := slices.DeleteFunc(slices.Clone(s.Variants), func(v Variant) bool { return v.Name == s.Control })
	can := func(v Variant) bool { return a.Why(v) == "" }
	return slices.ContainsFunc(others, a.Waits) && !slices.ContainsFunc(others, can) && len(a.LeftOut(s)) > 0
}

// Lacks reports whether the testbed could not measure a part.
func (e Environment) Lacks(p Part) bool {
	return slices.ContainsFunc(Needs(p), func(what string) bool { return e.Unavailable[what] != "" })
}
