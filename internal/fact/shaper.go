package fact

// Shaper is one thing that holds traffic back to a rate: a pipe of dummynet(4), an
// interface's queues of ALTQ, an instance of OpenWrt's SQM, a policy of VyOS.
type Shaper struct {
	// Kind is ShaperPipe, ShaperALTQ, ShaperSQM or ShaperPolicy.
	Kind string `json:"kind"`
	// Name is by which a finding names it: "shaper/pipe/10000".
	Name string `json:"name"`
	// Line is where it is set up.
	Line Line `json:"line"`
	// Device is the interface that it shapes, "" where rules send traffic to it.
	Device  string `json:"device,omitempty"`
	Enabled bool   `json:"enabled"`
	// Used is true when traffic is sent to it, nil where that is not known.
	Used *bool `json:"used,omitempty"`
	// Offloaded: flows of its device go past it in hardware.
	Offloaded bool `json:"offloaded,omitempty"`
	// Bandwidth is in bits per second, of what is sent where the directions
	// differ; Download of what is received. nil where none is given, 0 where it says
	// that this direction is not shaped.
	Bandwidth *uint64 `json:"bandwidth_bps,omitempty"`
	Download  *uint64 `json:"download_bps,omitempty"`
	// Scheduler is the product's own word: fq_codel, cake, htb; Script the one of
	// SQM that sets it up.
	Scheduler string `json:"scheduler,omitempty"`
	Script    string `json:"script,omitempty"`
	// TargetMS and IntervalMS are CoDel's, in milliseconds; Quantum is in bytes, Limit in
	// packets. 0 where the scheduler's own stands.
	TargetMS   float64 `json:"target_ms,omitempty"`
	IntervalMS float64 `json:"interval_ms,omitempty"`
	Quantum    uint64  `json:"quantum,omitempty"`
	Limit      uint64  `json:"limit,omitempty"`
	Flows      uint64  `json:"flows,omitempty"`
	// LinkLayer and Overhead say what a packet takes on the wire in addition to its own bytes; nil
	// where that is not said.
	LinkLayer string `json:"link_layer,omitempty"`
	Overhead  *int64 `json:"overhead,omitempty"`
}

// The kinds of shapers.
const (
	ShaperPipe   = "pipe"
	ShaperALTQ   = "altq"
	ShaperSQM    = "sqm"
	ShaperPolicy = "policy"
)
