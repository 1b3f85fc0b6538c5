package study

import (
	"math"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/testbed"
)

// Metric is something a trial measures.
type Metric struct {
	Name  string
	Label string // for people
	Unit  string
	Mode  testbed.Mode // of the parts that measure it
	// Answers names what a part must request in addition to its mode: the search method
	// whose answer the metric is; "" is nothing.
	Answers string
	// Words are its label and unit where a workload has its own (Spec.workload).
	Words map[string]LabelUnit
	// LowerIsBetter declares the direction; every metric has one.
	LowerIsBetter bool
	// Verdict says that variants are compared by it; other metrics explain.
	Verdict bool
	// Share says that it is a share of a whole, 0 to 1: effects in it are
	// differences in percentage points.
	Share bool
	// Bucket is how wide the buckets are of the histogram that values are read from, as a share
	// of the value; 0: they are read from none.
	Bucket float64
	// NS is how an effect in the metric is converted to ns per packet.
	NS NSKind
	// Zero is what 0 means where the source rounds down: "below 1 ms"; "" is none at all.
	Zero string
}

// latencyBucket is that of load.Histogram, 64 to a power of two.
const latencyBucket = 1.0 / 64

// NSKind says how a metric's difference is converted to nanoseconds.
type NSKind int

// A metric may have no meaning in ns, be ns, be a rate whose inverse is, or a time
// for which nanoseconds are too fine: a request's.
const (
	NoNS NSKind = iota
	IsNS
	InverseNS
	IsTime
)

// LabelUnit is what a metric is called.
type LabelUnit struct{ Label, Unit string }

// In is the metric in the words of a workload.
func (m Metric) In(workload string) Metric {
	if w, ok := m.Words[workload]; ok {
		m.Label, m.Unit = w.Label, w.Unit
	}
	return m
}

// asking says what a part must request in addition to its mode.
func (m Metric) asking() string {
	if m.Answers == "" {
		return ""
	}
	return " with " + m.Answers
}

// Text is a value of the metric for people, with its unit.
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
	case "CPUs": // mostly parts of one
		return show.Grouped(v, 3) + " " + m.Unit
	case "B":
		return show.Bytes(v)
	case "s":
		return show.Nanos(1e9 * v)
	case "requests/s": // a quiet server's are parts of one
		if v != 0 && math.Abs(v) < 0.0995 {
			return show.Grouped(v, 4) + " " + m.Unit
		}
	case "units": // a user's own number, of unknown magnitude
		return show.Value(v)
	case "":
		return show.Loss(v) // ratios
	}
	return show.Digits(v) + " " + m.Unit // as a study names it
}

// Metrics are all that trials measure, in the order reports show them.
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
	var names []string
	for _, m := range Metrics() {
		if m.Verdict {
			names = append(names, m.Name)
		}
	}
	return names
}

// metricNames are what a part measures.
func (p Part) metricNames() (names []string) {
	for _, m := range KindOf(p).metrics() {
		if p.yields(m) {
			names = append(names, m.Name)
		}
	}
	return names
}
