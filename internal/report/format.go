// Package report renders a study's results: for a terminal, as plain text
// elsewhere, and as one self-contained HTML page. It is pure: results in,
// bytes out.
package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"linerate/internal/stats"
	"linerate/internal/study"
)

// Rate prints packets per second with three digits and a prefix.
func Rate(pps float64) string { return si(pps, "pps") }

// Nanos prints a time given in nanoseconds with three digits and its unit.
func Nanos(ns float64) string {
	a := math.Abs(ns)
	switch {
	case a < 999.5:
		return digits(ns) + " ns"
	case a < 999.5e3:
		return digits(ns/1e3) + " µs"
	case a < 999.5e6:
		return digits(ns/1e6) + " ms"
	}
	return digits(ns/1e9) + " s"
}

func si(v float64, unit string) string {
	a := math.Abs(v)
	switch {
	case a < 999.5:
		return digits(v) + " " + unit
	case a < 999.5e3:
		return digits(v/1e3) + " k" + unit
	case a < 999.5e6:
		return digits(v/1e6) + " M" + unit
	}
	return digits(v/1e9) + " G" + unit
}

// digits prints three significant digits without an exponent.
func digits(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case a >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// value prints a metric's value with its unit.
func value(m study.Metric, v float64) string {
	switch m.Unit {
	case "pps":
		return Rate(v)
	case "ns":
		return Nanos(v)
	case "ns/packet":
		return study.Grouped(v, 0) + " ns"
	case "frames":
		return study.Grouped(v, 0) + " frames"
	case "s":
		return Nanos(1e9 * v)
	}
	return fmt.Sprintf("%.2f %%", 100*v) // ratios
}

// percent prints an effect with one decimal below a hundred.
func percent(v float64) string {
	switch a := math.Abs(v); {
	case a >= 99_999.5: // of very few, very unlike blocks
		return ">" + study.Signed(99_999, 0) + " %"
	case a >= 99.95:
		return study.Signed(v, 0) + " %"
	}
	return study.Signed(v, 1) + " %"
}

// optional prints a number that may be unknown.
func optional(n stats.Number, print func(float64) string) string {
	v, ok := n.Get()
	if !ok {
		return "–"
	}
	return print(v)
}

// interval prints a 95 % interval in percent.
func interval(e stats.Effect) string {
	if !e.CILow.Known() || !e.CIHigh.Known() {
		return "–"
	}
	return fmt.Sprintf("[%s, %s]", strings.TrimSuffix(percent(e.CILow.Float()), " %"), strings.TrimSuffix(percent(e.CIHigh.Float()), " %"))
}

// pValue prints a p-value as papers do.
func pValue(n stats.Number) string {
	switch p, ok := n.Get(); {
	case !ok:
		return "–"
	case p < 0.001:
		return "< 0.001"
	default:
		return fmt.Sprintf("%.3f", p)
	}
}

// clock prints a duration as minutes and seconds.
func clock(d time.Duration) string {
	s := int(math.Round(d.Seconds()))
	return fmt.Sprintf("%d:%02d", s/60, s%60)
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
			m, _ := study.MetricNamed(v.Metric)
			return m, v.Part
		}
	}
	m, _ := study.MetricNamed(r.AA.Metric)
	return m, ""
}
