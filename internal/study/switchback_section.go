package study

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"linerate/internal/chart"
	"linerate/internal/document"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// switchbackMethod describes how a live host was studied.
func switchbackMethod(s Spec, p Part) string {
	plan := PlanOf(s, p)
	return fmt.Sprintf("The host was switched back and forth under its own traffic, in pairs of windows of %s in random order; the first %s of each window are not measured. "+
		"One pair in %d at least is a sham: the values that the host had were written again, by the same way.",
		span(plan.Window), span(plan.BurnIn), treatmentsPerSham+1)
}

// switchbackSections returns a report's sections on a live host's windows.
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
	return section("Windows on the live host", "", append(drawn, document.OnPage{guardTable(windows), lateTable(r), dropTable(windows)})...)
}

// window is a trial with its observations.
type window struct {
	Trial
	*Window
}

func windowsOf(trials []Trial, part string) (out []window) {
	for _, t := range trials {
		if w := t.Saw().Window; w != nil && t.Part == part {
			out = append(out, window{t, w})
		}
	}
	list.Sort(out, func(a, b window) int { return a.Start.Compare(b.Start) })
	return out
}

// series draws the metric over time, with windows shaded.
func series(windows []window, m Metric) string {
	begin := windows[0].Start
	a := chart.Axes{X: func(v float64) string { return orZero(v, span(Seconds(v))) }, Y: func(v float64) string { return orZero(v, axisText(m, v)) }, Close: true}
	var all []chart.Series
	for _, w := range windows {
		from, line := w.Start.Sub(begin).Seconds(), chart.Series{Bare: true}
		if w.Of != Sham && w.Variant == w.Of {
			a.Bands, line.Class = append(a.Bands, chart.Band{From: from, To: from + w.Seconds, Class: "c2 bar"}), 2
		} else if w.Of == Sham && w.Variant == AA {
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

// axisText formats a value on an axis whose chart names the metric: for requests per
// second only the number, which is all that fits.
func axisText(m Metric, v float64) string {
	if m.Unit == "requests/s" {
		return show.Value(v)
	}
	return m.Text(v)
}

// orZero returns a tick's text, or 0 without a unit.
func orZero(v float64, text string) string {
	if v == 0 {
		return "0"
	}
	return text
}

func span(d time.Duration) string {
	if d >= 2*time.Minute {
		return show.Clock(d)
	}
	return show.Brief(d)
}

// guardTable shows how close each guardrail came to tripping, the closest first.
func guardTable(windows []window) document.Table {
	t := document.Table{Title: "Guardrails", Header: []string{"guardrail", "nearest", "value", "limit", "when", ""},
		Note: "How near each guardrail came to ending the study, under treatment: 100 % trips. A limit that follows the control moves with it, and counts by four standard errors."}
	nearest, place, trips := map[string]Nearest{}, map[string]string{}, map[string]string{}
	for _, w := range windows {
		for name, n := range w.Nearest {
			if n.Share >= nearest[name].Share {
				nearest[name], place[name] = n, fmt.Sprintf("%s, %s", w.place(), span(w.Start.Sub(windows[0].Start)+Seconds(w.Switch+n.At)))
			}
		}
		if w.Trip != nil {
			trips[w.Trip.Guardrail] = w.Trip.Text
		}
	}
	names := slices.Collect(maps.Keys(nearest))
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(nearest[b].Share, nearest[a].Share), cmp.Compare(a, b))
	})
	for _, name := range names {
		n := nearest[name]
		t.Rows = append(t.Rows, []string{name, show.WholePercent(100 * n.Share), inUnit(n.Unit, n.Value), inUnit(n.Unit, n.Limit), place[name], trips[name]})
	}
	return t
}

// place describes a window.
func (w window) place() string {
	switch {
	case w.Ramp:
		return "first exposures"
	case w.Pair == 0:
		return "rest"
	}
	return fmt.Sprintf("pair %d.%d", w.Pair, w.Half)
}

// dropTable shows which share of its packets each arm dropped, by place, in valid windows.
func dropTable(windows []window) document.Table {
	t := document.Table{Title: "Drops by place", Header: []string{"place"}, Note: "Of the packets that the host handled, in the windows that count."}
	packets, drops := map[string]float64{}, map[string]map[string]float64{}
	for _, w := range windows {
		if w.Ramp || w.Pair == 0 || !w.Valid {
			continue
		}
		if packets[w.Variant] == 0 {
			t.Header = append(t.Header, w.Variant)
		}
		packets[w.Variant] += w.Traffic
		for at, n := range w.Drops {
			if drops[at] == nil {
				drops[at] = map[string]float64{}
			}
			drops[at][w.Variant] += n
		}
	}
	slices.Sort(t.Header[1:])
	for _, at := range slices.Sorted(maps.Keys(drops)) {
		row := []string{at}
		for _, arm := range t.Header[1:] {
			row = append(row, show.Loss(drops[at][arm]/max(1e-9, packets[arm])))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// lateDraws is the number of random orders of the pairs that are sampled.
const lateDraws = 999

// late tests whether a variant affects the window after its own, on a live host.
func (s Spec) late(g Goal, variant string, seed uint64, trials []Trial) stats.Late {
	var w stats.Windows
	m, _ := MetricNamed(g.Metric)
	add := func(value float64, treated bool, coin int) {
		w.Values, w.Treated, w.Coins = append(w.Values, value), append(w.Treated, treated), append(w.Coins, coin)
	}
	coins, last, logs := map[int]int{}, time.Time{}, !m.Share
	for _, t := range windowsOf(trials, g.Part) {
		value, known := t.Metrics[g.Metric]
		if t.Ramp {
			continue
		}
		if !last.IsZero() && t.Start.Sub(last) > Seconds(t.Seconds/2) { // a gap: the host was restored for a while
			add(math.NaN(), false, 0)
		}
		last = t.Start.Add(Seconds(t.Trial.Seconds))
		if known = known && t.Valid && (t.Variant == variant || t.Variant == s.Control || t.Variant == AA); !known {
			value = math.NaN()
		}
		if t.Of == variant && coins[t.Block] == 0 {
			coins[t.Block] = len(coins) + 1
		}
		coin := 0
		if t.Of == variant {
			coin = coins[t.Block]
		}
		add(value, t.Variant == variant, coin)
		logs = logs && !(value <= 0)
	}
	for i, v := range w.Values {
		if logs {
			w.Values[i] = math.Log(v)
		}
	}
	return stats.LateEffects(w, lateDraws, seed)
}

// outlast adjusts comparisons of a live host for late effects.
func (s Spec) outlast(cs []stats.Comparison, g Goal, seed uint64, trials []Trial, opt stats.Options) {
	for i := range cs {
		if s.Design == Switchback && cs[i].N >= stats.LeastPairs {
			cs[i].Outlast(s.late(g, cs[i].Variant, seed, trials), len(cs), opt)
		}
	}
}

// longerWindows is the factor by which to lengthen windows if an effect appears one window
// late: the burn-in, a fifth, is then as long as a window is now.
const longerWindows = 5

// Longer advises longer windows for an effect that outlasts the study's; "" if it does not.
func (v Verdict) Longer(s Spec) string {
	p, _ := s.Part(v.Part)
	if v.Late == nil || !v.Late.Short {
		return ""
	}
	return fmt.Sprintf("windows of %s are too short for %s: try %s", span(PlanOf(s, p).Window), v.Variant, span(longerWindows*PlanOf(s, p).Window))
}

func lateTable(r Results) document.Table {
	t := document.Table{Title: "Late effects", Header: []string{"metric", "variant", "p", ""},
		Note: "Whether a window still acts on the next one, by a regression on both arms and redrawn orders of the pairs. Below 0.05 it does: a verdict then needs the effect over both windows to agree, and below 0.005 that effect is reported. A late part below a tenth of the direct effect, or of the margin, changes nothing."}
	for _, v := range r.Verdicts {
		if v.Late == nil {
			continue
		}
		m, _ := r.Metric(v.Metric)
		says := "none is shown"
		switch {
		case v.Late.Short:
			says = "the windows are too short"
		case v.Method == stats.OverBothArms:
			says = "the effect is that on both windows"
		case v.Late.P.Float() <= 0.05:
			says = "the verdict is the same with it"
		}
		t.Rows = append(t.Rows, []string{m.Label, v.Variant, show.Optional(v.Late.P, show.P), says})
	}
	return t
}
