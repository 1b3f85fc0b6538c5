package report

import (
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// value prints a metric's value with its unit.
func value(m study.Metric, v float64) string {
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

// armName is what people read for an arm.
func armName(r study.Results, arm string) string {
	if arm == study.AA {
		return r.Control + " again (A/A)"
	}
	return arm
}

// arms lists the variants of a part in the order of the verdicts, the control
// first and its second arm next.
func arms(r study.Results, part string) []string {
	out := []string{r.Control}
	seen := map[string]bool{r.Control: true}
	add := func(arm string) {
		if !seen[arm] {
			seen[arm] = true
			out = append(out, arm)
		}
	}
	for _, t := range r.Trials {
		if t.Part == part && t.Variant == study.AA {
			add(study.AA)
		}
	}
	for _, v := range r.Verdicts {
		if v.Part == part {
			add(v.Variant)
		}
	}
	for _, t := range r.Trials {
		if t.Part == part && t.Unavailable == "" {
			add(t.Variant)
		}
	}
	return out
}

// values are an arm's valid values of a metric in a part.
func values(r study.Results, part, arm, metric string) []float64 {
	var out []float64
	for _, t := range r.Trials {
		if v, ok := t.Metrics[metric]; ok && t.Valid && t.Part == part && t.Variant == arm {
			out = append(out, v)
		}
	}
	return out
}

// mean of values; NaN of none.
func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// parts lists the parts that have trials, in order.
func parts(r study.Results) []string {
	var out []string
	for _, t := range r.Trials {
		if len(out) == 0 || out[len(out)-1] != t.Part {
			known := false
			for _, p := range out {
				known = known || p == t.Part
			}
			if !known {
				out = append(out, t.Part)
			}
		}
	}
	return out
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
	all := parts(r)
	for _, p := range all {
		if len(values(r, p, r.Control, m.Name)) > 0 {
			return m, p
		}
	}
	if len(all) > 0 { // where no trial was valid
		return m, all[0]
	}
	return m, ""
}
