package study

import (
	"linerate/internal/list"
)

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
