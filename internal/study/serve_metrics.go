package study

import (
	"linerate/internal/testbed"
)

// servedMetrics are what requests to servers measure.
var serveMetrics = []Metric{
	{Name: RequestMean, Label: "latency, mean", Unit: "ns", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true, NS: IsTime},
	{Name: RequestP50, Label: "latency, median", Unit: "ns", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true, Bucket: latencyBucket, NS: IsTime},
	{Name: RequestP90, Label: "latency, 90th percentile", Unit: "ns", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true, Bucket: latencyBucket, NS: IsTime},
	{Name: RequestP99, Label: "latency, 99th percentile", Unit: "ns", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true, Bucket: latencyBucket, NS: IsTime},
	{Name: Within100ms, Label: "answered within 100 ms", Unit: "", Mode: testbed.Serve, Verdict: true, Share: true},
	{Name: RequestRate, Label: "requests answered", Unit: "req/s", Mode: testbed.Serve, Verdict: true,
		Words: map[string]LabelUnit{"smtp": {Label: "rate of messages taken", Unit: "messages/s"}, "files": {Label: "rate of transactions", Unit: "transactions/s"}}},
	{Name: RequestBits, Label: "throughput of bodies", Unit: "b/s", Mode: testbed.Serve, Verdict: true},
	{Name: RequestErrors, Label: "requests failed", Unit: "", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true, Share: true,
		Words: map[string]LabelUnit{"smtp": {Label: "share of messages not taken", Unit: ""}, "files": {Label: "share of transactions failed", Unit: ""}}},
	{Name: SettledRate, Label: "answered and settled", Unit: "req/s", Mode: testbed.Serve, Verdict: true,
		Words: map[string]LabelUnit{"smtp": {Label: "rate of messages delivered", Unit: "messages/s"}, "files": {Label: "rate of transactions on the disk", Unit: "transactions/s"}}},
	{Name: QueuePeak, Label: "longest queue", Unit: "messages", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true},
	{Name: ServerCPU, Label: "server's CPU time", Unit: "ns", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true, NS: IsTime},
	{Name: ServerCPUPerGigabit, Label: "server's CPUs per Gb/s", Unit: "CPUs", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true},
	{Name: LinkBytes, Label: "bytes over the link, a request", Unit: "B", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true},
	{Name: LogWithin100ms, Label: "within 100 ms, by the log", Unit: "", Mode: testbed.Serve, Verdict: true, Share: true},
	{Name: ServerLogP50, Label: "time in the log, median", Unit: "ns", Mode: testbed.Serve, LowerIsBetter: true, Verdict: true, NS: IsTime},
}

// The metrics of requests, as results.json has them.
const (
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
	LinkBytes    = "link_bytes_per_request"
	ServerLogP50 = "log_time_p50_ns"
)
