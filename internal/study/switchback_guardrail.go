package study

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/show"
)

// Guardrail is a one-sided limit that ends the study and puts the host back.
type Guardrail struct {
	Name string
	// Limit on the value itself; the value must stay below it.
	Limit float64
	// HarmPercent, where positive, is instead the worst that the value may be beyond
	// the control's in percent.
	HarmPercent float64
	// Checks in a row that must be beyond the limit; 0 is one.
	Checks int
	// InARow says that a value is 1 at a look at which something was so, else 0, and that
	// the guardrail is on looks in a row: more than chance has, by the control's.
	InARow bool
	// Unit of the value: "s", "%" of a share of 1, a metric's name for its own, words, or
	// "" of a plain number.
	Unit string
	// Floor is added to a value before it is compared, so that twice next to nothing is no
	// harm. Inverse says that a higher value is the better one: what is compared is one
	// over it, for in a limit that is one-sided higher is worse.
	Floor   float64
	Inverse bool
}

// known is what is compared, as people know it.
func (g Guardrail) known(v float64) float64 {
	if g.Inverse {
		return 1 / v
	}
	return max(0, v-g.Floor)
}

// In is a value of the guardrail for people, with its unit.
func (g Guardrail) In(v float64) string { return inUnit(g.Unit, v) }

// in is what is compared, for people.
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
	// After is the treatment whose next window, without it, showed the harm; "" where the
	// window's own did.
	After string `json:"after,omitempty"`
}

// Watch is a guardrail at work over one study.
type Watch struct {
	Guardrail
	control, treated moments
	usual            moments          // the control's values as people know them
	arm              string           // of the treatment whose windows treated and rows are of
	shown            map[string]shown // of the others
	beyond           int
	// rows are looks in a row: of what InARow is on, else with a value above nothing.
	rows runs
	// Nearest is the nearest that any check of the window saw.
	Nearest Nearest
}

// LateWatch is a guardrail at work on harm that comes a window late. The treatment's windows
// cannot show that: as many of them as of the control's follow another. It compares the
// control's windows that follow a treatment's with the others.
type LateWatch struct {
	watch      Watch
	arm, after string // of this window, and of the one before where that had a treatment
	followed   int    // windows that did
}

// Late watches for more harm than g allows at once: it has fewer windows to tell from.
func (g Guardrail) Late() *LateWatch {
	g.HarmPercent *= lateHarm
	return &LateWatch{watch: Watch{Guardrail: g}}
}

// lateHarm and leastFollowed keep bursts of a third, which fill a window, from ending more
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

// Check takes a value of a window without treatment, so many seconds after its begin.
func (l *LateWatch) Check(v, at float64) (Trip, bool) {
	if l.after == "" {
		l.watch.Control(v)
		return Trip{}, false
	}
	t, trips := l.watch.Check(v, at)
	t.After, t.Text = l.after, t.Text+", in the window after "+l.after
	return t, trips && l.followed >= leastFollowed
}

// certainty is how many standard errors a relative harm must be beyond its limit: of
// 2500 simulated studies of 24 pairs without bursts none is ended without harm, of
// those with bursts of a third about one in a hundred (linerate-bench prove).
const certainty = 4.0

// leastSamples of a treatment and of the control that a relative harm needs.
const leastSamples = 3

// leastShare of what is usual stands for nothing at all where a higher value is the better
// one: one over nothing is no number, and no harm is greater.
const leastShare = 0.01

// Begin starts a window of an arm. What the last ones of the same treatment showed stays:
// harm that a short window cannot show, several do. What those of another showed is none of
// this one's: a harmless one would hide the harm, and a harmful one lend it.
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

// shown is what windows of one treatment showed so far.
type shown struct {
	treated moments
	now     float64 // the run of looks under way
}

// turned is a value as it is compared; not positive where it cannot be.
func (w *Watch) turned(v float64) float64 {
	if !w.Inverse {
		return v + w.Floor
	}
	if w.usual.mean <= 0 {
		return 0
	}
	return 1 / max(v, leastShare*w.usual.mean)
}

// Control takes a value from a window without treatment.
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

// memory is how many of the last values a level is taken from: traffic moves, and what
// it was an hour ago is no measure of harm now.
const memory = 40

// longMemory is that of what is usual: what is nothing for a while is compared with what
// was before.
const longMemory = 10 * memory

// Check takes a value from a window under treatment, so many seconds after its begin, and
// says whether the guardrail trips. What is no number is no value.
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

// near keeps the nearest of the window.
func (w *Watch) near(share, value, limit, at float64) {
	if share > w.Nearest.Share || w.Nearest == (Nearest{}) {
		w.Nearest = Nearest{Share: share, Value: value, Limit: limit, Unit: w.Unit, At: at}
	}
}

// allowed is the harm that is allowed, of a value as people know it.
func (w *Watch) allowed() string {
	if w.Inverse {
		return show.Percent(100-100/(1+w.HarmPercent/100)) + " below"
	}
	return show.Percent(w.HarmPercent) + " above"
}

// inARow tests a run of looks under treatment.
func (w *Watch) inARow(at float64) (Trip, bool) {
	limit, over := w.rows.beyond()
	if limit == 0 {
		return Trip{}, false
	}
	w.near(w.rows.now/limit, w.rows.now, limit, at)
	return Trip{Guardrail: w.Name, Value: w.rows.now, Limit: limit,
		Text: fmt.Sprintf("%s: %.0f in a row, of which %.0f are too many (the control had %.0f at most)", w.Name, w.rows.now, limit, w.rows.longest)}, over
}

// fromNothing trips where the control's value is mostly nothing and the treatment's is not:
// of nothing there is no percent.
func (w *Watch) fromNothing(v float64) (Trip, bool) {
	if _, over := w.rows.beyond(); !over || w.rows.so > w.rows.not {
		return Trip{}, false
	}
	w.near(1, w.known(v), 0, 0)
	return Trip{Guardrail: w.Name, Value: w.known(v),
		Text: fmt.Sprintf("%s was %s, and above nothing at %.0f looks in a row (the control had %.0f at most)", w.Name, w.in(v), w.rows.now, w.rows.longest)}, true
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
