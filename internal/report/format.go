package report

import (
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// value prints a metric's value with its unit.
func value(m study.Metric, v float64) string {
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
	case "":
		return show.Loss(v) // ratios
	}
	return show.Digits(v) + " " + m.Unit // as a study names it
}

// measured prints the value of a metric that may be unknown.
func measured(m study.Metric, n stats.Number) string {
	return show.Optional(n, func(v float64) string { return value(m, v) })
}

// primary is the goal's metric and part, from any verdict.
func primary(r study.Results) (metric study.Metric, part string) {
	for _, v := range r.Verdicts {
		if v.Primary {
			m, _ := r.Metric(v.Metric)
			return m, v.Part
		}
	}
	m, _ := r.Metric(r.AA.Metric)
	all := r.Measured()
	for _, p := range all {
		if len(r.Values(p, r.Control, m.Name)) > 0 {
			return m, p
		}
	}
	if len(all) > 0 { // where no trial was valid
		return m, all[0]
	}
	return m, ""
}
