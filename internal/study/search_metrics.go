package study

import (
	"linerate/internal/testbed"
)

// searchMetrics are what searches measure.
var searchMetrics = []Metric{
	{Name: ConditionalThroughput, Label: "conditional throughput", Unit: "pps", Mode: testbed.Overload, Answers: MLR, Verdict: true, NS: InverseNS},
	{Name: Throughput, Label: "throughput", Unit: "pps", Mode: testbed.Overload, Answers: RFC2544, Verdict: true, NS: InverseNS},
	{Name: BackToBackFrames, Label: "back-to-back frames", Unit: "frames", Mode: testbed.Overload, Answers: BackToBack, Verdict: true},
	{Name: LossFreeLoad, Label: "load without loss", Unit: "pps", Mode: testbed.Overload, Answers: LossCurve, Verdict: true, NS: InverseNS},
	{Name: BufferSeconds, Label: "corrected buffer time", Unit: "s", Mode: testbed.Overload, Answers: BackToBack},
	{Name: SearchTime, Label: "trial time of the search", Unit: "s", Mode: testbed.Overload, LowerIsBetter: true},
	{Name: SearchTrials, Label: "trials of the search", Unit: "", Mode: testbed.Overload, LowerIsBetter: true},
}

// The metrics of searches, as results.json has them.
const (
	// ConditionalThroughput is MLRsearch's, Throughput that of RFC 1242
	// §3.17 by RFC 2544's search: the highest rate without loss.
	ConditionalThroughput = "conditional_throughput_pps"
	Throughput            = "throughput_pps"
	// BackToBackFrames is the mean longest burst without loss (RFC 9004),
	// BufferSeconds what its buffers hold at full rate (§4, corrected).
	BackToBackFrames = "back_to_back_frames"
	BufferSeconds    = "corrected_buffer_seconds"
	// LossFreeLoad is where a loss curve ends (RFC 2544 §26.3).
	LossFreeLoad = "loss_free_load_pps"
	SearchTime   = "search_trial_seconds"
	SearchTrials = "search_trials"
)
