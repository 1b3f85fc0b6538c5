package switchback

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/show"
	"linerate/internal/study"
)

// Guardrail is a one-sided limit that ends the study and puts the host back.
type Guardrail struct {
	Name string
	// Limit on the value itself; the value must stay below it.
	Limit float64
	// HarmPercent, where positive, is instead the worst that the value may be beyond
	// the control's in percent: higher values are the harmful ones (the caller turns
	// metrics round of which higher is better).
	HarmPercent float64
	// Checks in a row that must be beyond the limit; 0 is one.
	Checks int
	// Unit of the value: "s", "%" of a share of 1, a metric's name for its own, words, or
	// "" of a plain number.
	Unit string
	// Floor is in the value beside what it is of, so that twice next to nothing is no harm,
	// and Inverse says that it is one over what people know: in a limit that is one-sided
	// higher is worse.
	Floor   float64
	Inverse bool
}

// known is a value as people know it.
func (g Guardrail) known(v float64) float64 {
	if g.Inverse {
		return 1 / v
	}
	return max(0, v-g.Floor)
}

// In is a value of the guardrail for people, with its unit.
func (g Guardrail) In(v float64) string { return inUnit(g.Unit, g.known(v)) }

func inUnit(unit string, v float64) string {
	if i := slices.IndexFunc(metrics, func(m study.Metric) bool { return m.Name == unit }); i >= 0 {
		return ValueText(metrics[i], v)
	}
	switch unit {
	case "%":
		return show.Percent(100 * v)
	case "s":
		return show.Nanos(1e9 * v)
	}
	if unit != "" {
		return show.Digits(v) + " " + unit
	}
	return show.Value(v)
}

// Nearest is how near a guardrail came to tripping in a window, and what it saw then, as
// people know it.
type Nearest struct {
	Share float64 `json:"share"` // of the way to the limit: 1 trips
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`
	Unit  string  `json:"unit,omitempty"`
	At    float64 `json:"at_seconds"` // of the window
}

// Trip says which guardrail ended a study, with its numbers.
type Trip struct {
	Guardrail string  `json:"guardrail"`
	Value     float64 `json:"value"`
	Limit     float64 `json:"limit"`
	Text      string  `json:"text"`
}

// Watch is a guardrail at work over one study.
type Watch struct {
	Guardrail
	control, treated moments
	beyond           int
	// Nearest is the nearest that any check of the window saw.
	Nearest Nearest
}

// certainty is how many standard errors a relative harm must be beyond its limit: of
// 2500 simulated studies of 24 pairs without bursts none is ended without harm, of
// those with bursts of a third about one in a hundred (linerate-bench prove).
const certainty = 4.0

// leastSamples of a treatment and of the control that a relative harm needs.
const leastSamples = 3

// Begin starts a window. What the last ones showed stays: harm that a short window
// cannot show, several do.
func (w *Watch) Begin() { w.beyond, w.Nearest = 0, Nearest{} }

// Control takes a value from a window without treatment, after its burn-in.
func (w *Watch) Control(v float64) {
	if w.HarmPercent > 0 && v > 0 {
		w.control.add(math.Log(v), memory)
	}
}

// memory is how many of the last values a level is taken from: traffic moves, and what
// it was an hour ago is no measure of harm now.
const memory = 40

// Check takes a value from a window under treatment, so many seconds after its begin, and
// says whether the guardrail trips.
func (w *Watch) Check(v, at float64) (Trip, bool) {
	if math.IsNaN(v) {
		return Trip{}, false
	}
	limit, over := w.Limit, v > w.Limit
	reach, seen := v/w.Limit, v
	if w.HarmPercent > 0 {
		limit, reach, over = w.harm(v)
		seen = math.Exp(w.treated.mean)
	}
	if known := w.HarmPercent == 0 || w.control.n >= leastSamples && w.treated.n > 0; known && (reach > w.Nearest.Share || w.Nearest == (Nearest{})) {
		w.Nearest = Nearest{Share: reach, Value: w.known(seen), Limit: w.known(limit), Unit: w.Unit, At: at}
	}
	if !over {
		w.beyond = 0
		return Trip{}, false
	}
	if w.beyond++; w.beyond < max(1, w.Checks) {
		return Trip{}, false
	}
	t := Trip{Guardrail: w.Name, Value: v, Limit: limit}
	t.Text = fmt.Sprintf("%s was %s, beyond %s", w.Name, w.In(v), w.In(limit))
	if w.HarmPercent > 0 {
		t.Text += fmt.Sprintf(" (%s above the control's %s)", show.Percent(w.HarmPercent), w.In(math.Exp(w.control.mean)))
	}
	return t, true
}

// harm tests whether the window's values so far are beyond the control's by more than
// the stated harm, on the logarithms.
func (w *Watch) harm(v float64) (limit, reach float64, over bool) {
	limit = math.Exp(w.control.mean) * (1 + w.HarmPercent/100)
	if v <= 0 || w.control.n < leastSamples {
		return limit, 0, false
	}
	w.treated.add(math.Log(v), memory)
	allowed := math.Log1p(w.HarmPercent / 100)
	excess := w.treated.mean - w.control.mean
	if w.treated.n < leastSamples {
		return limit, max(0, excess/allowed), false
	}
	se := math.Sqrt(w.control.error(w.control.n) + max(w.control.error(w.treated.n), w.treated.error(w.treated.n)))
	return limit, max(0, excess/(allowed+certainty*se)), excess-allowed > certainty*se
}

// moments are a mean, a variance and a lag-1 autocovariance that follow the last
// values.
type moments struct{ n, mean, variance, lagged, last float64 }

// add takes a value; most is how many values weigh.
func (m *moments) add(v, most float64) {
	m.n = min(m.n+1, most)
	share, d, before := 1/m.n, v-m.mean, m.last-m.mean
	m.mean += share * d
	m.variance = (1 - share) * (m.variance + share*d*d)
	if m.n > 1 {
		m.lagged += share * (d*before - m.lagged)
	}
	m.last = v
}

// error is the squared standard error of a mean of n such values, fewer of which
// count where neighbours resemble each other.
func (m *moments) error(n float64) float64 {
	r := 0.0
	if m.variance > 0 {
		r = min(mostAlike, max(0, m.lagged/m.variance))
	}
	return m.variance / max(1, n*(1-r)/(1+r)-1)
}

// mostAlike bounds the autocorrelation that so few values can show.
const mostAlike = 0.95
