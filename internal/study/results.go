package study

import (
	"maps"
	"time"

	"linerate/internal/stats"
	"linerate/internal/testbed"
)

// ResultsVersion is the version of the results document.
const ResultsVersion = 1

// Results is a study's outcome: DIR/results.json, described in
// docs/reference/results.md. It is derived from study.yaml and trials.jsonl
// alone, but for the environment.
type Results struct {
	Version     int         `json:"version"`
	Study       string      `json:"study"`
	Question    string      `json:"question"`
	Seed        uint64      `json:"seed"`
	Environment Environment `json:"environment"`
	Trials      []Trial     `json:"trials"`
	Verdicts    []Verdict   `json:"verdicts"`
	AA          AAResult    `json:"aa"`
	// MDE is the effect that the primary metric would have shown with a
	// power of 0.8, from the scatter between the two arms of the control;
	// null with fewer than two complete blocks.
	MDE stats.Number `json:"minimum_detectable_effect_percent"`
	// NoiseFloor is the largest effect that the A/A arm's interval allows:
	// effects below it are not told from nothing.
	NoiseFloor stats.Number `json:"noise_floor_percent"`
	// CarryOver says whether interleaved arms leave each other alone.
	CarryOver   []CarryOver   `json:"carry_over"`
	Complete    bool          `json:"complete"` // no trial is left to run
	Answer      string        `json:"answer"`   // one sentence
	Control     string        `json:"control"`
	Unavailable []Unavailable `json:"unavailable"`
	Warnings    []string      `json:"warnings"`
	Started     *time.Time    `json:"started"`
	Finished    *time.Time    `json:"finished"`
}

// Unavailable is a variant that the testbed cannot do.
type Unavailable struct {
	Variant string `json:"variant"`
	Reason  string `json:"reason"`
}

// Verdict is the outcome of comparing one variant with the control by one
// metric. Numbers that cannot be computed are null.
type Verdict struct {
	Metric  string `json:"metric"`
	Part    string `json:"part"`
	Primary bool   `json:"primary"`
	Control string `json:"control"`
	Variant string `json:"variant"`
	N       int    `json:"n"` // complete blocks
	// Effect is of the raw metric, with its 95 % interval.
	stats.Effect
	// EffectNS is variant − control in ns: per packet for costs and rates,
	// of delay for latencies; null for ratios.
	EffectNS stats.Number  `json:"effect_ns"`
	NSLow    stats.Number  `json:"effect_ns_low"`
	NSHigh   stats.Number  `json:"effect_ns_high"`
	P        stats.Number  `json:"p_value"`
	PHolm    stats.Number  `json:"p_holm"`
	Verdict  stats.Verdict `json:"verdict"`

	Better        stats.Direction `json:"better"` // never undirected
	Unit          string          `json:"unit"`
	ControlMean   stats.Number    `json:"control_mean"`
	VariantMean   stats.Number    `json:"variant_mean"`
	MarginPercent float64         `json:"margin_percent"`
	PEquivalent   stats.Number    `json:"p_equivalent_holm"`
	MDE           stats.Number    `json:"minimum_detectable_effect_percent"`
	// Interleaved says how the arms took turns.
	Interleaved Interleaving `json:"interleaved"`
	// Beside, never deciding.
	PWelch       stats.Number `json:"p_welch"`
	PMannWhitney stats.Number `json:"p_mann_whitney"`
	PPermutation stats.Number `json:"p_permutation"`
	Method       string       `json:"method"`
	Scale        string       `json:"scale"`
	Warnings     []string     `json:"warnings"`
}

// AAResult compares the control with itself, by the primary metric.
type AAResult struct {
	Verdict stats.Verdict `json:"verdict"`
	stats.Effect
	Metric string       `json:"metric"`
	N      int          `json:"n"`
	P      stats.Number `json:"p_value"`
	// FalseAlarms are the other metrics by which the control seems to
	// differ from itself.
	FalseAlarms []string `json:"false_alarms"`
}

// Environment is what a reader must know of the machine to believe a number.
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
	Governor    string              `json:"governor"` // "" where there is no cpufreq
	Hypervisor  string              `json:"hypervisor"`
	Clocksource string              `json:"clocksource"`
	Mitigations map[string]string   `json:"mitigations"`
	Engine      string              `json:"engine"`
	Testbeds    map[string]BedNotes `json:"testbeds"` // by mode
	Label       string              `json:"label"`    // what the numbers are not
	// Unavailable says why a mode could not be had, by mode.
	Unavailable map[string]string `json:"unavailable"`
	// Resumed lists what had changed when the study was resumed.
	Resumed []string `json:"resumed"`
}

// Resume completes the environment of a study that goes on with what the
// earlier one knew, and notes what differs between the two.
func (e Environment) Resume(old Environment) Environment {
	e.Resumed = append([]string{}, old.Resumed...)
	for _, d := range []struct{ what, was, is string }{
		{"host", old.Hostname, e.Hostname}, {"kernel", old.Kernel, e.Kernel}, {"CPU", old.CPU, e.CPU},
		{"linerate", old.Linerate, e.Linerate}, {"engine", old.Engine, e.Engine}, {"governor", old.Governor, e.Governor},
	} {
		if d.was != "" && d.was != d.is {
			e.Resumed = append(e.Resumed, d.what+" was "+d.was+", is "+d.is)
		}
	}
	beds := maps.Clone(old.Testbeds)
	if beds == nil {
		beds = map[string]BedNotes{}
	}
	maps.Copy(beds, e.Testbeds)
	e.Testbeds = beds
	return e
}

// BedNotes is a testbed's description as it stood in one mode.
type BedNotes = testbed.Description
