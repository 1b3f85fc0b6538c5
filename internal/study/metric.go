package study

import "linerate/internal/testbed"

// Metric is something a trial measures.
type Metric struct {
	Name  string
	Label string // for people
	Unit  string
	Mode  testbed.Mode
	// Search is the method of the search whose answer it is; "" is none.
	Search string
	// Management: only parts that ask the DUT measure it.
	Management bool
	// LowerIsBetter declares the direction; every metric has one.
	LowerIsBetter bool
	// Verdict says that variants are compared by it; other metrics explain.
	Verdict bool
	// Share says that it is a share of a whole, 0 to 1: effects in it are
	// differences in percentage points.
	Share bool
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
	{Name: LossRatio, Label: "loss", Unit: "", Mode: testbed.Overload, LowerIsBetter: true, Verdict: true, Share: true},
	{Name: LatencyP50, Label: "latency, median", Unit: "ns", Mode: testbed.Overload, LowerIsBetter: true, Verdict: true, NS: IsNS},
	{Name: LatencyP99, Label: "latency, 99th percentile", Unit: "ns", Mode: testbed.Overload, LowerIsBetter: true, Verdict: true, NS: IsNS},
	{Name: ManagementLoss, Label: "share of connections unanswered", Mode: testbed.Overload, Management: true, LowerIsBetter: true, Verdict: true, Share: true},
	{Name: ManagementRTT, Label: "echo, round trip", Unit: "ns", Mode: testbed.Overload, Management: true, LowerIsBetter: true, Verdict: true},
	{Name: ConditionalThroughput, Label: "conditional throughput", Unit: "pps", Mode: testbed.Overload, Search: MLRSearch, Verdict: true, NS: InverseNS},
	{Name: Throughput, Label: "throughput", Unit: "pps", Mode: testbed.Overload, Search: RFC2544, Verdict: true, NS: InverseNS},
	{Name: BackToBackFrames, Label: "back-to-back frames", Unit: "frames", Mode: testbed.Overload, Search: BackToBack, Verdict: true},
	{Name: LossFreeLoad, Label: "load without loss", Unit: "pps", Mode: testbed.Overload, Search: LossCurve, Verdict: true, NS: InverseNS},
	{Name: BufferSeconds, Label: "corrected buffer time", Unit: "s", Mode: testbed.Overload, Search: BackToBack},
	{Name: RequestMean, Label: "latency, mean", Unit: "ns", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true, NS: IsNS},
	{Name: RequestP50, Label: "latency, median", Unit: "ns", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true, NS: IsNS},
	{Name: RequestP90, Label: "latency, 90th percentile", Unit: "ns", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true, NS: IsNS},
	{Name: RequestP99, Label: "latency, 99th percentile", Unit: "ns", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true, NS: IsNS},
	{Name: Within100ms, Label: "answered within 100 ms", Unit: "", Mode: testbed.Serve, Verdict: true, Share: true},
	{Name: RequestRate, Label: "requests answered", Unit: "req/s", Mode: testbed.Serve, Verdict: true},
	{Name: RequestBits, Label: "throughput of bodies", Unit: "b/s", Mode: testbed.Serve, Verdict: true},
	{Name: RequestErrors, Label: "requests failed", Unit: "", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true, Share: true},
	{Name: SettledRate, Label: "answered and settled", Unit: "req/s", Mode: testbed.Serve, Verdict: true},
	{Name: QueuePeak, Label: "longest queue", Unit: "messages", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true},
	{Name: ServerCPU, Label: "server's CPU time", Unit: "ns", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true, NS: IsNS},
	{Name: ServerCPUPerGigabit, Label: "server's CPUs per Gb/s", Unit: "CPUs", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true},
	{Name: LinkBytes, Label: "bytes over the link, a request", Unit: "B", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true},
	{Name: LogWithin100ms, Label: "within 100 ms, by the log", Unit: "", Mode: testbed.Serve, Verdict: true, Share: true},
	{Name: LogP50, Label: "time in the log, median", Unit: "ns", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true, NS: IsNS},
	{Name: ChainNS, Label: "chain", Unit: "ns/packet", Mode: testbed.Cost, LowerIsBetter: true, NS: IsNS},
	{Name: BypassNS, Label: "chain without DUT", Unit: "ns/packet", Mode: testbed.Cost, LowerIsBetter: true, NS: IsNS},
	{Name: OfferedRate, Label: "offered load", Unit: "pps", Mode: testbed.Overload},
	{Name: SearchSeconds, Label: "trial time of the search", Unit: "s", Mode: testbed.Overload, LowerIsBetter: true},
	{Name: SearchTrials, Label: "trials of the search", Unit: "", Mode: testbed.Overload, LowerIsBetter: true},
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

	// ManagementLoss is the share of TCP connections to the DUT that no program
	// there answered while it was loaded, ManagementRTT the median round trip of
	// ICMP echo (RFC 2544 §11).
	ManagementLoss = "management_loss_ratio"
	ManagementRTT  = "management_rtt_p50_ns"

	// ConditionalThroughput is MLRsearch's, Throughput that of RFC 1242
	// §3.17 by RFC 2544's search: the highest rate without loss.
	ConditionalThroughput = "conditional_throughput_pps"
	Throughput            = "throughput_pps"
	// BackToBackFrames is the mean longest burst without loss (RFC 9004),
	// BufferSeconds what its buffers hold at full rate (§4, corrected).
	BackToBackFrames = "back_to_back_frames"
	BufferSeconds    = "corrected_buffer_seconds"
	// LossFreeLoad is where a loss curve ends (RFC 2544 §26.3).
	LossFreeLoad  = "loss_free_load_pps"
	SearchSeconds = "search_trial_seconds"
	SearchTrials  = "search_trials"

	// Of requests to a server, whose latency runs from when they were due:
	// RequestErrors is the share that failed or was never sent; ServerCPU the
	// time of the server's processes per request (what the kernel does for
	// them in interrupts is not in it); the log's are what the server's access
	// log says of the same requests.
	RequestMean = "request_latency_mean_ns"
	RequestP50  = "request_latency_p50_ns"
	RequestP90  = "request_latency_p90_ns"
	RequestP99  = "request_latency_p99_ns"
	Within100ms = "within_100ms_ratio"
	RequestRate = "requests_per_second"
	RequestBits = "body_bits_per_second"
	// SettledRate counts the time until the server had nothing left to do: its
	// queue was empty, or all was on the disk.
	SettledRate         = "settled_per_second"
	QueuePeak           = "queue_peak_messages"
	RequestErrors       = "request_error_ratio"
	ServerCPU           = "server_cpu_ns_per_request"
	ServerCPUPerGigabit = "server_cpus_per_gigabit"
	LogWithin100ms      = "log_within_100ms_ratio"
	// LinkBytes is what crossed the link, both ways, for each request that was
	// asked, those before what is counted too.
	LinkBytes = "link_bytes_per_request"
	LogP50    = "log_time_p50_ns"
)

// yields reports whether trials of a part measure the metric.
func (p Part) yields(m Metric) bool {
	if p.Mode != m.Mode || m.Management && !p.Management {
		return false
	}
	if p.Flood != "" {
		return m.Management || m.Name == OfferedRate
	}
	if p.Search == nil {
		return m.Search == ""
	}
	return m.Search == p.Search.Method
}

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
