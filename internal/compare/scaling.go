package compare

import (
	"math"

	"linerate/internal/show"
	"linerate/internal/stats"
)

// Scaling is what `compare scaling --json` prints.
type Scaling struct {
	Version  int      `json:"version"`
	Points   int      `json:"points"`
	Gamma    Estimate `json:"gamma"`
	Sigma    Estimate `json:"sigma"`
	Kappa    Estimate `json:"kappa"`
	Peak     Estimate `json:"peak_cores"`
	Warnings []string `json:"warnings"`
}

// Estimate is an Estimate with its 95 % interval.
type Estimate struct {
	Estimate stats.Number `json:"estimate"`
	Low      stats.Number `json:"ci_low"`
	High     stats.Number `json:"ci_high"`
}

func bounds(i stats.Interval) Estimate {
	return Estimate{stats.Num(i.Estimate), stats.Num(i.Low), stats.Num(i.High)}
}

// ScalingOf is a fit to so many points.
func ScalingOf(u stats.USL, n []float64) Scaling {
	d := Scaling{Version: 1, Points: len(n), Gamma: bounds(u.Gamma), Sigma: bounds(u.Sigma), Kappa: bounds(u.Kappa), Peak: bounds(u.Peak), Warnings: []string{}}
	for _, w := range u.Warnings {
		d.Warnings = append(d.Warnings, w.Message+": "+w.Action)
	}
	return d
}

// PrintScaling shows a fit: each number of cores n with its rate x, and the law's terms.
func PrintScaling(p *show.Page, u stats.USL, n, x []float64) {
	t := show.Table{Header: []string{"cores", "measured", "fitted", "of ideal"}, Right: []bool{true, true, true, true}}
	for i := range n {
		t.Add(show.Grouped(n[i], 0), show.Digits(x[i]), show.Digits(u.At(n[i])), show.Percent(100*x[i]/(n[i]*u.Gamma.Estimate)))
	}
	p.Table(t)
	p.Line("")
	with := func(i stats.Interval) string {
		return show.Digits(i.Estimate) + " [" + show.Digits(i.Low) + ", " + show.Digits(i.High) + "]"
	}
	share := func(i stats.Interval) string {
		return show.Percent(100*i.Estimate) + " [" + show.Percent(100*i.Low) + ", " + show.Percent(100*i.High) + "]"
	}
	p.Line("  one core      " + with(u.Gamma))
	p.Line("  contention    " + share(u.Sigma) + " of the work is done by one core at a time (σ)")
	p.Line("  coherency     " + share(u.Kappa) + " is lost to agreement, for each pair of cores (κ)")
	switch {
	case math.IsInf(u.Peak.Estimate, 1):
		p.Line("  peak          none: more cores never make it slower")
	case len(u.Warnings) > 0:
		p.Line("  peak          none within twice the cores measured")
	default:
		p.Line("  peak          " + with(u.Peak) + " cores; more make it slower")
	}
	p.Line("")
	p.Paragraph("  ", "  ", u.Limit())
	for _, warning := range u.Warnings {
		p.Paragraph("  warning: ", "           ", warning.Message+": "+warning.Action)
	}
}
