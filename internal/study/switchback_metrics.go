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
