package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// gateLine is a gate and how many trials it refused.
type gateLine struct {
	Name, Limit string
	Tripped     int
}

// gates are what the study's trials had to pass, and what else one did not.
func gates(s study.Spec, r study.Results) (lines []gateLine) {
	return list.Map(study.GatesOf(s, r.Trials), func(g study.Tripped) gateLine { return gateLine{g.Name, g.Limit(s.Gates), g.Trials} })
}

func environment(r study.Results) [][2]string {
	e := r.Environment
	var out [][2]string
	add := func(name, value string) {
		if value != "" {
			out = append(out, [2]string{name, value})
		}
	}
	add("Testbed", testbedLine(e))
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
		add("Mode "+mode, strings.Join(append(slices.Clone(e.Testbeds[mode].Notes), missing(e.Testbeds[mode])...), "; "))
	}
	add("linerate", e.Linerate)
	add("Called as", strings.Join(e.Command, " "))
	if r.Started != nil {
		add("Started", r.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
		add("Took", r.Finished.Sub(*r.Started).Round(time.Second).String())
	}
	return out
}

func missing(d testbed.Description) []string {
	out := make([]string, len(d.Missing))
	for i, m := range d.Missing {
		out[i] = "this kernel lacks " + m
	}
	return out
}

// commands repeat the study: the same schedule from the record, and the
// analysis from its trials.
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

func variants(s study.Spec) []variantLine {
	var out []variantLine
	for _, v := range s.Variants {
		line := variantLine{Name: v.Name, Summary: v.Summary}
		for _, set := range v.Settings {
			line.Settings = append(line.Settings, set.Setting().String())
		}
		out = append(out, line)
	}
	return out
}

// method says in words how the numbers came to be.
func method(s study.Spec, r study.Results) []string {
	out := []string{fmt.Sprintf("%s; %s. %s; p-values are corrected by Holm over the variants; within the margin a variant is equivalent by two one-sided tests of that kind. "+
		"Welch and Mann–Whitney are shown for comparison and decide nothing.", ordered(s, r.Seed), resets(s, r.Environment), tested(s))}
	for _, p := range s.Parts {
		if text := study.KindOf(p).Section(s, r, p).Method; text != "" {
			out = append(out, text)
		}
	}
	return out
}

func invalids(r study.Results) []invalidLine {
	var out []invalidLine
	for _, t := range r.Trials {
		if !t.Valid && t.Unavailable == "" {
			out = append(out, invalidLine{fmt.Sprintf("%s, block %d, trial %d, %s", t.Part, t.Block, t.Order, r.ArmName(t.Variant)), strings.Join(t.Why(), "; ")})
		}
	}
	return out
}
