package report

import (
	"strings"

	"linerate/internal/study"
	"linerate/internal/testbed"
)

// inJails reports whether the DUT was a vnet jail of FreeBSD's.
func inJails(e study.Environment) bool {
	for _, d := range e.Testbeds {
		if d.Kind == testbed.KindJails {
			return true
		}
	}
	return false
}

// emulated reports whether the CPU is software: QEMU's translator, whose name is
// all that a guest sees of it.
func emulated(e study.Environment) bool { return strings.Contains(e.CPU, "QEMU TCG") }

func testbedLine(e study.Environment) string {
	switch {
	case e.Label == "":
		return ""
	case inJails(e):
		return "vnet jails on one machine: " + e.Label
	}
	return "network namespaces on one machine: " + e.Label
}

// dutIs is what a reset rebuilds.
func dutIs(e study.Environment) string {
	if inJails(e) {
		return "jail"
	}
	return "namespace"
}

// costRuns says what of the chain mode cost measures.
func costRuns(e study.Environment) string {
	if inJails(e) {
		return "what the kernel's thread epair_task does, router and receiver, is timed by the kernel's own account of it; generating is not in it"
	}
	return "generator, router and receiver run to completion on one CPU"
}

// overloaded says what is offered more than it can do.
func overloaded(e study.Environment) string {
	if inJails(e) {
		return "the kernel's one thread of all epairs, epair_task, is the router and"
	}
	return "the router's ingress has a CPU of its own and"
}

// carriesOver says which numbers mean something on other machines.
func carriesOver(e study.Environment) string {
	if emulated(e) {
		return "of an emulated CPU neither percents nor nanoseconds carry over to real ones"
	}
	return "percents do not carry over to other machines, nanoseconds do better"
}

// nanosNote stands under a chart of nanoseconds.
func nanosNote(e study.Environment) string {
	if emulated(e) {
		return "An emulated CPU's nanoseconds do not carry over to real ones."
	}
	return "Differences in nanoseconds carry over between machines; percents do not."
}

// limitsNote stands before the environment.
func limitsNote(e study.Environment) string {
	if emulated(e) {
		return "The CPU is emulated: neither percents nor nanoseconds carry over to real ones, nor do they say what a network card would add."
	}
	return "Percents belong to this machine; nanoseconds per packet carry over better; neither says what a network card would add."
}
