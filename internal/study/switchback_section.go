package study

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"linerate/internal/chart"
	"linerate/internal/document"
	"linerate/internal/show"
)

// switchbackMethod says in words how a live host was studied.
func switchbackMethod(s Spec, p Part) string {
	plan := PlanOf(s, p)
	return fmt.Sprintf("The host was switched back and forth under its own traffic, in pairs of windows of %s in random order; the first %s of each window are not measured. "+
		"One pair in %d at least is a sham: the values that the host had were written again, by the same way.",
		span(plan.Window), span(plan.BurnIn), treatmentsPerSham+1)
}

// switchbackSections are what a report shows of a live host's windows.
func switchbackSections(s Spec, r Results) []Section {
	if !s.OnLiveHost() {
		return nil
	}
	p := s.Parts[0]
	windows := windowsOf(r.Trials, p.Name)
	if len(windows) == 0 {
		return nil
	}
	section := Section{Title: "Windows on the live host"}
	m, _ := MetricNamed(s.Primary().Metric)
	section.figure(true, "The "+m.Label+", check by check", "Blue: windows under treatment; grey: shams. The metric's own ups and downs are the traffic's; what a setting does is seen between neighbours.",
		func(width float64) string { return series(windows, m, width) })
	section.figure(true, "Effect of each pair", "Treated against control within the pair. Hollow: invalid, and not counted.",
		func(width float64) string { return pairEffects(windows, m, width) })
	var tables document.OnPage
	for _, t := range []document.Table{guardTable(windows), disturbedTable(windows), lateTable(r), dropTable(windows)} {
		tables = append(tables, t)
	}
	section.add(true, tables)
	return []Section{section}
}

// window is a trial with what it saw.
type window struct {
	Trial
	*Window
}

func windowsOf(trials []Trial, part string) (out []window) {
	for _, t := range trials {
		if w := windowOf(t); w != nil && t.Part == part {
			out = append(out, window{t, w})
		}
	}
	slices.SortStableFunc(out, func(a, b window) int { return a.Start.Compare(b.Start) })
	return out
}

func (w window) treated() bool { return w.Of != Sham && w.Variant == w.Of }
func (w window) sham() bool    { return w.Of == Sham && w.Variant == AA }

// series draws the metric over time, windows shaded.
func series(windows []window, m Metric, width float64) string {
	begin := windows[0].Start
	a := chart.Axes{X: func(v float64) string { return orZero(v, span(seconds(v))) }, Y: func(v float64) string { return orZero(v, axisText(m, v)) }, Close: true}
	var all []chart.Series
	for _, w := range windows {
		from, line := w.Start.Sub(begin).Seconds(), chart.Series{Bare: true}
		if w.treated() {
			a.Bands, line.Class = append(a.Bands, chart.Band{From: from, To: from + w.Seconds, Class: "c2 bar"}), 2
		} else if w.sham() {
			a.Bands = append(a.Bands, chart.Band{From: from, To: from + w.Seconds, Class: "ends"})
		}
		for i, v := range w.Series[m.Name] {
			if v != nil && i < len(w.At) {
				line.Points = append(line.Points, [2]float64{from + w.Switch + w.At[i], *v})
			}
		}
		all = append(all, line)
	}
	return chart.Lines(all, a, width, "The "+m.Label+" over the time of the study, windows under treatment shaded")
}

// axisText is a value at an axis, whose chart names the metric: of requests a second the
// number alone, for which there is room.
func axisText(m Metric, v float64) string {
	if m.Unit == "requests/s" {
		return show.Value(v)
	}
	return m.Text(v)
}

// effect is one pair of a treatment or of shams.
type effect struct {
	pair             int
	of               string
	control, treated float64 // the metric
	valid            bool
	first            bool // the treated half came first
	seen             bool // the metric in both halves
}

// percent is the effect; not finite of a control of nothing.
func (e effect) percent() float64 { return 100 * (e.treated/e.control - 1) }

func effectsOf(windows []window, metric string) (out []effect) {
	by := map[int][]window{}
	for _, w := range windows {
		if w.Pair > 0 {
			by[w.Block] = append(by[w.Block], w)
		}
	}
	for _, pair := range slices.Sorted(maps.Keys(by)) {
		var control, treated *window
		for i := range by[pair] {
			if w := &by[pair][i]; w.treated() || w.sham() {
				treated = w
			} else {
				control = w
			}
		}
		if control == nil || treated == nil {
			continue
		}
		e := effect{pair: pair, of: treated.Of, valid: control.Valid && treated.Valid, first: treated.Half == 1}
		var both bool
		e.control, e.seen = control.Value[metric]
		e.treated, both = treated.Value[metric]
		e.seen = e.seen && both
		out = append(out, e)
	}
	return out
}

// pairEffects draws each pair's effect, shams apart: in percent or, where a control's value
// is 0, in the metric's unit.
func pairEffects(windows []window, m Metric, width float64) string {
	effects := slices.DeleteFunc(effectsOf(windows, m.Name), func(e effect) bool { return !e.seen })
	if len(effects) == 0 {
		return ""
	}
	if slices.ContainsFunc(effects, func(e effect) bool { return e.control == 0 }) {
		return scatter(effects, width, "Difference of each pair in the "+m.Label, func(e effect) float64 { return e.treated - e.control }, func(v float64) string { return signedText(m, v) })
	}
	return scatter(effects, width, "Effect of each pair on the "+m.Label, effect.percent, show.SignedPercent)
}

// signedText is a difference of a metric at an axis.
func signedText(m Metric, v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0:
		return "−" + axisText(m, -v)
	}
	return "+" + axisText(m, v)
}

// orZero is a tick's text, but of nothing, which has no unit.
func orZero(v float64, text string) string {
	if v == 0 {
		return "0"
	}
	return text
}

// scatter draws a value of every pair.
func scatter(effects []effect, width float64, label string, value func(effect) float64, text func(float64) string) string {
	zero := 0.0
	a := chart.Axes{X: func(v float64) string { return fmt.Sprint(v) }, Y: func(v float64) string { return orZero(v, text(v)) }, Across: "pairs in the order of time; grey: shams", Close: true, Level: &zero}
	all := []chart.Series{{Dots: "trial c2"}, {Dots: "trial c1"}, {Dots: "point hollow v-invalid"}}
	for i, e := range effects {
		s, order := &all[0], "second"
		if e.of == Sham {
			s = &all[1]
		}
		if !e.valid {
			s = &all[2]
		}
		if e.first {
			order = "first"
		}
		s.Points = append(s.Points, [2]float64{float64(i + 1), value(e)})
		s.Words = append(s.Words, fmt.Sprintf("pair %d, %s: %s, treated half %s", e.pair, e.of, text(value(e)), order))
	}
	return chart.Lines(all, a, width, label)
}

// span is a length of time for people.
func span(d time.Duration) string {
	if d >= 2*time.Minute {
		return show.Clock(d)
	}
	return show.Brief(d)
}
