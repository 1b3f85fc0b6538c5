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
	Order   int                `json:"order"` // place in the block, from 1
	Start   time.Time          `json:"start"`
	Valid   bool               `json:"valid"`
	Reasons []Refusal          `json:"reasons"` // why it is not valid; never null
	Metrics map[string]float64 `json:"metrics"`
	// Retry is true for a trial that repeats an invalid one of its block.
	Retry bool `json:"retry,omitempty"`
	// Unavailable says why the testbed cannot do this variant at all; such
	// a trial measured nothing.
	Unavailable string       `json:"unavailable,omitempty"`
	Mode        testbed.Mode `json:"mode"`
	// Testbed names the one of several equal testbeds that made the trial; "" where
	// the study had one.
	Testbed  string       `json:"testbed,omitempty"`
	Seconds  float64      `json:"seconds"` // from reset to the last counter, all in all
	Observed *Observation `json:"observed,omitempty"`
}

// Observation is the raw material of a trial, before any judgement.
type Observation struct {
	Sent       load.Sent         `json:"sent"`
	Received   load.Received     `json:"received"`
	Before     testbed.Counters  `json:"dut_before"`
	After      testbed.Counters  `json:"dut_after"`
	Applied    testbed.Applied   `json:"applied"`
	Bypass     *BypassRun        `json:"bypass,omitempty"` // if this trial measured its block's
	CPUs       []CPUCheck        `json:"cpus"`
	Load1      float64           `json:"load1"` // load average over one minute, at the start
	Traffic    string            `json:"traffic"`
	Contention float64           `json:"foreign_seconds"` // the measuring CPU worked for others
	Extra      map[string]string `json:"extra,omitempty"`
	Search     *SearchRun        `json:"search,omitempty"`
	// Machines is true where generator, DUT and receiver are separate machines; DUT is what
	// the DUT's counters and sensors say: by how much a counter grew, or where a sensor
	// stood after the trial.
	Machines bool               `json:"machines,omitempty"`
	DUT      map[string]float64 `json:"dut,omitempty"`
	// Uncounted: the DUT's counters are not read; before and after are zero.
	Uncounted bool    `json:"uncounted,omitempty"`
	Served    *Served `json:"served,omitempty"`
	// Interleaved is there where all arms of the block took turns.
	Interleaved *Interleaved `json:"interleaved,omitempty"`
	// Management is what came of asking the DUT meanwhile, where the part wants it.
	Management *Management `json:"management,omitempty"`
	// Flooded: the DUT's own service was flooded; nothing was to be forwarded.
	Flooded bool `json:"flooded,omitempty"`
	// Drops is by how much the DUT's counters moved while the traffic ran,
	// those of dead frames among them; null: the testbed reads none.
	Drops drop.Counters `json:"drops"`
	// Redone are slices that were done again, because the generator was kept
	// from its rate in them, or the DUT from its CPU: in no metric, but the
	// DUT's counters have them.
	Redone *Redone `json:"redone,omitempty"`
	// Window is what was seen in a window of a live host.
	Window *Window `json:"window,omitempty"`
	// Connections are those of the arm, where each connection drew its arm.
	Connections *Connections `json:"connections,omitempty"`
}

// Saw is what was observed; empty, never nil, of a trial that observed nothing.
func (t *Trial) Saw() *Observation {
	if t.Observed == nil {
		return &Observation{}
	}
	return t.Observed
}

// CPUCheck is what a CPU was seen to do around a trial.
type CPUCheck struct {
	CPU int `json:"cpu"`
	// SpinBefore and SpinAfter are the ns that a fixed spin took.
	SpinBefore float64 `json:"spin_before_ns"`
	SpinAfter  float64 `json:"spin_after_ns"`
	// Steal is the share of time that the hypervisor took, as the kernel
	// reports it.
	Steal float64 `json:"steal"`
}

// Drift is how far the CPU's speed moved during the trial, as a ratio ≥ 0.
func (c CPUCheck) Drift() float64 {
	if c.SpinBefore <= 0 || c.SpinAfter <= 0 {
		return 0
	}
	return max(c.SpinBefore, c.SpinAfter)/min(c.SpinBefore, c.SpinAfter) - 1
}

// Refusal is why a trial is not valid: the gate that it did not pass, "" for a failure
// outside the gates, and the fault. Its text is "gate: fault".
type Refusal struct{ Gate, Text string }
