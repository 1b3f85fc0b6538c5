package main

import (
	"fmt"
	"io"
	"slices"

	"linerate/internal/study"
)

// unrun is a variant that this machine's lab leaves out, and why.
type unrun struct {
	Variant string `json:"variant"`
	Reason  string `json:"reason"`
}

// leftOut are the variants of a study that a lab of a system would leave out,
// as far as that is known before it is up. Testbeds of machines are asked by
// lab check.
func leftOut(s study.Spec, system string, leave bool, lacks func(study.Setting) string) []unrun {
	out := []unrun{}
	if s.OnMachines() {
		return out
	}
	for _, v := range s.Variants {
		if why := whyNot(v, system, leave, lacks); why != "" {
			out = append(out, unrun{v.Name, why})
		}
	}
	return out
}

func whyNot(v study.Variant, system string, leave bool, lacks func(study.Setting) string) string {
	if v.OS != "" && v.OS != system {
		return fmt.Sprintf("it needs a DUT of %s, this lab is of %s", v.OS, system)
	}
	if host := v.HostScope(); len(host) > 0 && !leave {
		return fmt.Sprintf("%s is global to the kernel and waits for --allow-host-settings", host[0].Setting())
	}
	for _, set := range v.Settings {
		if why := lacks(set); why != "" {
			return fmt.Sprintf("%s: %s", set.Setting(), why)
		}
	}
	return ""
}

// unanswered is why a lab of a system has no answer to a study: it carries nothing of
// the kind, or no variant but the control can be had; "": it has one.
func unanswered(s study.Spec, system string, carries func(study.Spec) error, lacks func(study.Setting) string) string {
	if err := carries(s); err != nil {
		return err.Error()
	}
	if gone := leftOut(s, system, true, lacks); len(gone) > 0 && len(gone) >= len(s.Variants)-1 {
		return gone[0].Reason
	}
	return ""
}

// without drops the slots of variants that are left out.
func without(slots []study.Slot, gone []unrun) []study.Slot {
	return slices.DeleteFunc(slots, func(slot study.Slot) bool {
		return slices.ContainsFunc(gone, func(u unrun) bool { return u.Variant == slot.Variant })
	})
}

func printUnrun(w io.Writer, gone []unrun) {
	for _, u := range gone {
		fmt.Fprintf(w, "not here: %s: %s\n", u.Variant, u.Reason)
	}
}
