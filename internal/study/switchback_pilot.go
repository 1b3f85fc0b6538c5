package study

import (
	"fmt"
	"math"
	"time"

	"linerate/internal/show"
	"linerate/internal/stats"
)

// Pilot describes the scatter of a metric, observed without any change.
type Pilot struct {
	Every time.Duration // between values
	N     int
	SD    float64 // of the values' logarithms
	Zeros int     // number of zeros, which have no logarithm
	// Memory is the share of the variance that persists, and Fade its decay from one value to
	// the next: the autocorrelation at lag k is Memory·Fadeᵏ. The rest is noise of the
	// individual values.
	Memory, Fade float64
}

// leastPilot is the smallest number of values from which scatter can be estimated.
const leastPilot = 8

// PilotOf estimates the scatter of positive values taken at equal intervals; ok is false for too
// few values, or values without scatter (the pilot then still counts them). The autocorrelation is
// that of an AR(1) process observed with noise, from its first two lags (method of moments).
func PilotOf(values []float64, every time.Duration) (p Pilot, ok bool) {
	var x []float64
	for _, v := range values {
		switch {
		case v == 0:
			p.Zeros++
		case v > 0 && !math.IsInf(v, 0):
			x = append(x, math.Log(v))
		}
	}
	if p.Every, p.N = every, len(x); p.N < leastPilot {
		return p, false
	}
	if p.SD = stats.Summarise(x).SD; p.SD < 1e-12 { // only rounding errors
		return p, false
	}
	one, two := stats.Autocorrelation(x, 1), stats.Autocorrelation(x, 2)
	if limit := 2 / math.Sqrt(float64(len(x))); one > limit { // else it cannot be told from zero
		p.Fade = min(0.99, max(0.05, two/one))
		p.Memory = min(1, one/p.Fade)
	}
	return p, true
}

// Lacks returns why a pilot shows no scatter; "" if it does.
func (p Pilot) Lacks() string {
	switch {
	case p.N >= leastPilot && p.SD >= 1e-12:
		return ""
	case p.N >= leastPilot:
		return "always the same"
	case p.N == 0 && p.Zeros > 0:
		return "always 0"
	case p.N+p.Zeros == 0:
		return "no values"
	case p.Zeros > 0:
		return "nearly always 0"
	}
	return "too few values"
}

// PairSD returns the standard deviation of a pair's effect, on the logarithmic
// scale, for the design's windows: that of the difference between the means of
// two adjacent windows without their burn-in.
func (p Pilot) PairSD(d WindowPlan) float64 {
	perWindow, burn := float64(d.Window)/float64(p.Every), float64(d.BurnIn)/float64(p.Every)
	n := max(1, math.Floor(perWindow-burn))
	own := 1 + 2*p.sum(n, func(k float64) float64 { return (1 - k/n) * p.at(k) })
	gap := perWindow - n // from the last value of one window to the first of the next
	shared := p.sum(2*n, func(k float64) float64 { return (1 - math.Abs(k-n)/n) * p.at(k+gap) })
	return p.SD * math.Sqrt(max(0, 2*(own-shared))/n)
}

// freePrecision is the factor by which a longer burn-in may increase the scatter of a pair's effect.
const freePrecision = 1.05

// BurnIn returns how long a window's burn-in can be at no cost, from the design's up to half the
// window: slow fluctuations scatter as much over half a window, and a slow effect has time to develop.
func (p Pilot) BurnIn(d WindowPlan) time.Duration {
	longer, most := d, freePrecision*p.PairSD(d)
	if p.Lacks() != "" || d.Window < 10*p.Every {
		return d.BurnIn
	}
	for longer.BurnIn += d.Window / 10; longer.BurnIn <= d.Window/2 && p.PairSD(longer) <= most; longer.BurnIn += d.Window / 10 {
		d.BurnIn = longer.BurnIn
	}
	return d.BurnIn
}

// sum returns f(1) + … + f(n−1); 0 without memory.
func (p Pilot) sum(n float64, f func(float64) float64) (s float64) {
	if p.Memory == 0 {
		return 0
	}
	for k := 1.0; k < n; k++ {
		s += f(k)
	}
	return s
}

// at returns the autocorrelation at lag k.
func (p Pilot) at(k float64) float64 { return p.Memory * math.Pow(p.Fade, k) }

// HalfWidth estimates half the width of an effect's 95 % interval, in percent, for
// a study of the given duration; NaN if that is too short to decide.
func (p Pilot) HalfWidth(d WindowPlan, in time.Duration) float64 {
	n := d.PairsIn(in)
	if n < stats.LeastPairs {
		return math.NaN()
	}
	return stats.Percent(stats.TQuantile(0.975, float64(n-1)) * p.PairSD(d) / math.Sqrt(float64(n)))
}

// leastForecast is the smallest half-width, in percent, that a forecast states, so as not
// to promise more.
const leastForecast = 0.1

// PrintForecast shows what studies of one hour, six hours and a day could detect, from the
// pilots of each metric.
func PrintForecast(page *show.Page, s Spec, pilots map[string]Pilot) {
	design := PlanOf(s, s.Parts[0])
	t := show.Table{Header: []string{"metric", "scatter", "in 1 h", "in 6 h", "in 24 h"}, Right: []bool{false, true, true, true, true}}
	for _, g := range s.Metrics {
		m, _ := MetricNamed(g.Metric)
		p := pilots[g.Metric]
		if lacks := p.Lacks(); lacks != "" {
			t.Add(m.Label, lacks, "", "", "")
			continue
		}
		row := []string{m.Label, show.Percent(100 * p.SD)}
		for _, in := range []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour} {
			row = append(row, switchbackHalfWidth(p.HalfWidth(design, in)))
		}
		t.Add(row...)
	}
	page.Line(fmt.Sprintf("What a study with windows of %s would show (half the 95 %% interval), if the traffic stays as it was:", design.Window))
	page.Table(t)
}

// The largest number of pairs that a pilot may ask for (a night and a day of default windows, with
// shams), and the number for a study whose pilot shows no scatter.
const mostPlanned, unplanned = 48, 12

// plannedPower is the power with which a study detects the effect that it is planned for.
const plannedPower = 0.8

// sees returns the smallest effect, in percent, that the pairs detect with a power of 0.8.
func (p Pilot) sees(d WindowPlan, pairs int) float64 {
	return stats.Percent(stats.MinimumDetectableEffect(p.PairSD(d), pairs, alpha/float64(len(d.Treatments)), plannedPower))
}

// Planned returns the study with the number of pairs that its pilot shows to be needed, and why.
func (s Spec) Planned(pilots map[string]Pilot) (planned Spec, pairs int, why string) {
	part, t := s.Parts[0], s.Parts[0].terms()
	if t.PlanPercent == 0 {
		return s, 0, ""
	}
	d, p := PlanOf(s, part), pilots[s.Primary().Metric]
	m, _ := MetricNamed(s.Primary().Metric)
	if d.Pairs, pairs = max(d.Pairs, d.LeastPairs()), unplanned; p.Lacks() == "" && !m.Share {
		pairs = stats.BlocksFor(p.PairSD(d), math.Log1p(t.PlanPercent/100), alpha/float64(len(d.Treatments)), plannedPower, planLimit)
		if pairs == 0 {
			pairs = planLimit
		}
		needs, hour := d, d.PairsIn(time.Hour)
		needs.Pairs = pairs
		why = fmt.Sprintf("to see %s with a power of %g takes %s, %s", show.Percent(t.PlanPercent), plannedPower, show.Plural(pairs, "pair"), show.Clock(needs.Duration()))
		if pairs > d.Pairs {
			why += fmt.Sprintf("; the %d of this study see %s", d.Pairs, show.Percent(p.sees(d, d.Pairs)))
		}
		if hour >= d.LeastPairs() {
			why += fmt.Sprintf("; an hour sees %s", show.Percent(p.sees(d, hour)))
		}
	}
	d.Pairs = min(d.Pairs, max(pairs, d.LeastPairs()))
	t.PlanPercent, part.Blocks, part.Live = 0, d.BlocksFor(d.Pairs), &t
	precision := 0.0
	if s.Looks != nil {
		precision = s.Looks.PrecisionPercent
	}
	s.Parts, s.Looks = []Part{part}, d.LooksOf(d.Pairs, precision)
	return s, d.Pairs, why
}

// planLimit is the number of pairs at which planning stops.
const planLimit = 10_000

func switchbackHalfWidth(percent float64) string {
	switch {
	case math.IsNaN(percent):
		return "cannot decide"
	case percent < leastForecast:
		return "< ±" + show.Percent(leastForecast)
	}
	return "±" + show.Percent(percent)
}
