package study

import (
	"math"
	"slices"
	"strings"

	"linerate/internal/stats"
)

// What 0 means for times that were rounded down: no request takes zero time, but most logs
// count milliseconds, and most kernels clock ticks.
const (
	belowMS   = "below 1 ms"
	belowTick = "below a clock tick"
)

// switchbackMetrics are the metrics of the kind, in the order of reports.
var switchbackMetrics = []Metric{
	{Name: CPUPerPacket, Label: "CPU time of the kernel per packet", Unit: "ns", Mode: SwitchbackMode, LowerIsBetter: true, Verdict: true, NS: IsTime, Zero: belowTick},
	{Name: SoftirqPerPacket, Label: "CPU time of interrupts and softirqs per packet", Unit: "ns", Mode: SwitchbackMode, LowerIsBetter: true, Verdict: true, NS: IsTime, Zero: belowTick},
	{Name: CPUPerRequest, Label: "CPU time of the kernel per request", Unit: "ns", Mode: SwitchbackMode, LowerIsBetter: true, Verdict: true, NS: IsTime, Zero: belowTick},
	{Name: LogP50, Label: "median time of requests, by the server's log", Unit: "ns", Mode: SwitchbackMode, LowerIsBetter: true, Verdict: true, NS: IsTime, Zero: belowMS},
	{Name: LogP95, Label: "95th percentile of the time of requests, by the server's log", Unit: "ns", Mode: SwitchbackMode, LowerIsBetter: true, Verdict: true, NS: IsTime, Zero: belowMS},
	{Name: LogP99, Label: "99th percentile of the time of requests, by the server's log", Unit: "ns", Mode: SwitchbackMode, LowerIsBetter: true, Verdict: true, NS: IsTime, Zero: belowMS},
	{Name: LogErrors, Label: "share of requests that failed, by the server's log", Mode: SwitchbackMode, LowerIsBetter: true, Verdict: true, Share: true},
	{Name: LogRate, Label: "requests a second, by the server's log", Unit: "requests/s", Mode: SwitchbackMode, Verdict: true},
	{Name: Retransmits, Label: "share of TCP segments that were sent again", Mode: SwitchbackMode, LowerIsBetter: true, Verdict: true, Share: true},
	{Name: RoundTrip, Label: "median round trip of established connections", Unit: "ns", Mode: SwitchbackMode, LowerIsBetter: true, Verdict: true, NS: IsTime},
	{Name: DeliveryRate, Label: "median delivery rate of established connections", Unit: "bit/s", Mode: SwitchbackMode, Verdict: true},
	{Name: DropsPerPacket, Label: "dropped packets, of all handled", Mode: SwitchbackMode, LowerIsBetter: true, Verdict: true, Share: true},
	{Name: ProbeLatency, Label: "mean time of a probe", Unit: "ns", Mode: SwitchbackMode, LowerIsBetter: true, Verdict: true, NS: IsTime},
	{Name: WatchedLower, Label: "watched value", Unit: "units", Mode: SwitchbackMode, LowerIsBetter: true, Verdict: true},
	{Name: WatchedHigher, Label: "watched value", Unit: "units", Mode: SwitchbackMode, Verdict: true},
}

// OfKernel lists the metrics that count the kernel's CPU time.
var OfKernel = []string{CPUPerPacket, SoftirqPerPacket, CPUPerRequest}

// CountsKernel reports whether any of the sources, as users write them, is such a metric.
func CountsKernel(watch []string) bool { return watches(watch, OfKernel...) }

// TellsInterrupts reports whether any of the sources counts interrupts and softirqs
// separately from the rest of the kernel's time.
func TellsInterrupts(watch []string) bool { return watches(watch, SoftirqPerPacket) }

func watches(watch []string, metrics ...string) bool {
	return slices.ContainsFunc(watch, func(source string) bool { return slices.Contains(metrics, MetricOf(source, "")) })
}

// Beside adds the metrics needed to interpret the watched ones: interrupts alone do not
// show work that a setting moves into threads or system calls.
func Beside(watch []string) []string {
	if TellsInterrupts(watch) && !watches(watch, CPUPerPacket) {
		return append(slices.Clip(watch), "cpu-per-packet")
	}
	return watch
}

// TickError returns the random error, in percent, of a time that was partly counted in
// ticks: half of the 95 % interval for a Poisson-distributed number of ticks. Times and
// the tick have the same unit. Work synchronised with the ticks has a larger error,
// which is systematic.
func TickError(ticked, all, tick float64) float64 {
	return 100 * 1.96 * math.Sqrt(ticked*tick) / all
}

// HigherIsBetter reports whether higher values of a metric are better.
func HigherIsBetter(metric string) bool {
	return slices.ContainsFunc(switchbackMetrics, func(m Metric) bool { return m.Name == metric && !m.LowerIsBetter })
}

// MetricOf returns the metric that a source, as users write it, measures; "" if it
// is invalid.
func MetricOf(source, better string) string {
	word, rest, _ := strings.Cut(source, ":")
	_, part, said := strings.Cut(rest, "#")
	switch word {
	case "command", "prometheus":
		if better == string(stats.HigherIsBetter) {
			return WatchedHigher
		}
		return WatchedLower
	case "log":
		if !said {
			part = "p95"
		}
		return map[string]string{"p50": LogP50, "p95": LogP95, "p99": LogP99, "errors": LogErrors, "rate": LogRate}[part]
	}
	return plain[word]
}

// plain maps sources that measure a single metric.
var plain = map[string]string{
	"cpu-per-packet": CPUPerPacket, "softirq-per-packet": SoftirqPerPacket, "cpu-per-request": CPUPerRequest, "retransmits": Retransmits,
	"rtt": RoundTrip, "delivery-rate": DeliveryRate, "drops": DropsPerPacket, "probe": ProbeLatency,
}

// The metrics of a live host, named as in results.
const (
	CPUPerPacket     = "cpu_ns_per_packet"
	CPUPerRequest    = "cpu_ns_per_request"
	SoftirqPerPacket = "softirq_ns_per_packet"
	LogP50           = "log_p50_ns"
	LogP95           = "log_p95_ns"
	LogP99           = "log_p99_ns"
	LogErrors        = "log_error_ratio"
	LogRate          = "log_requests_per_second"
	Retransmits      = "retransmit_ratio"
	RoundTrip        = "round_trip_ns"
	DeliveryRate     = "delivery_rate_bps"
	DropsPerPacket   = "drops_per_packet"
	ProbeLatency     = "probe_latency_ns"
	// WatchedLower and WatchedHigher are values defined by the user: of a command, or
	// of a query.
	WatchedLower  = "watched_value"
	WatchedHigher = "watched_value_higher"
)

// Watched is a metric with its source.
type Watched struct {
	Metric string `json:"metric" yaml:"metric"`
	Source string `json:"source" yaml:"source"` // as the user wrote it
	How    string `json:"how,omitempty" yaml:"-"`
}

// Window is what was observed in one window.
type Window struct {
	Pair   int     `json:"pair"`
	Half   int     `json:"half"`
	Of     string  `json:"of"`
	Ramp   bool    `json:"ramp,omitempty"` // a short first exposure, which does not count
	BurnIn float64 `json:"burn_in_seconds"`
	Switch float64 `json:"switch_seconds"` // duration of the switch itself
	// Series holds the values of every check, by metric, null where there was nothing
	// to measure. At holds their times, in seconds since the start of the window.
	At     []float64             `json:"at_seconds"`
	Series map[string][]*float64 `json:"series"`
	// Value is each metric over the window without its burn-in.
	Value map[string]float64 `json:"value"`
	// Traffic is what the host handled per second in the window; Counted is how
	// many items each metric counted.
	Traffic float64            `json:"traffic_per_second"`
	Counted map[string]float64 `json:"counted,omitempty"`
	// KernelTime is how the kernel's CPU time was counted: tracepoints (the kernel's),
	// or ticks (/proc/stat, kern.cp_time); "" if it was not requested, and in old
	// records, which knew only ticks.
	KernelTime string `json:"kernel_time,omitempty"`
	// Drops are packets dropped per second, by place.
	Drops map[string]float64 `json:"drops_per_second,omitempty"`
	// Nearest is how close each guardrail came to tripping, by name.
	Nearest map[string]Nearest `json:"guardrails,omitempty"`
	Trip    *Trip              `json:"trip,omitempty"`
	// Disturbed lists what else happened to the host during the window.
	Disturbed []Disturbance `json:"disturbed,omitempty"`
	Notes     []string      `json:"notes,omitempty"` // what could not be read
}

// Disturbance is an event that invalidates a window as a measurement of its treatment.
type Disturbance struct {
	Gate string `json:"gate"`
	Text string `json:"text"`
}

// The gates of windows.
const (
	GateKey     = "changed"   // somebody else changed the setting under study
	GateReload  = "reload"    // the watched service restarted
	GateBoot    = "boot"      // the machine rebooted
	GateClock   = "clock"     // the host's clock was set
	GateTraffic = "traffic"   // the halves of a pair handled different amounts
	GateNothing = "nothing"   // there was nothing to measure
	GateRead    = "unread"    // too many checks returned no value
	GateGuard   = "guardrail" // a guardrail ended it
)
