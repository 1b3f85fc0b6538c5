package fact

// Shaper limits traffic to a rate: a pipe of dummynet(4), an interface's ALTQ queues, an instance
// of OpenWrt's SQM, a policy of VyOS.
type Shaper struct {
	// Kind is ShaperPipe, ShaperALTQ, ShaperSQM or ShaperPolicy.
	Kind string `json:"kind" expr:"kind"`
	// Name is its name in findings: "shaper/pipe/10000".
	Name string `json:"name"`
	// Line is the line that configures it.
	Line Line `json:"line"`
	// Device is the interface that it shapes, "" if rules send traffic to it.
	Device  string `json:"device,omitempty" expr:"device"`
	Enabled bool   `json:"enabled" expr:"enabled"`
	// Used reports whether traffic is sent to it; nil if unknown.
	Used *bool `json:"used,omitempty"`
	// Offloaded means that flows of its device bypass it in hardware.
	Offloaded bool `json:"offloaded,omitempty" expr:"offloaded"`
	// Bandwidth is in bit/s, for transmission if the directions differ; Download is for reception.
	// nil means not given, 0 that this direction is not shaped.
	Bandwidth *uint64 `json:"bandwidth_bps,omitempty"`
	Download  *uint64 `json:"download_bps,omitempty"`
	// Scheduler is in the product's terms: fq_codel, cake, htb; Script is the SQM script that sets
	// it up.
	Scheduler string `json:"scheduler,omitempty" expr:"scheduler"`
	Script    string `json:"script,omitempty" expr:"script"`
	// TargetMS and IntervalMS are CoDel's, in milliseconds; Quantum is in bytes, Limit in packets.
	// 0 is the scheduler's default.
	TargetMS   float64 `json:"target_ms,omitempty" expr:"target"`
	IntervalMS float64 `json:"interval_ms,omitempty" expr:"interval"`
	Quantum    uint64  `json:"quantum,omitempty" expr:"quantum"`
	Limit      uint64  `json:"limit,omitempty" expr:"limit"`
	Flows      uint64  `json:"flows,omitempty" expr:"flows"`
	// LinkLayer and Overhead describe what a packet takes on the wire beyond its own bytes; nil
	// means not given.
	LinkLayer string `json:"link_layer,omitempty" expr:"link_layer"`
	Overhead  *int64 `json:"overhead,omitempty"`
}

// The kinds of shapers.
const (
	ShaperPipe   = "pipe"
	ShaperALTQ   = "altq"
	ShaperSQM    = "sqm"
	ShaperPolicy = "policy"
)
