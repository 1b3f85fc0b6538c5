package study

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
	"linerate/internal/stats"
	"linerate/internal/testbed"
)

// Environment is what a reader must know about the machine to trust a number.
// EnvironmentOf draws it from facts, which the record keeps in full.
type Environment struct {
	Linerate    string              `json:"linerate"` // version
	Command     []string            `json:"command"`  // command line
	Hostname    string              `json:"hostname"`
	OS          string              `json:"os"`
	Kernel      string              `json:"kernel"` // uname -rv
	Arch        string              `json:"arch"`
	CPU         string              `json:"cpu"`
	CPUs        int                 `json:"cpus"`
	MemoryBytes uint64              `json:"memory_bytes"`
	Governor    string              `json:"governor"`          // "" where there is no cpufreq
	Machine     string              `json:"machine,omitempty"` // product name given by the vendor
	Hypervisor  string              `json:"hypervisor"`        // "" on bare metal
	Clocksource string              `json:"clocksource"`
	Mitigations map[string]string   `json:"mitigations"`
	Engine      string              `json:"engine"`
	Testbeds    map[string]BedNotes `json:"testbeds"` // by mode
	Label       string              `json:"label"`    // what the numbers do not represent
	// Unavailable says, by mode (Needs), why a mode was unavailable.
	Unavailable map[string]string `json:"unavailable"`
	// Resumed lists what had changed when the study was resumed.
	Resumed []string `json:"resumed"`
	// Facts lists the snapshots of the host stored with the record: one from
	// the start, and one from each time the study was resumed.
	Facts []FactsRef `json:"facts,omitempty"`
	// Beds are the environments of the testbeds, if the study ran on several;
	// the fields above are then the first testbed's.
	Beds []BedEnvironment `json:"beds,omitempty"`
}

// FactsRef names a file of facts in a study's record, with its checksum.
type FactsRef struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"` // of the file, hex
}

// BedNotes is a testbed's description in one mode.
type BedNotes = testbed.Description

// On reports whether any testbed is of one of the kinds.
func (e Environment) On(kinds ...string) bool {
	for _, d := range e.Testbeds {
		if slices.Contains(kinds, d.Kind) {
			return true
		}
	}
	return false
}

// notAffected is what the kernel prints for a vulnerability that the CPU does not have.
const notAffected = "Not affected"

// EnvironmentOf extracts from facts what a report shows of the machine. What
// the facts do not say stays empty; it is never guessed.
func EnvironmentOf(f *fact.Facts) Environment {
	e := Environment{
		Hostname: f.Hostname, OS: f.OS, Kernel: f.Kernel, Arch: f.Arch, CPU: f.CPU.Model, CPUs: f.CPU.Count,
		MemoryBytes: f.Memory.Physical, Governor: f.CPU.Governor, Machine: f.Machine, Clocksource: f.Clocksource,
		Mitigations: map[string]string{},
	}
	if release, ok := f.LiveValue("kernel.osrelease"); ok {
		version, _ := f.LiveValue("kernel.version")
		e.Kernel = strings.TrimSpace(release + " " + version)
	}
	switch {
	case !f.Virtual():
	case f.Hypervisor == "unknown":
		e.Hypervisor = "virtual machine"
	default:
		e.Hypervisor = f.Hypervisor
	}
	for name, state := range f.CPU.Mitigations {
		if state != "" && state != notAffected {
			e.Mitigations[name] = state
		}
	}
	return e
}

// Then merges the environment of a later block into that of earlier ones: it
// keeps what was available and what was not in any of them.
func (e Environment) Then(later Environment) Environment {
	for mode, bed := range later.Testbeds {
		put(&e.Testbeds, mode, bed)
	}
	for what, why := range later.Unavailable {
		put(&e.Unavailable, what, why)
	}
	e.Resumed = list.With(slices.Clone(e.Resumed), later.Since(e)...)
	return e
}

// Resume completes the environment of a resumed study with the earlier one, and
// notes what changed.
func (e Environment) Resume(old Environment) Environment {
	then := old.Then(e)
	e.Testbeds, e.Resumed, e.Facts = then.Testbeds, then.Resumed, slices.Concat(old.Facts, e.Facts)
	return e
}

// Since lists what changed among the properties that distinguish trials.
func (e Environment) Since(old Environment) (changed []string) {
	for _, d := range append([]difference{{"host", old.Hostname, e.Hostname}}, differences(old, e)...) {
		if d.was != "" && d.was != d.is {
			changed = append(changed, d.what+" was "+d.was+", is "+cmp.Or(d.is, "not known"))
		}
	}
	return changed
}

// difference is a property with its earlier and its present value.
type difference struct{ what, was, is string }

// differences lists the properties that distinguish trials, on one machine or on like ones, whether or not they changed.
func differences(was, is Environment) []difference {
	return []difference{{"kernel", was.Kernel, is.Kernel}, {"CPU", was.CPU, is.CPU}, {"linerate", was.Linerate, is.Linerate},
		{"engine", was.Engine, is.Engine}, {"governor", was.Governor, is.Governor}, {"clock source", was.Clocksource, is.Clocksource}}
}

// A study may be spread over equal testbeds in whole blocks: the testbed is
// then a blocking factor. Arms are compared within blocks, so a faster testbed
// changes no effect; whether the effect itself differs between testbeds is
// computed for each verdict.

// BedShare is one testbed's share of a study.
type BedShare struct {
	Testbed string `json:"testbed"`
	Blocks  int    `json:"blocks"`
	Trials  int    `json:"trials"`
	// Differs lists how the testbed differs from the first.
	Differs []string `json:"differs,omitempty"`
}

// BedEffect is a verdict's effect on one testbed alone.
type BedEffect struct {
	Testbed string `json:"testbed"`
	N       int    `json:"n"` // blocks
	stats.Effect
}

// BedEnvironment is the environment of one of several testbeds.
type BedEnvironment struct {
	Testbed  string    `json:"testbed"`
	Hostname string    `json:"hostname"`
	Kernel   string    `json:"kernel"`
	CPU      string    `json:"cpu"`
	Facts    *FactsRef `json:"facts,omitempty"`
	// Differs lists how it differs from the first testbed.
	Differs []string `json:"differs"`
}

// put sets a key in a copy of a map, because others may share the original.
func put[V any](m *map[string]V, key string, v V) {
	fresh := map[string]V{}
	maps.Copy(fresh, *m)
	fresh[key] = v
	*m = fresh
}

// orEmpty replaces a nil map by an empty one, so that JSON has an object.
func orEmpty[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}
