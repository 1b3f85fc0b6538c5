package report

import (
	"fmt"
	"strings"

	"linerate/internal/study"
	"linerate/internal/testbed"
)

// emulated reports whether the CPU is software: QEMU's translator, whose name is
// all that a guest sees of it.
func emulated(e study.Environment) bool { return strings.Contains(e.CPU, "QEMU TCG") }

// ordered says in which order trials came.
func ordered(s study.Spec, seed uint64) string {
	if s.Design == study.Switchback {
		return fmt.Sprintf("A block is a pair of windows: one of the control, one of a variant or a sham, in an order drawn from seed %d", seed)
	}
	return fmt.Sprintf("Each block tries every variant once, and the control twice, in an order drawn from seed %d", seed)
}

// tested says which test decides.
func tested(s study.Spec) string {
	if s.Design == study.Switchback {
		return "Effects are on log ratios within pairs, of shares on their differences in percentage points; a randomisation test over all orders that could have been drawn decides, and inverting it gives the interval"
	}
	return fmt.Sprintf("Effects are Student's t on block-wise log ratios against %s, of shares on their differences in percentage points", s.Control)
}

// resets says what made trials independent.
func resets(s study.Spec, e study.Environment) string {
	switch {
	case s.Testbed.Kind == testbed.KindPorts:
		return "nothing of the DUT is set or reset"
	case s.Reset == study.ResetReboot:
		return "before every trial the DUT is restored, gets the variant's boot-time settings, and boots"
	case s.Reset == study.ResetServices:
		return "before every trial the DUT is restored, gets the variant's settings, and restarts its services"
	case s.OnMachines():
		return "before every trial the DUT is restored and gets the variant's settings"
	case s.OnLiveHost():
		return "after every window the host is restored"
	case e.On(testbed.KindJails):
		return "before every trial the router's jail is rebuilt"
	}
	return "before every trial the router's namespace is rebuilt"
}

// limitsNote says which numbers mean something elsewhere.
func limitsNote(e study.Environment) string {
	if emulated(e) {
		return "The CPU is emulated: neither percentages nor nanoseconds carry over to real ones, and neither includes the cost of a network card."
	}
	if e.On(study.KindLive) {
		return "The numbers are valid for this host and traffic like this."
	}
	if e.On(testbed.KindSSH, testbed.KindPorts) {
		return "The numbers are valid for these machines; others were not tested."
	}
	return "The numbers are valid for this machine; others were not tested. They do not include the cost of a network card."
}
