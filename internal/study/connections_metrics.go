package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// unitMetric is a metric of individual connections or flows.
type unitMetric struct {
	Metric
	source   string
	quantile float64 // 0: a ratio, the sum of the values over the sum of their totals
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

// connectionMetrics are the metrics of the kind, in the order of reports.
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

// metricsOf strips units to their metrics.
func metricsOf(units []unitMetric) []Metric {
	return list.Map(units, func(m unitMetric) Metric { return m.Metric })
}

// connectionMetric returns the metric of a source as users write it. Without #PERCENTILE it is
// the median; for a log, the 95th percentile, as in switchback studies.
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

// LogOf returns the path of the server log that a source of connection metrics reads; "" if it reads none.
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

func connectionMetricNamed(name string) (unitMetric, bool) {
	return list.Find(slices.Concat(connectionMetrics, flowMetrics), func(m unitMetric) bool { return m.Name == name })
}

// of returns the connections as units of the metric, of equal weight. It leaves out those
// without a value: a time of 0 means a connection without data, which no arm causes.
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

// leastTrip replaces handshake round trips that were not measured or are shorter.
const leastTrip = 10e-6

// summary computes the metric over units of equal weight.
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

// units returns an arm's units from all valid windows that count, weighted by
// the inverse of the chance that a connection had to be in the arm.
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
		kept := float64(len(c.Client)) / float64(max(len(c.Client), c.Opened-c.Open-c.Lost)) // the rest was not sampled
		for _, u := range m.of(*c) {
			u.Weight = 1 / chance / kept
			out = append(out, u)
		}
	}
	return out
}

// compareConnections compares arms by their connections. A variant's control is all untreated
// connections; the A/A arm's control is the untreated ones that the second coin left.
func compareConnections(s Spec, g Goal, trials []Trial, arms []stats.Arm, opt stats.Options) []stats.Comparison {
	m, _ := connectionMetricNamed(g.Metric)
	trials = list.Filter(trials, func(t Trial) bool { return t.Part == g.Part })
	if m.Name == FlowLatency {
		trials = ofOneSpeed(s, m, trials)
	}
	control := stats.UnitArm{Name: s.Control, Units: m.units(s, trials, s.Control)}
	if !slices.ContainsFunc(arms, func(a stats.Arm) bool { return a.Name == AA }) {
		control.Units = append(control.Units, m.units(s, trials, AA)...)
	}
	treated := list.Map(arms, func(a stats.Arm) stats.UnitArm { return stats.UnitArm{Name: a.Name, Units: m.units(s, trials, a.Name)} })
	if m.Mode == FlowsMode {
		opt.Of = stats.UnitNames{Units: "windows of flows", Clusters: "flows", More: "add flows, or blocks"}
	}
	return stats.CompareUnits(control, treated, m.quantile, opt)
}

// HarmIn returns the guardrail that a study by connection has tripped; nil if it may go on. Its
// intervals hold at any time, so it stops at most 5 % of harmless studies, however often it is asked.
func HarmIn(s Spec, seed uint64, trials []Trial) *Trip {
	counted := list.Map(trials, func(t Trial) Trial {
		t.Block = max(t.Block, 1) // include the ramp
		return t
	})
	return cmp.Or(stuck(s, counted), slower(s, seed, counted))
}

// slower trips if the primary metric is shown to be worse by at least the study's limit.
func slower(s Spec, seed uint64, trials []Trial) *Trip {
	limit := s.Parts[0].Live.HarmPercent
	m, _ := MetricNamed(s.Primary().Metric)
	for _, c := range s.anyTime(seed, trials) {
		worse, _, _ := c.Result().Size()
		if m.Share { // relative to the share itself, as for other metrics
			worse = c.Result().EffectPercent
		}
		if by := math.Abs(worse.Float()); c.Verdict == stats.Worse && by >= limit {
			return &Trip{Guardrail: "harm", Value: by, Limit: limit, Text: fmt.Sprintf("the %s was %s worse for treated connections (limit %s)", m.Label, show.Percent(by), show.Percent(limit))}
		}
	}
	return nil
}

// stuck trips if more treated connections than others stay open: a connection that never ends has no value.
func stuck(s Spec, trials []Trial) *Trip {
	count := map[bool][2]float64{}
	for _, t := range trials {
		if c := t.Saw().Connections; c != nil {
			n := count[t.Variant == s.Control || t.Variant == AA]
			count[t.Variant == s.Control || t.Variant == AA] = [2]float64{n[0] + float64(c.Opened), n[1] + float64(c.Open)}
		}
	}
	a, b := count[true], count[false]
	all := (a[1] + b[1]) / (a[0] + b[0])
	pa, pb := a[1]/a[0], b[1]/b[0]
	se := math.Sqrt(all * (1 - all) * (1/a[0] + 1/b[0]))
	if !(pb-pa > 0.1 && pb-pa > 4*se) {
		return nil
	}
	return &Trip{Guardrail: "stuck", Value: pb, Limit: pa, Text: fmt.Sprintf("%s of the treated connections had not ended when %s of the others had not", show.Percent(100*pb), show.Percent(100*pa))}
}

// ConnectionsLine describes a window of which all arms are on record.
func ConnectionsLine(s Spec, seed uint64, trials []Trial, window int) string {
	m, _ := MetricNamed(s.Primary().Metric)
	line, share := "", 0.0
	for _, t := range trials {
		if t.Block != window || t.Variant == AA {
			continue
		}
		value := "nothing to measure"
		if v, ok := t.Metrics[m.Name]; ok {
			value = m.Text(v)
		}
		line += fmt.Sprintf("  %s %s", t.Variant, value)
		if c := t.Saw().Connections; c != nil {
			share = c.Share
			line += fmt.Sprintf(" of %s", show.Count(len(c.Client)))
		}
		if !t.Valid {
			line += " (does not count: " + t.Why()[0] + ")"
		}
	}
	if window == 0 {
		return fmt.Sprintf("first    %4s treated%s", show.WholePercent(100*share), line)
	}
	line = fmt.Sprintf("window %d %4s treated%s", window, show.WholePercent(100*share), line)
	for _, c := range s.anyTime(seed, trials) {
		if c.Effect.Known() && c.Verdict != stats.Invalid {
			e := c.Result().Effect
			line += fmt.Sprintf("  %s %s so far", e.Text(), e.Bounds())
		}
	}
	return line
}

// ForeseeConnections predicts what a study could detect, from a window in which
// nothing was treated: the two halves of the control stand in for the arms.
func ForeseeConnections(s Spec, trials []Trial) (lines []string) {
	all, p := 0, s.Parts[0]
	for _, t := range trials {
		if c := t.Saw().Connections; c != nil {
			all += c.Opened
		}
	}
	lines = append(lines, fmt.Sprintf("%s connections in a window of %s: about %s in the %d windows of the study.", show.Count(all), span(Seconds(p.terms().Window)), show.Count(all*p.Blocks), p.Blocks))
	for _, g := range s.Metrics {
		m, _ := MetricNamed(g.Metric)
		c := compareConnections(s, g, trials, []stats.Arm{{Name: AA}}, options(m, g, 0))[0]
		if !(c.Effect.SE > 0) {
			lines = append(lines, m.Label+": too few connections to say what a study would see.")
			continue
		}
		// With shares of 10, 50, 50 and 90 %, an arm's variance over four
		// windows is 1.9 times that with four halves: Σp⁻¹/16 instead of 1/2.
		const unequal = 1.9
		see := stats.DetectableEffect(100, alpha, 0.8) * c.Effect.SE * math.Sqrt(unequal/float64(p.Blocks))
		text := show.Percent(stats.Percent(see))
		if m.Share {
			text = show.Points(100 * see)
		}
		lines = append(lines, fmt.Sprintf("%s: a study would see %s between connections (power 0.8).", m.Label, text))
	}
	return lines
}
