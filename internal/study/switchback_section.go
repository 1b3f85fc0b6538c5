package study

import (
	"fmt"
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
func switchbackSections(s Spec, r Results) []document.Block {
	if s.Design != Switchback {
		return nil
	}
	windows := windowsOf(r.Trials, s.Parts[0].Name)
	if len(windows) == 0 {
		return nil
	}
	m, _ := MetricNamed(s.Primary().Metric)
	drawn := figure("The "+m.Label+", check by check", "Blue: windows under treatment; grey: shams. The metric's own ups and downs are the traffic's; what a setting does is seen between neighbours.",
		series(windows, m))
	return section("Windows on the live host", "", append(drawn, document.OnPage{guardTable(windows), dropTable(windows)})...)
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
func series(windows []window, m Metric) string {
	begin := windows[0].Start
	a := chart.Axes{X: func(v float64) string { return orZero(v, span(Seconds(v))) }, Y: func(v float64) string { return orZero(v, axisText(m, v)) }, Close: true}
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
	return chart.Lines(all, a, "The "+m.Label+" over the time of the study, windows under treatment shaded")
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
	of    string
	valid bool
}

// effectsOf are the pairs of which both halves are on record.
func effectsOf(windows []window) (out []effect) {
	by := map[int][]window{}
	for _, w := range windows {
		if w.Pair > 0 {
			by[w.Block] = append(by[w.Block], w)
		}
	}
	for _, pair := range by {
		var control, treated *window
		for i := range pair {
			if w := &pair[i]; w.treated() || w.sham() {
				treated = w
			} else {
				control = w
			}
		}
		if control != nil && treated != nil {
			out = append(out, effect{treated.Of, control.Valid && treated.Valid})
		}
	}
	return out
}

// orZero is a tick's text, but of nothing, which has no unit.
func orZero(v float64, text string) string {
	if v == 0 {
		return "0"
	}
	return text
}

// span is a length of time for people.
func span(d time.Duration) string {
	if d >= 2*time.Minute {
		return show.Clock(d)
	}
	return show.Brief(d)
}
