package study

import "linerate/internal/testbed"

// Metric is something a trial measures.
type Metric struct {
	Name  string
	Label string // for people
	Unit  string
	Mode  testbed.Mode
	// LowerIsBetter declares the direction; every metric has one.
	LowerIsBetter bool
	// Verdict says that variants are compared by it; other metrics explain.
	Verdict bool
	// NS is how an effect in the metric is told in ns per packet.
	NS NSKind
}

// NSKind says how a metric's difference is told in nanoseconds.
type NSKind int

// A metric may have no meaning in ns, be ns, or be a rate whose inverse is.
const (
	NoNS NSKind = iota
	IsNS
	InverseNS
)

// Metrics are all that trials measure, in the order reports show them.
//
// cost_ns_per_packet is the time the DUT's CPU spends per forwarded packet:
// the chain's time per packet minus that of the same chain without DUT.
// forwarding_rate_pps is the rate which that cost allows one CPU, its
// inverse. overload_forwarding_rate_pps is the forwarding rate of RFC 2285
// §3.6.1 at the part's offered load; loss_ratio is the frame loss rate of RFC
// 1242 §3.6 as a ratio. The two never go by the name of throughput, which is
// the rate without loss (RFC 1242 §3.17).
var Metrics = []Metric{
	{Name: CostNS, Label: "cost", Unit: "ns/packet", Mode: testbed.Cost, LowerIsBetter: true, Verdict: true, NS: IsNS},
	{Name: ForwardingRate, Label: "forwarding rate", Unit: "pps", Mode: testbed.Cost, Verdict: true, NS: InverseNS},
	{Name: OverloadRate, Label: "forwarding rate under overload", Unit: "pps", Mode: testbed.Overload, Verdict: true, NS: InverseNS},
	{Name: LossRatio, Label: "loss", Unit: "", Mode: testbed.Overload, LowerIsBetter: true, Verdict: true},
	{Name: LatencyP50, Label: "latency, median", Unit: "ns", Mode: testbed.Overload, LowerIsBetter: true, Verdict: true, NS: IsNS},
	{Name: LatencyP99, Label: "latency, 99th percentile", Unit: "ns", Mode: testbed.Overload, LowerIsBetter: true, Verdict: true, NS: IsNS},
	{Name: ChainNS, Label: "chain", Unit: "ns/packet", Mode: testbed.Cost, LowerIsBetter: true, NS: IsNS},
	{Name: BypassNS, Label: "chain without DUT", Unit: "ns/packet", Mode: testbed.Cost, LowerIsBetter: true, NS: IsNS},
	{Name: OfferedRate, Label: "offered load", Unit: "pps", Mode: testbed.Overload},
}

// The metrics' names, as results.json has them.
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
)

// MetricNamed finds a metric.
func MetricNamed(name string) (Metric, bool) {
	for _, m := range Metrics {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

func metricNames() []string {
	var names []string
	for _, m := range Metrics {
		if m.Verdict {
			names = append(names, m.Name)
		}
	}
	return names
}
