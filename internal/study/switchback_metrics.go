package study

import (
	"math"
	"slices"
	"strings"

	"linerate/internal/stats"
)

// What 0 means of times that were rounded down: no request takes none, and most logs count
// milliseconds, most kernels ticks of their clock.
const (
	belowMS   = "below 1 ms"
	belowTick = "below a clock tick"
)

// metrics of the kind, in the order of reports.
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

// OfKernel are the metrics that count the kernel's CPU time.
var OfKernel = []string{CPUPerPacket, SoftirqPerPacket, CPUPerRequest}

// CountsKernel reports whether one of the sources, as users write them, does.
func CountsKernel(watch []string) bool { return watches(watch, OfKernel...) }

// TellsInterrupts reports whether one of the sources counts interrupts and softirqs apart
// from the rest of the kernel's time.
func TellsInterrupts(watch []string) bool { return watches(watch, SoftirqPerPacket) }

func watches(watch []string, metrics ...string) bool {
	return slices.ContainsFunc(watch, func(source string) bool { return slices.Contains(metrics, MetricOf(source, "")) })
}

// Beside adds to the watched metrics those that they need for interpretation: interrupts
// alone do not show work that a setting moves into threads or system calls.
func Beside(watch []string) []string {
	if TellsInterrupts(watch) && !watches(watch, CPUPerPacket) {
		return append(slices.Clip(watch), "cpu-per-packet")
	}
	return watch
}

// TickError is the random error, in percent, of a time that was partly counted in ticks:
// half of the 95 % interval, where the number of ticks is Poisson-distributed. Times and
// the tick are in one unit. Work in step with the ticks has a larger error, which is
// systematic.
func TickError(ticked, all, tick float64) float64 {
	return 100 * 1.96 * math.Sqrt(ticked*tick) / all
}

// HigherIsBetter reports whether a higher value of a metric is the better one.
func HigherIsBetter(metric string) bool {
	return slices.ContainsFunc(switchbackMetrics, func(m Metric) bool { return m.Name == metric && !m.LowerIsBetter })
}

// MetricOf is the metric that a source, as users write it, measures; "" of one that
// is none.
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

// plain are the metrics of sources that measure but one.
var plain = map[string]string{
	"cpu-per-packet": CPUPerPacket, "softirq-per-packet": SoftirqPerPacket, "cpu-per-request": CPUPerRequest, "retransmits": Retransmits,
	"rtt": RoundTrip, "delivery-rate": DeliveryRate, "drops": DropsPerPacket, "probe": ProbeLatency,
}

// The metrics of a live host, as results name them.
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
	// WatchedLower and WatchedHigher are values of the user's own: of a command, or a
	// query.
	WatchedLower  = "watched_value"
	WatchedHigher = "watched_value_higher"
)

// Watched is a metric with where it comes from.
type Watched struct {
	Metric string `json:"metric" yaml:"metric"`
	Source string `json:"source" yaml:"source"` // as the user wrote it
	How    string `json:"how,omitempty" yaml:"-"`
}

// Window is what was seen of one window.
type Window struct {
	Pair   int     `json:"pair"`
	Half   int     `json:"half"`
	Of     string  `json:"of"`
	Ramp   bool    `json:"ramp,omitempty"` // a short first exposure: it does not count
	BurnIn float64 `json:"burn_in_seconds"`
	Switch float64 `json:"switch_seconds"` // that the switch itself took
	// Series are the values of every check, by metric, and At when they were taken, in
	// seconds from the window's begin; null where there was nothing to measure.
	At     []float64             `json:"at_seconds"`
	Series map[string][]*float64 `json:"series"`
	// Value is each metric over the window without its burn-in.
	Value map[string]float64 `json:"value"`
	// Traffic is what the host handled in it, a second; Counted what was counted
	// of each metric.
	Traffic float64            `json:"traffic_per_second"`
	Counted map[string]float64 `json:"counted,omitempty"`
	// KernelTime is how the kernel's CPU time was counted:
	// tracepoints (the kernel's), ticks (/proc/stat, kern.cp_time); "" where it was not
	// asked for, and of records before there was more than ticks.
	KernelTime string `json:"kernel_time,omitempty"`
	// Drops are the packets that were dropped, a second, by place.
	Drops map[string]float64 `json:"drops_per_second,omitempty"`
	// Nearest is how near each guardrail came, by name.
	Nearest map[string]Nearest `json:"guardrails,omitempty"`
	Trip    *Trip              `json:"trip,omitempty"`
	// Disturbed says what else happened to the host meanwhile.
	Disturbed []Disturbance `json:"disturbed,omitempty"`
	Notes     []string      `json:"notes,omitempty"` // what could not be read
}

// Disturbance is something that makes a window no measurement of its treatment.
type Disturbance struct {
	Gate string `json:"gate"`
	Text string `json:"text"`
}

// The gates of windows.
const (
	GateKey     = "changed"   // somebody else changed what is studied
	GateReload  = "reload"    // the watched service was started anew
	GateBoot    = "boot"      // the machine booted
	GateClock   = "clock"     // the host's clock was set
	GateTraffic = "traffic"   // the halves of a pair handled different amounts
	GateNothing = "nothing"   // there was nothing to measure
	GateRead    = "unread"    // too many checks had no answer
	GateGuard   = "guardrail" // it was ended
)
