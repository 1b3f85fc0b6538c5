package study

import (
	"fmt"
	"time"

	"linerate/internal/load/request"
	"linerate/internal/show"
	"linerate/internal/testbed"
)

// lateShare is which share of what is measured may be lateness of the clients
// or of the link: the median latency, the mean latency, a round trip.
const lateShare = 0.1

// mayBeLate is that share of a time, or request.MostLag if that is more.
func mayBeLate(ns float64) time.Duration { return max(request.MostLag, time.Duration(lateShare*ns)) }

// gates are what requests must pass.
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

// sharedTheft is how many times as much CPU time the hypervisor may take where arms share
// the loss. Arms that run at the same time are late together, which the gates lag and link
// bound; turns of random order spread it over the arms alike. It widens intervals and
// favours no arm.
const sharedTheft = 10

// stolen is study.Stolen for arms that are up at once too.
var stolen = Gate{Name: Stolen.Name, Ask: func(a Asked) []string {
	if a.Observed.Interleaved != nil {
		a.Limits.StealPercent *= sharedTheft
	}
	return AskStolen(a)
}}

func isServed(p Part) bool { return p.Mode == testbed.Serve }

// ofRequests asks of trials that had any.
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

// askSaturated asks whether the clients kept up.
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

// asksTogether reports whether all arms were asked at the same time.
//
// Arms asked one after the other are late at different times, which looks like
// an effect: one in a hundred decides. Arms that are asked together are late
// together, which moves ratios towards one, as if there were no effect. With
// latencies a and b and a lateness of L in both, (a+L)/(b+L) keeps
// 1/(1+L/b) of the effect or more: there the mean lateness is bounded, and
// that of one request in ten for the median's sake.
func asksTogether(o Observation) bool {
	return o.Interleaved != nil && o.Interleaved.How == Together
}

// lag says which requests were not sent when they were due. One late request in a hundred
// is a fault for trials that run alone, and for any claim about the slowest requests.
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

// lateLink says the same of packets. A round trip is late twice, and each time
// about as long again unseen, in which a packet waits for the link to take it in.
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
