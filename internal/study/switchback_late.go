package study

import (
	"fmt"
	"math"
	"time"

	"linerate/internal/stats"
)

// lateDraws stand for all orders of the pairs.
const lateDraws = 999

// late asks the windows of a live host whether a variant acts on the window after its own.
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
		if !last.IsZero() && t.Start.Sub(last) > Seconds(t.Seconds/2) { // as it was, for a while
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

// outlast judges comparisons of a live host by late effects.
func (s Spec) outlast(cs []stats.Comparison, g Goal, seed uint64, trials []Trial, opt stats.Options) {
	for i := range cs {
		if s.Design == Switchback && cs[i].N >= stats.LeastPairs {
			cs[i].Outlast(s.late(g, cs[i].Variant, seed, trials), len(cs), opt)
		}
	}
}

// longerWindows is how many times as long as now windows are to be for an effect that shows a
// window late: the burn-in, a fifth, is then as long as a window is now.
const longerWindows = 5

// Longer says which windows an effect needs that outlasts those of a study; "" where it does not.
func (v Verdict) Longer(s Spec) string {
	p, _ := s.Part(v.Part)
	if v.Late == nil || !v.Late.Short {
		return ""
	}
	return fmt.Sprintf("windows of %s are too short for %s: try %s", span(PlanOf(s, p).Window), v.Variant, span(longerWindows*PlanOf(s, p).Window))
}
