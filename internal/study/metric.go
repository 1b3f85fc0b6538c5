package study

import (
	"math"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/testbed"
)

// Metric is a quantity that a trial measures.
type Metric struct {
	Name  string
	Label string // for people
	Unit  string
	Mode  testbed.Mode // of the parts that measure it
	// Answers is what a part must have in addition to its mode: the search method that
	// yields the metric, or management; "" means nothing.
	Answers string
	// Words are the label and unit for workloads that have their own (Spec.workload).
	Words map[string]LabelUnit
	// LowerIsBetter states the direction; every metric has one.
	LowerIsBetter bool
	// Verdict is set if variants are compared by the metric; other metrics only explain.
	Verdict bool
	// Share is set if the metric is a share of a whole, 0 to 1: its effects
	// are differences in percentage points.
	Share bool
	// Bucket is the relative width of the buckets of the histogram from which values are read;
	// 0 if they are not read from one.
	Bucket float64
	// NS says how an effect in the metric converts to ns per packet.
	NS NSKind
	// Zero is the text for 0 if the source rounds down, such as "below 1 ms"; "" if 0 is exact.
	Zero string
}

// latencyBucket is the bucket width of load.Histogram: 64 to a power of two.
const latencyBucket = 1.0 / 64

// NSKind says how a metric's difference is converted to nanoseconds.
type NSKind int

// A metric may have no conversion to ns, be in ns, be a rate whose inverse is in
// ns, or be a time for which ns are too fine, such as a request's.
const (
	NoNS NSKind = iota
	IsNS
	InverseNS
	IsTime
)

// LabelUnit is a metric's label and unit.
type LabelUnit struct{ Label, Unit string }

// In returns the metric with the label and unit of a workload.
func (m Metric) In(workload string) Metric {
	if w, ok := m.Words[workload]; ok {
		m.Label, m.Unit = w.Label, w.Unit
	}
	return m
}

// asking says what a part must have in addition to its mode.
func (m Metric) asking() string {
	if m.Answers == "" {
		return ""
	}
	return " with " + m.Answers
}

// Text formats a value of the metric, with its unit.
func (m Metric) Text(v float64) string {
	if v == 0 && m.Zero != "" {
		return m.Zero
	}
	switch m.Unit {
	case "pps":
		return show.Rate(v)
	case "ns":
		return show.Nanos(v)
	case "ns/packet":
		return show.Grouped(v, 0) + " ns"
	case "frames", "messages":
		return show.Grouped(v, 0) + " " + m.Unit
	case "req/s", "messages/s", "transactions/s":
		return show.SI(v, m.Unit)
	case "b/s":
		return show.Bits(v)
	case "bit/s":
		return show.SI(v, m.Unit)
	case "CPUs": // mostly fractions of one
		return show.Grouped(v, 3) + " " + m.Unit
	case "B":
		return show.Bytes(v)
	case "s":
		return show.Nanos(1e9 * v)
	case "requests/s": // fractions of one on a quiet server
		if v != 0 && math.Abs(v) < 0.0995 {
			return show.Grouped(v, 4) + " " + m.Unit
		}
	case "units": // a user's own number, of any magnitude
		return show.Value(v)
	case "":
		return show.Loss(v) // ratios
	}
	return show.Digits(v) + " " + m.Unit // named by the study
}

// Metrics returns all metrics, in the order of reports.
func Metrics() (all []Metric) {
	for _, k := range kinds {
		all = append(all, k.metrics()...)
	}
	return all
}

// MetricNamed finds a metric.
func MetricNamed(name string) (Metric, bool) {
	return list.Find(Metrics(), func(m Metric) bool { return m.Name == name })
}

func metricNames() []string {
	return namesOf(list.Filter(Metrics(), func(m Metric) bool { return m.Verdict }))
}

func namesOf(all []Metric) []string { return list.Map(all, func(m Metric) string { return m.Name }) }
