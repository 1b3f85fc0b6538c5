package study

import (
	"math"
	"slices"
	"strings"

	"linerate/internal/list"
	"linerate/internal/stats"
)

// unitMetric is a metric of single connections.
type unitMetric struct {
	Metric
	source   string
	quantile float64 // 0: all values over all they are shares of
	column   func(c Connections) []float64
	scale    float64 // from the column to the metric's unit
}

func unitOf(source, name, label string, q float64, column func(c Connections) []float64) unitMetric {
	return unitMetric{Metric: Metric{Name: name, Label: label, Unit: "ns", Mode: ConnectionsMode, LowerIsBetter: true, Verdict: true, NS: IsTime}, source: source, quantile: q, column: column, scale: 1e9}
}

var (
	durations = func(c Connections) []float64 { return c.Duration }
	trips     = func(c Connections) []float64 { return c.RTT }
	requests  = func(c Connections) []float64 { return c.Request }
)

// connectionMetrics are those of the kind, in the order of reports.
var connectionMetrics = []unitMetric{
	unitOf("duration", "connection_duration_p50_ns", "median duration of connections", 0.5, durations),
	unitOf("duration#p95", "connection_duration_p95_ns", "95th percentile of the duration of connections", 0.95, durations),
	unitOf("duration#p99", "connection_duration_p99_ns", "99th percentile of the duration of connections", 0.99, durations),
	unitOf("rtt", "connection_rtt_p50_ns", "median round trip of connections", 0.5, trips),
	unitOf("rtt#p95", "connection_rtt_p95_ns", "95th percentile of the round trip of connections", 0.95, trips),
	{Metric: Metric{Name: "connection_delivery_rate_p50_bps", Label: "median delivery rate of connections", Unit: "bit/s", Mode: ConnectionsMode, Verdict: true},
		source: "delivery-rate", quantile: 0.5, column: func(c Connections) []float64 { return c.Rate }, scale: 1},
	{Metric: Metric{Name: "connection_retransmit_ratio", Label: "share of the connections' segments that were sent again", Mode: ConnectionsMode, LowerIsBetter: true, Verdict: true, Share: true},
		source: "retransmits", column: func(c Connections) []float64 { return c.Again }, scale: 1},
	unitOf("log:PATH", "connection_request_p95_ns", "95th percentile of connections' mean request time", 0.95, requests),
	unitOf("log:PATH#p50", "connection_request_p50_ns", "median of connections' mean request time", 0.5, requests),
	unitOf("log:PATH#p99", "connection_request_p99_ns", "99th percentile of connections' mean request time", 0.99, requests),
}

// ofConnections are the metrics alone.
func ofConnections() []Metric {
	return list.Map(connectionMetrics, func(m unitMetric) Metric { return m.Metric })
}

// connectionMetric is what a source, as users write it, measures. Without # it is the median, of
// a log the 95th percentile, as in studies that switch a host.
func connectionMetric(source string) (unitMetric, bool) {
	unsaid := "#p50"
	if LogOf(source) != "" {
		_, part, said := strings.Cut(source, "#")
		if source, unsaid = "log:PATH", "#p95"; said {
			source += "#" + part
		}
	}
	return list.Find(connectionMetrics, func(m unitMetric) bool { return m.source == source || m.source+unsaid == source })
}

// LogOf is the path of the server's log that a source of connections' metrics reads; "" for none.
func LogOf(source string) string {
	path, ok := strings.CutPrefix(source, "log:")
	if !ok {
		return ""
	}
	path, _, _ = strings.Cut(path, "#")
	return path
}

func connectionSources() []string {
	return list.Map(connectionMetrics, func(m unitMetric) string { return m.source })
}

// connectionMetricNamed is the metric of a name in results.
func connectionMetricNamed(name string) (unitMetric, bool) {
	return list.Find(connectionMetrics, func(m unitMetric) bool { return m.Name == name })
}

// of are the connections as units of the metric, of equal weight; those that did not measure it
// are left out, which the arm decides of none: a time of 0 is of a connection without data.
func (m unitMetric) of(c Connections) (out []stats.Unit) {
	if !c.whole() {
		return nil
	}
	for i, v := range m.column(c) {
		u := stats.Unit{Value: m.scale * v, Cluster: uint64(c.Client[i]), Weight: 1, Known: math.Log(max(c.FirstRTT[i], leastTrip))}
		if m.quantile == 0 {
			u.Of = c.Segments[i]
		} else if !(v > 0) {
			continue
		}
		out = append(out, u)
	}
	return out
}

// leastTrip stands for round trips of the handshake that were not measured, or are shorter.
const leastTrip = 10e-6

// summary is the metric of units of one weight.
func (m unitMetric) summary(units []stats.Unit) float64 {
	if m.quantile == 0 {
		sum, of := 0.0, 0.0
		for _, u := range units {
			sum, of = sum+u.Value, of+u.Of
		}
		return sum / max(1, of)
	}
	return stats.UnitQuantile(units, m.quantile)
}

// units are an arm's, of all valid windows that count, weighted by the chance that a connection
// had to be in it.
func (m unitMetric) units(s Spec, trials []Trial, variant string) (out []stats.Unit) {
	for _, t := range trials {
		c := t.Saw().Connections
		if c == nil || t.Block == 0 || !t.Valid || t.Variant != variant {
			continue
		}
		chance := c.Share
		if variant == s.Control || variant == AA {
			chance = 1 - c.Share
		}
		if !(chance > 0) {
			continue
		}
		kept := float64(len(c.Client)) / float64(max(len(c.Client), c.Opened-c.Open-c.Lost)) // the others were not sampled
		for _, u := range m.of(*c) {
			u.Weight = 1 / chance / kept
			out = append(out, u)
		}
	}
	return out
}

// compareConnections judges arms by their connections. The control of a variant is all untreated
// ones; that of the A/A arm, those which the second coin left.
func compareConnections(s Spec, g Goal, trials []Trial, arms []stats.Arm, opt stats.Options) []stats.Comparison {
	m, _ := connectionMetricNamed(g.Metric)
	control := stats.UnitArm{Name: s.Control, Units: m.units(s, trials, s.Control)}
	if !slices.ContainsFunc(arms, func(a stats.Arm) bool { return a.Name == AA }) {
		control.Units = append(control.Units, m.units(s, trials, AA)...)
	}
	treated := make([]stats.UnitArm, len(arms))
	for i, a := range arms {
		treated[i] = stats.UnitArm{Name: a.Name, Units: m.units(s, trials, a.Name)}
	}
	return stats.CompareUnits(control, treated, m.quantile, opt)
}
