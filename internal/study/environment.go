package study

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/stats"
	"linerate/internal/testbed"
)

// Environment is what a reader must know of the machine to believe a number.
// It is drawn from facts (EnvironmentOf), which the record keeps whole.
type Environment struct {
	Linerate    string              `json:"linerate"` // version of the program
	Command     []string            `json:"command"`  // how it was called
	Hostname    string              `json:"hostname"`
	OS          string              `json:"os"`
	Kernel      string              `json:"kernel"` // uname -rv
	Arch        string              `json:"arch"`
	CPU         string              `json:"cpu"`
	CPUs        int                 `json:"cpus"`
	MemoryBytes uint64              `json:"memory_bytes"`
	Governor    string              `json:"governor"`          // "" where there is no cpufreq
	Machine     string              `json:"machine,omitempty"` // the maker's name of it
	Hypervisor  string              `json:"hypervisor"`        // "" on bare metal
	Clocksource string              `json:"clocksource"`
	Mitigations map[string]string   `json:"mitigations"`
	Engine      string              `json:"engine"`
	Testbeds    map[string]BedNotes `json:"testbeds"` // by mode
	Label       string              `json:"label"`    // what the numbers are not
	// Unavailable says why a mode could not be had, by mode (Needs).
	Unavailable map[string]string `json:"unavailable"`
	// Resumed lists what had changed when the study was resumed.
	Resumed []string `json:"resumed"`
	// Facts are the snapshots of the host that are stored with the record: one from the
	// study's start, and one from each time it was resumed.
	Facts []FactsRef `json:"facts,omitempty"`
	// Beds are the environments of several testbeds, where the study was spread
	// over them; the fields above are the first's.
	Beds []BedEnvironment `json:"beds,omitempty"`
}

// FactsRef names a file of facts in a study's record, by what is in it.
type FactsRef struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"` // of the file, hex
}

// BedNotes is a testbed's description as it stood in one mode.
type BedNotes = testbed.Description

// On reports whether a testbed was of one of the kinds.
func (e Environment) On(kinds ...string) bool {
	for _, d := range e.Testbeds {
		if slices.Contains(kinds, d.Kind) {
			return true
		}
	}
	return false
}

// notAffected is the kernel's word for a vulnerability that a CPU lacks.
const notAffected = "Not affected"

// EnvironmentOf draws from facts what a report shows of the machine. What the
// facts do not know stays empty, and is never guessed.
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

// Then is what a testbed was for a study's earlier blocks and is for a later one: what
// it could be had for once stays known, and what could not.
func (e Environment) Then(later Environment) Environment {
	for mode, bed := range later.Testbeds {
		put(&e.Testbeds, mode, bed)
	}
	for what, why := range later.Unavailable {
		put(&e.Unavailable, what, why)
	}
	e.Resumed = slices.Clone(e.Resumed)
	for _, change := range later.Since(e) {
		if !slices.Contains(e.Resumed, change) {
			e.Resumed = append(e.Resumed, change)
		}
	}
	return e
}

// Resume completes the environment of a study that goes on with what the
// earlier one knew, and notes what differs between the two.
func (e Environment) Resume(old Environment) Environment {
	then := old.Then(e)
	e.Testbeds, e.Resumed, e.Facts = then.Testbeds, then.Resumed, slices.Concat(old.Facts, e.Facts)
	return e
}

// Since says what is other than it was, of what distinguishes trials.
func (e Environment) Since(old Environment) (changed []string) {
	for _, d := range append([]difference{{"host", old.Hostname, e.Hostname}}, differences(old, e)...) {
		if d.was != "" && d.was != d.is {
			changed = append(changed, d.what+" was "+d.was+", is "+cmp.Or(d.is, "not known"))
		}
	}
	return changed
}

// difference is what one environment is and another was.
type difference struct{ what, was, is string }

// differences are what distinguishes trials of one machine and of like ones, equal or not.
func differences(was, is Environment) []difference {
	return []difference{{"kernel", was.Kernel, is.Kernel}, {"CPU", was.CPU, is.CPU}, {"linerate", was.Linerate, is.Linerate},
		{"engine", was.Engine, is.Engine}, {"governor", was.Governor, is.Governor}, {"clock source", was.Clocksource, is.Clocksource}}
}

// A study may be spread over equal testbeds, whole blocks each: the testbed is then a
// blocking factor. Arms are compared within blocks, so what makes one testbed
// faster than another is in no effect; whether the effect itself differs between
// testbeds is computed for each verdict.

// BedShare is what one of several testbeds had of a study.
type BedShare struct {
	Testbed string `json:"testbed"`
	Blocks  int    `json:"blocks"`
	Trials  int    `json:"trials"`
	// Differs says in what the testbed is other than the first.
	Differs []string `json:"differs,omitempty"`
}

// BedEffect is what a verdict's comparison came to on one of several testbeds alone.
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
	// Differs says in what it is other than the first testbed.
	Differs []string `json:"differs"`
}

// put sets a key of a map that others may have too.
func put[V any](m *map[string]V, key string, v V) {
	fresh := map[string]V{}
	maps.Copy(fresh, *m)
	fresh[key] = v
	*m = fresh
}

// orEmpty is a map that JSON has as an object even where nothing is in it.
func orEmpty[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}
