package study

import (
	"time"

	"linerate/internal/drop"
	"linerate/internal/load"
	"linerate/internal/testbed"
)

// Trial is the record of one measured run: one line of trials.jsonl.
type Trial struct {
	Part    string             `json:"part"`
	Variant string             `json:"variant"`
	Block   int                `json:"block"`
	Order   int                `json:"order"` // in the block, from 1
	Start   time.Time          `json:"start"`
	Valid   bool               `json:"valid"`
	Reasons []Refusal          `json:"reasons"` // why it is invalid; never null
	Metrics map[string]float64 `json:"metrics"`
	// Retry is set if the trial repeats an invalid one of its block.
	Retry bool `json:"retry,omitempty"`
	// Unavailable says why the testbed cannot try the variant; such a trial
	// measured nothing.
	Unavailable string       `json:"unavailable,omitempty"`
	Mode        testbed.Mode `json:"mode"`
	// Testbed names the testbed that ran the trial, if the study ran on several;
	// else "".
	Testbed  string       `json:"testbed,omitempty"`
	Seconds  float64      `json:"seconds"` // in total, from reset to the last counter
	Observed *Observation `json:"observed,omitempty"`
}

// Observation is the raw data of a trial, before any judgement.
type Observation struct {
	Sent       load.Sent        `json:"sent"`
	Received   load.Received    `json:"received"`
	Before     testbed.Counters `json:"dut_before"`
	After      testbed.Counters `json:"dut_after"`
	Applied    testbed.Applied  `json:"applied"`
	Bypass     *BypassRun       `json:"bypass,omitempty"` // if the trial measured the one of its block
	CPUs       []CPUCheck       `json:"cpus"`
	Load1      float64          `json:"load1"`           // one-minute load average at the start
	Contention float64          `json:"foreign_seconds"` // time in which the measuring CPU ran other programs
	Search     *SearchRun       `json:"search,omitempty"`
	// Machines is set if generator, DUT and receiver are separate machines. DUT holds the
	// DUT's counters and sensors: the increase of a counter, or the value of a sensor after
	// the trial.
	Machines bool               `json:"machines,omitempty"`
	DUT      map[string]float64 `json:"dut,omitempty"`
	// Uncounted is set if the DUT's counters are not read; Before and After are then zero.
	Uncounted bool    `json:"uncounted,omitempty"`
	Served    *Served `json:"served,omitempty"`
	// Interleaved is set if all arms of the block took turns.
	Interleaved *Interleaved `json:"interleaved,omitempty"`
	// Management holds the results of probing the DUT under load, if the part requests it.
	Management *Management `json:"management,omitempty"`
	// Flooded is set if the DUT's own service was flooded; nothing was to be forwarded.
	Flooded bool `json:"flooded,omitempty"`
	// Drops is the increase of the DUT's counters while the traffic ran,
	// including counters of dropped frames; null if the testbed reads none.
	Drops drop.Counters `json:"drops"`
	// Redone sums the slices that were repeated because the generator missed
	// its rate or the DUT waited for its CPU: no metric includes them, but
	// the DUT's counters do.
	Redone *Redone `json:"redone,omitempty"`
	// Window is what was observed in a window of a live host.
	Window *Window `json:"window,omitempty"`
	// Connections are those of the arm, if each connection drew its arm.
	Connections *Connections `json:"connections,omitempty"`
}

// Saw returns the observations; empty, never nil, for a trial without any.
func (t *Trial) Saw() *Observation {
	if t.Observed == nil {
		return &Observation{}
	}
	return t.Observed
}

// CPUCheck describes the state of a CPU around a trial.
type CPUCheck struct {
	CPU int `json:"cpu"`
	// SpinBefore and SpinAfter are the durations in ns of a fixed calibration loop.
	SpinBefore float64 `json:"spin_before_ns"`
	SpinAfter  float64 `json:"spin_after_ns"`
	// Steal is the share of time that the hypervisor stole, as reported by
	// the kernel.
	Steal float64 `json:"steal"`
}

// Drift returns the relative change of the CPU's speed during the trial, as a ratio ≥ 0.
func (c CPUCheck) Drift() float64 {
	if c.SpinBefore <= 0 || c.SpinAfter <= 0 {
		return 0
	}
	return max(c.SpinBefore, c.SpinAfter)/min(c.SpinBefore, c.SpinAfter) - 1
}

// Refusal is the reason why a trial is invalid: the gate that it failed, "" for a
// failure outside the gates, and the fault. Its text is "gate: fault".
type Refusal struct{ Gate, Text string }
