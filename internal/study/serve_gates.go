package study

import (
	"fmt"
	"time"

	"linerate/internal/load/request"
	"linerate/internal/show"
	"linerate/internal/testbed"
)

// lateShare is the share of a measured time that lateness of the clients or the
// link may reach: of the median latency, the mean latency, or a round trip.
const lateShare = 0.1

// mayBeLate returns that share of a time, but at least request.MostLag.
func mayBeLate(ns float64) time.Duration { return max(request.MostLag, time.Duration(lateShare*ns)) }

// serveGates are the gates of requests.
var serveGates = []Gate{
	Drift, stolen,
	{Name: "queue", Ask: ofRequests(func(_ Asked, v *Served) []string {
		if v.Queue == nil {
			return nil
		}
		return FaultIf(v.Queue.Waiting > 0, fmt.Sprintf("%d messages were on their way still when the wait for them ended", v.Queue.Waiting))
	})},
	{Name: "delivery", Ask: ofRequests(func(_ Asked, v *Served) []string {
		if v.Mail == nil {
			return nil
		}
		return FaultIf(v.Mail.Bounced+v.Mail.Deferred > 0, fmt.Sprintf("%d messages bounced, and %d times a delivery was put off", v.Mail.Bounced, v.Mail.Deferred))
	})},
	{Name: "no requests", Ask: func(a Asked) []string {
		v := a.Observed.Served
		return FaultIf(v == nil || v.Requests == 0, "the clients asked for nothing")
	}},
	{Name: "failed", Ask: ofRequests(askFailed)},
	{Name: "saturated", Ask: ofRequests(askSaturated)},
	{Name: "lag", Ask: ofRequests(func(a Asked, v *Served) []string { return v.lag(asksTogether(a.Observed)) })},
	{Name: "link", Ask: ofRequests(func(a Asked, v *Served) []string {
		lost := FaultIf(v.Link.Missed > 0, fmt.Sprintf("its emulation lost %d packets that it should have carried", v.Link.Missed))
		return append(lost, v.lateLink(asksTogether(a.Observed))...)
	})},
}

// sharedTheft is the factor by which the steal limit grows if the arms share the loss.
// Arms that run at the same time are late together, which the gates lag and link bound;
// randomly ordered turns spread it evenly over the arms. It widens intervals and favours
// no arm.
const sharedTheft = 10

// stolen is Stolen, with the higher limit for arms that are up at once.
var stolen = Gate{Name: Stolen.Name, Ask: func(a Asked) []string {
	if a.Observed.Interleaved != nil {
		a.Limits.StealPercent *= sharedTheft
	}
	return AskStolen(a)
}}

func isServed(p Part) bool { return p.Mode == testbed.Serve }

// ofRequests limits a gate to trials that had requests.
func ofRequests(ask func(Asked, *Served) []string) func(Asked) []string {
	return func(a Asked) []string {
		if v := a.Observed.Served; v != nil && v.Requests > 0 {
			return ask(a, v)
		}
		return nil
	}
}

func askFailed(a Asked, v *Served) []string {
	failed := 100 * float64(v.Failed+v.Unsent) / float64(v.Requests+v.Unsent)
	why := ""
	if len(v.Errors) > 0 {
		why = fmt.Sprintf(": %d × %s", v.Errors[0].Count, v.Errors[0].Text)
	}
	limit := a.Limits.FailedPercent
	return FaultIf(failed > limit, fmt.Sprintf("%.2f %% of the requests failed (limit %g %%)%s", failed, limit, why))
}

// askSaturated checks that the clients kept up.
func askSaturated(_ Asked, v *Served) []string {
	g := v.Generator
	bad := FaultIf(g.CPUShare > request.MostShare, fmt.Sprintf("the clients used %s of %d CPUs", show.WholePercent(100*g.CPUShare), g.CPUs))
	for _, e := range v.Errors {
		if e.Kind == request.NoPort.String() || e.Kind == request.NoFile.String() {
			bad = append(bad, fmt.Sprintf("the clients had %s, %d times", e.Text, e.Count))
		}
	}
	return bad
}

// asksTogether reports whether all arms got requests at the same time.
//
// Arms tested one after another are late at different times, which looks like
// an effect, so the limit is on one request in a hundred. Arms tested together
// are late together, which moves ratios towards one, as if there were no
// effect. With latencies a and b and the same lateness L, (a+L)/(b+L) retains
// at least 1/(1+L/b) of the effect: there the gate limits the mean lateness,
// and that of one request in ten for the median.
func asksTogether(o Observation) bool {
	return o.Interleaved != nil && o.Interleaved.How == Together
}

// lag returns faults for requests that were not sent when due. For trials that run alone, and
// for any statement about the slowest requests, one late request in a hundred is a fault.
func (v *Served) lag(together bool) (bad []string) {
	lag, q := v.Generator.Lag, v.Latency
	if v.OfferedRate <= 0 || lag == nil || q == nil {
		return nil
	}
	if !together {
		return tooLate("the clients sent one request in a hundred", lag.P99, mayBeLate(float64(q.P50)), "or more")
	}
	return append(tooLate("the clients sent requests", int64(lag.Mean), mayBeLate(q.Mean), "on average"),
		tooLate("the clients sent one request in ten", lag.P90, mayBeLate(float64(q.P50)), "or more")...)
}

// lateLink does the same for packets. A round trip is late twice, and each time
// about as long again unobserved, while a packet waits for the link to accept it.
func (v *Served) lateLink(together bool) []string {
	if together {
		return tooLate("packets left", v.Link.LateMean, mayBeLate(1e9*v.RoundTrip/4), "on average")
	}
	return tooLate("one packet in a hundred left", v.Link.LateP99, mayBeLate(1e9*v.RoundTrip), "or more")
}

func tooLate(what string, ns int64, limit time.Duration, how string) []string {
	late := time.Duration(ns)
	return FaultIf(late > limit, fmt.Sprintf("%s %.1f ms late %s (limit %.1f ms)", what, late.Seconds()*1e3, how, limit.Seconds()*1e3))
}

// serveMetrics are the metrics of requests to servers.
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

// The metrics of requests, named as in results.json.
const (
	// Latency runs from when a request was due. RequestErrors is the share of
	// requests that failed or were never sent; ServerCPU is the CPU time of
	// the server's processes per request (without what the kernel does for
	// them in interrupts); Log metrics come from the server's access log for
	// the same requests.
	RequestMean = "request_latency_mean_ns"
	RequestP50  = "request_latency_p50_ns"
	RequestP90  = "request_latency_p90_ns"
	RequestP99  = "request_latency_p99_ns"
	Within100ms = "within_100ms_ratio"
	RequestRate = "requests_per_second"
	RequestBits = "body_bits_per_second"
	// SettledRate includes the time until the server had no work left: until
	// its queue was empty, or all data was on disk.
	SettledRate         = "settled_per_second"
	QueuePeak           = "queue_peak_messages"
	RequestErrors       = "request_error_ratio"
	ServerCPU           = "server_cpu_ns_per_request"
	ServerCPUPerGigabit = "server_cpus_per_gigabit"
	LogWithin100ms      = "log_within_100ms_ratio"
	// LinkBytes is what crossed the link in both directions per request,
	// including requests before the measurement.
	LinkBytes    = "link_bytes_per_request"
	ServerLogP50 = "log_time_p50_ns"
)
