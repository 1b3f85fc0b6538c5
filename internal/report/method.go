package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"linerate/internal/document"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// gatesAndInvalid shows the gates of the study's trials, and the trials that failed
// them.
func gatesAndInvalid(s study.Spec, r study.Results) []document.Block {
	bad := document.Table{Prose: true}
	for _, t := range r.Trials {
		if !t.Valid && t.Unavailable == "" {
			bad.Rows = append(bad.Rows, []string{fmt.Sprintf("%s, block %d, trial %d, %s", t.Part, t.Block, t.Order, r.ArmName(t.Variant)), strings.Join(t.Why(), "; ")})
		}
	}
	said := document.Text("No trial is invalid.")
	if n := len(bad.Rows); n > 0 {
		said = document.Text(fmt.Sprintf("%d trials are invalid. They stay in the record and are left out of all verdicts.", n))
	}
	return []document.Block{document.Heading("Gates and invalid trials"), said, bad,
		document.Note("Every trial had to pass the gates " + show.List(study.GatesOf(s)) + "; study.yaml has their limits.")}
}

// howMeasured describes how and where the numbers were measured, and how to repeat the study.
func howMeasured(s study.Spec, r study.Results) []document.Block {
	out := []document.Block{document.Heading("How it was measured")}
	if text := strings.TrimSpace(s.Summary); text != "" {
		out = append(out, document.Text(text))
	}
	for _, m := range method(s, r) {
		out = append(out, document.Text(m))
	}
	variants := document.Table{Prose: true}
	for _, v := range s.Variants {
		text := v.Summary
		for _, set := range v.Settings {
			text += "\n`" + set.Setting().String() + "`"
		}
		variants.Rows = append(variants.Rows, []string{v.Name, text})
	}
	out = append(out, variants)
	if text := strings.TrimSpace(s.Source); text != "" {
		out = append(out, document.Note(text))
	}
	where := ""
	if label := r.Environment.Label; label != "" {
		where = "These numbers are from " + label + ". "
	}
	return append(out, document.Heading("Environment"), document.Text(where+limitsNote(r.Environment)), document.Table{Rows: environment(r), Prose: true},
		document.Heading("Repeat it"), document.Code(strings.Join(commands(s, r), "\n")+"\n"),
		document.Note("The record is this directory: study.yaml is the study, trials.jsonl has every trial, results.json the verdicts."))
}

func environment(r study.Results) [][]string {
	e := r.Environment
	var out [][]string
	add := func(name, value string) {
		if value != "" {
			out = append(out, []string{name, value})
		}
	}
	add("Testbed", e.Label)
	add("Testbeds", r.BedsLine())
	add("Kernel", strings.TrimSpace(e.OS+" "+e.Kernel+" "+e.Arch))
	if e.CPU != "" || e.CPUs > 0 {
		add("CPU", fmt.Sprintf("%s × %d", e.CPU, e.CPUs))
	}
	if e.MemoryBytes > 0 {
		add("Memory", show.Bytes(float64(e.MemoryBytes)))
	}
	add("Machine", strings.Join(strings.Fields(e.Hostname+" "+e.Machine+" "+e.Hypervisor), " "))
	add("Governor", e.Governor)
	add("Clock source", e.Clocksource)
	for _, name := range slices.Sorted(maps.Keys(e.Mitigations)) {
		add("Mitigation "+name, e.Mitigations[name])
	}
	add("Traffic engine", e.Engine)
	for _, mode := range slices.Sorted(maps.Keys(e.Testbeds)) {
		add("Mode "+mode, strings.Join(e.Testbeds[mode].Notes, "; "))
	}
	add("linerate", e.Linerate)
	add("Called as", strings.Join(e.Command, " "))
	if r.Started != nil {
		add("Started", r.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
		add("Took", r.Finished.Sub(*r.Started).Round(time.Second).String())
	}
	return out
}

// commands returns the commands that repeat the study with the same schedule,
// or its analysis from the trials.
func commands(s study.Spec, r study.Results) []string {
	return []string{
		"# the same study in the same order, from this directory",
		fmt.Sprintf("linerate study run study.yaml --seed %d --out ../%s-again", r.Seed, s.Name),
		"# the same question in another order",
		fmt.Sprintf("linerate study run study.yaml --seed %d --out ../%s-other", r.Seed+1, s.Name),
		"# this report again, from its trials",
		"linerate report .",
	}
}

// method describes the methods behind the numbers.
func method(s study.Spec, r study.Results) []string {
	out := []string{fmt.Sprintf("%s; %s. %s; p-values are corrected by Holm over the variants; within the margin a variant is equivalent by two one-sided tests of that kind.", ordered(s, r.Seed), resets(s, r.Environment), tested(s))}
	for _, p := range s.Parts {
		if text := study.Method(s, r, p); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// ordered describes the order of trials.
func ordered(s study.Spec, seed uint64) string {
	if s.Design == study.Switchback {
		return fmt.Sprintf("A block is a pair of windows: one of the control, one of a variant or a sham, in an order drawn from seed %d", seed)
	}
	return fmt.Sprintf("Each block tries every variant once, and the control twice, in an order drawn from seed %d", seed)
}

// tested describes the deciding test.
func tested(s study.Spec) string {
	if s.Design == study.Switchback {
		return "Effects are on log ratios within pairs, of shares on their differences in percentage points; a randomisation test over all orders that could have been drawn decides, and inverting it gives the interval"
	}
	return fmt.Sprintf("Effects are Student's t on block-wise log ratios against %s, of shares on their differences in percentage points", s.Control)
}

// resets describes what made trials independent.
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

// limitsNote says where the numbers are valid.
func limitsNote(e study.Environment) string {
	if strings.Contains(e.CPU, "QEMU TCG") { // emulated, which only the name tells
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
