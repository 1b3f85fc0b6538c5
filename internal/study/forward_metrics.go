package study

import (
	"linerate/internal/testbed"
)

// forwardMetrics are the metrics of packet trials.
//
// cost_ns_per_packet is the CPU time that the DUT spends per forwarded packet: the
// chain's time per packet minus that of the same chain without the DUT.
// forwarding_rate_pps is its inverse, the rate at which one CPU could forward.
// overload_forwarding_rate_pps is the forwarding rate of RFC 2285 §3.6.1 at the
// part's offered load; loss_ratio is the frame loss rate of RFC 1242 §3.6 as a ratio.
// Neither rate is called throughput, which is the rate without loss (RFC 1242 §3.17).
var forwardMetrics = []Metric{
	{Name: CostNS, Label: "cost", Unit: "ns/packet", Mode: testbed.Cost, LowerIsBetter: true, Verdict: true, NS: IsNS},
	{Name: ForwardingRate, Label: "forwarding rate", Unit: "pps", Mode: testbed.Cost, Verdict: true, NS: InverseNS},
	{Name: OverloadRate, Label: "forwarding rate under overload", Unit: "pps", Mode: testbed.Overload, Verdict: true, NS: InverseNS},
	{Name: LossRatio, Label: "loss", Unit: "", Mode: testbed.Overload, LowerIsBetter: true, Verdict: true, Share: true},
	{Name: LatencyP50, Label: "latency, median", Unit: "ns", Mode: testbed.Overload, LowerIsBetter: true, Verdict: true, Bucket: latencyBucket, NS: IsNS},
	{Name: LatencyP99, Label: "latency, 99th percentile", Unit: "ns", Mode: testbed.Overload, LowerIsBetter: true, Verdict: true, Bucket: latencyBucket, NS: IsNS},
	{Name: ManagementLoss, Label: "share of connections unanswered", Mode: testbed.Overload, Answers: management, LowerIsBetter: true, Verdict: true, Share: true},
	{Name: ManagementRTT, Label: "echo, round trip", Unit: "ns", Mode: testbed.Overload, Answers: management, LowerIsBetter: true, Verdict: true},
	{Name: ChainNS, Label: "chain", Unit: "ns/packet", Mode: testbed.Cost, LowerIsBetter: true, NS: IsNS},
	{Name: BypassNS, Label: "chain without DUT", Unit: "ns/packet", Mode: testbed.Cost, LowerIsBetter: true, NS: IsNS},
	{Name: OfferedRate, Label: "offered load", Unit: "pps", Mode: testbed.Overload},
}

// management is the Answers of metrics that only parts with management probes measure.
const management = "management"

// The metrics of packet trials, named as in results.json.
const (
	CostNS         = "cost_ns_per_packet"
	ForwardingRate = "forwarding_rate_pps"
	OverloadRate   = "overload_forwarding_rate_pps"
	LossRatio      = "loss_ratio"
	LatencyP50     = "latency_p50_ns"
	LatencyP99     = "latency_p99_ns"
	ChainNS        = "chain_ns_per_packet"
	BypassNS       = "bypass_ns_per_packet"
	OfferedRate    = "offered_pps"

	// ManagementLoss is the share of TCP connections to the loaded DUT that no
	// program there answered; ManagementRTT is the median round trip of ICMP
	// echo (RFC 2544 §11).
	ManagementLoss = "management_loss_ratio"
	ManagementRTT  = "management_rtt_p50_ns"
)
