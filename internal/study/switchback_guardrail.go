package study

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/show"
)

// Guardrail is a one-sided limit that, when exceeded, ends the study and restores the host.
type Guardrail struct {
	Name string
	// Limit is the limit of the value itself.
	Limit float64
	// HarmPercent, if positive, is instead the largest permitted excess over the
	// control's value, in percent.
	HarmPercent float64
	// Checks is how many consecutive checks must exceed the limit; 0 means one.
	Checks int
	// InARow is set if a value is 1 at a look at which something occurred, else 0, and the guardrail
	// limits consecutive looks: it trips if there are more than the control shows by chance.
	InARow bool
	// Unit is the unit of the value: "s", "%" for a share of 1, a metric's name for the
	// metric's unit, a word, or "" for a plain number.
	Unit string
	// Floor is added to a value before comparison, so that twice a negligible value is no
	// harm. Inverse is set if higher values are better: the reciprocal is compared, since
	// the limit is one-sided.
	Floor   float64
	Inverse bool
}

// known converts a compared value back to the units that people know.
func (g Guardrail) known(v float64) float64 {
	if g.Inverse {
		return 1 / v
	}
	return max(0, v-g.Floor)
}

// In formats a value of the guardrail, with its unit.
func (g Guardrail) In(v float64) string { return inUnit(g.Unit, v) }

// in formats a compared value.
func (g Guardrail) in(v float64) string { return g.In(g.known(v)) }

func inUnit(unit string, v float64) string {
	if i := slices.IndexFunc(switchbackMetrics, func(m Metric) bool { return m.Name == unit }); i >= 0 {
		return switchbackMetrics[i].Text(v)
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

// Nearest is how close a guardrail came to tripping in a window, and the values at that
// time.
type Nearest struct {
	Share float64 `json:"share"` // of the limit; it trips at 1
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`
	Unit  string  `json:"unit,omitempty"`
	At    float64 `json:"at_seconds"` // since the start of the window
}

// Trip is the guardrail that ended a study, with its numbers.
type Trip struct {
	Guardrail string  `json:"guardrail"`
	Value     float64 `json:"value"`
	Limit     float64 `json:"limit"`
	Text      string  `json:"text"`
	// After is the treatment whose following window, which was untreated, showed the
	// harm; "" if the treated window itself did.
	After string `json:"after,omitempty"`
}

// Watch applies a guardrail during one study.
type Watch struct {
	Guardrail
	control, treated moments
	usual            moments          // the control's values, not converted
	arm              string           // treatment to which treated and rows belong
	shown            map[string]shown // of the other treatments
	beyond           int
	// rows are consecutive looks with the event (InARow) or with a value above zero.
	rows runs
	// Nearest is the closest approach over all checks of the window.
	Nearest Nearest
}

// LateWatch applies a guardrail to harm that appears one window late. The treatment's windows
// cannot show such harm, because they follow treated windows as often as the control's do. So it
// compares the control's windows after a treated window with the other control windows.
type LateWatch struct {
	watch      Watch
	arm, after string // of this window; treatment of the previous window, if any
	followed   int    // number of windows after a treated one
}

// Late returns a watch for late harm. It allows more harm than g, because it has fewer windows to judge from.
func (g Guardrail) Late() *LateWatch {
	g.HarmPercent *= lateHarm
	return &LateWatch{watch: Watch{Guardrail: g}}
}

// lateHarm and leastFollowed keep bursts by a third, which fill a window, from ending more
// than three in a hundred studies (linerate-bench prove).
const (
	lateHarm      = 2.5
	leastFollowed = 2
)

// Begin starts a window of an arm.
func (l *LateWatch) Begin(arm string) {
	l.after = ""
	if (WindowSlot{Arm: l.arm}).Treated() {
		l.after = l.arm
	}
	if l.arm = arm; l.after != "" && !(WindowSlot{Arm: arm}).Treated() {
		l.watch.Begin(l.after)
		l.followed++
	}
}

// Check takes a value of an untreated window, the given number of seconds after its start.
func (l *LateWatch) Check(v, at float64) (Trip, bool) {
	if l.after == "" {
		l.watch.Control(v)
		return Trip{}, false
	}
	t, trips := l.watch.Check(v, at)
	t.After, t.Text = l.after, t.Text+", in the window after "+l.after
	return t, trips && l.followed >= leastFollowed
}

// certainty is how many standard errors a relative harm must exceed its limit by: of
// 2500 simulated harmless studies of 24 pairs, none was ended without bursts, and
// about one in a hundred with bursts by a third (linerate-bench prove).
const certainty = 4.0

// leastSamples is the number of samples of a treatment and of the control needed to judge a relative harm.
const leastSamples = 3

// leastShare of the usual value stands in for zero where higher values are better, since
// zero has no reciprocal and no harm is greater.
const leastShare = 0.01

// Begin starts a window of an arm. It keeps what earlier windows of the same treatment showed, since
// several windows may show a harm that one short window cannot. It sets aside what other treatments
// showed: a harmless one would hide the harm, and a harmful one would be blamed on this one.
func (w *Watch) Begin(arm string) {
	w.beyond, w.Nearest = 0, Nearest{}
	if w.arm == arm || !(WindowSlot{Arm: arm}).Treated() {
		return
	}
	if w.shown == nil {
		w.shown = map[string]shown{}
	}
	w.shown[w.arm] = shown{w.treated, w.rows.now}
	w.treated, w.rows.now = w.shown[arm].treated, w.shown[arm].now
	w.arm = arm
}

// shown is what the windows of one treatment have shown so far.
type shown struct {
	treated moments
	now     float64 // length of the current run of looks
}

// turned converts a value to the compared form; the result is not positive if it cannot be compared.
func (w *Watch) turned(v float64) float64 {
	if !w.Inverse {
		return v + w.Floor
	}
	if w.usual.mean <= 0 {
		return 0
	}
	return 1 / max(v, leastShare*w.usual.mean)
}

// Control takes a value from an untreated window.
func (w *Watch) Control(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if w.InARow {
		w.rows.control(v > 0)
		return
	}
	if w.HarmPercent <= 0 {
		return
	}
	w.usual.add(v, longMemory)
	v = w.turned(v)
	w.rows.control(v > 0)
	if v > 0 {
		w.control.add(math.Log(v), memory)
	}
}

// memory is how many recent values determine a level: traffic changes, and its level
// an hour ago does not tell what is harm now.
const memory = 40

// longMemory is the memory for the usual value: after a while of zeros, values are still
// compared with those before.
const longMemory = 10 * memory

// Check takes a value from a treated window, the given number of seconds after its start,
// and reports whether the guardrail trips. It ignores NaN and infinities.
func (w *Watch) Check(v, at float64) (Trip, bool) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Trip{}, false
	}
	if w.InARow {
		w.rows.treated(v > 0)
		return w.inARow(at)
	}
	v = w.turned(v)
	limit, over := w.Limit, v > w.Limit
	reach, seen := v/w.Limit, v
	if w.HarmPercent > 0 {
		w.rows.treated(v > 0)
		if t, is := w.fromNothing(v); is {
			return t, true
		}
		limit, reach, over = w.harm(v)
		seen = math.Exp(w.treated.mean)
	}
	if known := w.HarmPercent == 0 || w.control.n >= leastSamples && w.treated.n > 0; known {
		w.near(reach, w.known(seen), w.known(limit), at)
	}
	if !over {
		w.beyond = 0
		return Trip{}, false
	}
	if w.beyond++; w.beyond < max(1, w.Checks) {
		return Trip{}, false
	}
	t := Trip{Guardrail: w.Name, Value: w.known(v), Limit: w.known(limit)}
	t.Text = fmt.Sprintf("%s was %s, beyond %s", w.Name, w.in(v), w.in(limit))
	if w.HarmPercent > 0 {
		t.Text += fmt.Sprintf(" (%s the control's %s)", w.allowed(), w.in(math.Exp(w.control.mean)))
	}
	return t, true
}

// near records the closest approach in the window.
func (w *Watch) near(share, value, limit, at float64) {
	if share > w.Nearest.Share || w.Nearest == (Nearest{}) {
		w.Nearest = Nearest{Share: share, Value: value, Limit: limit, Unit: w.Unit, At: at}
	}
}

// allowed describes the permitted harm.
func (w *Watch) allowed() string {
	if w.Inverse {
		return show.Percent(100-100/(1+w.HarmPercent/100)) + " below"
	}
	return show.Percent(w.HarmPercent) + " above"
}

// inARow tests the current run of looks under treatment.
func (w *Watch) inARow(at float64) (Trip, bool) {
	limit, over := w.rows.beyond()
	if limit == 0 {
		return Trip{}, false
	}
	w.near(w.rows.now/limit, w.rows.now, limit, at)
	return Trip{Guardrail: w.Name, Value: w.rows.now, Limit: limit,
		Text: fmt.Sprintf("%s: %.0f in a row, of which %.0f are too many (the control had %.0f at most)", w.Name, w.rows.now, limit, w.rows.longest)}, over
}

// fromNothing trips if the control's value is mostly zero and the treatment's is not: a
// percentage of zero is undefined.
func (w *Watch) fromNothing(v float64) (Trip, bool) {
	if _, over := w.rows.beyond(); !over || w.rows.so > w.rows.not {
		return Trip{}, false
	}
	w.near(1, w.known(v), 0, 0)
	return Trip{Guardrail: w.Name, Value: w.known(v),
		Text: fmt.Sprintf("%s was %s, and above nothing at %.0f looks in a row (the control had %.0f at most)", w.Name, w.in(v), w.rows.now, w.rows.longest)}, true
}

// harm tests whether the treatment's values so far exceed the control's by more than
// the permitted harm, on a logarithmic scale.
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

// moments are a mean, a variance and a lag-1 autocovariance, weighted towards
// recent values.
type moments struct{ n, mean, variance, lagged, last float64 }

// add takes a value; most bounds the number of values that count.
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

// error returns the squared standard error of a mean of n values;
// autocorrelation reduces their effective number.
func (m *moments) error(n float64) float64 {
	r := 0.0
	if m.variance > 0 {
		r = min(mostAlike, max(0, m.lagged/m.variance))
	}
	return m.variance / max(1, n*(1-r)/(1+r)-1)
}

// mostAlike bounds the autocorrelation that so few values can reveal.
const mostAlike = 0.95
