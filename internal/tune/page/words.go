package page

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/tune"
	"linerate/internal/tune/space"
)

func (r *Report) answer(factors []space.Entry) string {
	seen := show.Optional(r.Result.SeenPercent, show.Percent)
	switch {
	case !r.Result.Complete:
		return "The search is not at its end."
	case r.Result.Ships != nil:
		return r.found(factors)
	case len(r.Result.Model.Effects) == 0:
		return fmt.Sprintf("Nothing could be measured: %s.", r.invalid())
	case r.Result.Candidate == nil:
		return fmt.Sprintf("Nothing helps: none of %d settings looked promising. A single setting worth %s would have been seen.%s", len(factors), seen, r.caveat())
	case len(r.Result.Harm) > 0 && r.Result.Confirmation.Verdict == stats.Better:
		open := ""
		if n := r.Result.OpenBlocks; n > 0 {
			open = fmt.Sprintf(" About %s of these would decide.", show.Plural(n, "block"))
		}
		return fmt.Sprintf("Nothing is recommended: %s (%s%s) is better, and is not shown to leave alone %s.%s", space.Words(factors, r.Result.Candidate),
			r.of(), r.interval(r.Result.Confirmation.Result), show.List(r.Result.Harm), open)
	}
	return fmt.Sprintf("Nothing is shown to help: the best candidate was not confirmed. A gain of %s would have been seen.", seen)
}

// found describes what ships, and what was measured of everything that was confirmed together.
func (r *Report) found(factors []space.Entry) string {
	confirmed := r.of() + r.interval(r.Result.Confirmation.Result) + ", confirmed on blocks of their own."
	more := r.Result.Candidate.Size() - r.Result.Ships.Size()
	idle := "that hardly do anything by themselves and are left out"
	if more == 1 {
		idle = "that has hardly an effect alone and is left out"
	}
	if more == 0 {
		return space.Words(factors, r.Result.Ships) + ": " + confirmed
	}
	return fmt.Sprintf("%s: %s%s expected by the screening. With %s %s: %s", space.Words(factors, r.Result.Ships),
		r.of(), r.ChangeText(math.Log1p(r.Result.ExpectedPercent.Float()/100)), show.Plural(more, "setting"), idle, confirmed)
}

// Own describes the effect of one setting in the plan, and how it is known.
func (r *Report) Own(factor int) string {
	if r.Result.Candidate.Size() == 1 {
		return r.interval(r.Result.Confirmation.Result) + ", alone"
	}
	for _, e := range r.Result.Model.Effects {
		if e.Factor == factor && e.Level == r.Result.Ships[factor] {
			return r.adjusted(e) + " by the screening, less what selection adds"
		}
	}
	return ""
}

// untried returns the levels without a value, with the reasons.
func (r *Report) untried(factors []space.Entry) []Untried {
	out := []Untried{}
	for i, f := range factors {
		for level := 1; level <= len(f.Levels); level++ {
			at := slices.IndexFunc(r.Result.Model.Effects, func(e tune.Effect) bool { return e.Factor == i && e.Level == level })
			u := Untried{Setting{f.Name, f.Levels[level-1].Value}, "no time was left for it"}
			switch {
			case at < 0 && len(r.Result.Invalid) > 0:
				u.Why = "none of its trials was valid"
			case at < 0:
			case r.Result.Model.Effects[at].Seen > 0:
				continue
			case r.Result.Model.Effects[at].Lacking != "":
				u.Why = r.Result.Model.Effects[at].Lacking
			case r.Result.Model.Effects[at].Asked > 0:
				u.Why = "none of its trials was valid"
			}
			out = append(out, u)
		}
	}
	return out
}

// caveat counts the levels that were not measured.
func (r *Report) caveat() string {
	if len(r.Untried) == 0 {
		return ""
	}
	return fmt.Sprintf(" Nothing is known of %s that %s not measured.", show.Plural(len(r.Untried), "level"), map[bool]string{true: "was", false: "were"}[len(r.Untried) == 1])
}

// unmeasured lists the levels that were not measured, by reason.
func (r *Report) unmeasured() (out []string) {
	by := map[string][]string{}
	var reasons []string
	for _, u := range r.Untried {
		if by[u.Why] == nil {
			reasons = append(reasons, u.Why)
		}
		by[u.Why] = append(by[u.Why], u.Name+"="+u.Value)
	}
	return list.Map(reasons, func(why string) string { return fmt.Sprintf("Not measured (%s): %s.", why, show.List(by[why])) })
}

// invalid counts the unusable trials, by the gates that refused them, the most frequent
// first.
func (r *Report) invalid() string {
	gates, n := slices.Sorted(maps.Keys(r.Result.Invalid)), 0
	slices.SortStableFunc(gates, func(a, b string) int { return r.Result.Invalid[b] - r.Result.Invalid[a] })
	for i, g := range gates {
		n += r.Result.Invalid[g]
		gates[i] = fmt.Sprintf("%s (%d)", g, r.Result.Invalid[g])
	}
	return fmt.Sprintf("%d of %s invalid, by %s", n, show.Plural(r.Result.Trials, "trial"), show.List(gates))
}

// less reports whether less of the metric is better. Then the search's gains are inverted
// for display: a latency falls.
func (r *Report) less() bool {
	m, _ := study.MetricNamed(r.Metric)
	return m.LowerIsBetter
}

// of names the metric of an effect whose direction might be misread.
func (r *Report) of() string {
	if m, _ := study.MetricNamed(r.Metric); m.LowerIsBetter {
		return m.Label + " "
	}
	return ""
}

// ChangeText formats a gain of the search, a log ratio, as a change of the metric in percent.
func (r *Report) ChangeText(gain float64) string {
	if r.less() {
		gain = -gain
	}
	return show.SignedPercent(stats.Percent(gain))
}

// Change converts an effect on the search's scale to a change of the metric itself.
func (r *Report) Change(e stats.Effect) stats.Effect {
	if !r.less() {
		return e
	}
	inverse := func(percent stats.Number) stats.Number { return stats.Num(100 * (1/(1+percent.Float()/100) - 1)) }
	e.EffectPercent, e.CILow, e.CIHigh = inverse(e.EffectPercent), inverse(e.CIHigh), inverse(e.CILow)
	return e
}

func (r *Report) interval(v stats.Result) string {
	e := r.Change(v.Effect)
	return fmt.Sprintf("%s (%s to %s)", show.SignedPercent(e.EffectPercent.Float()), show.SignedPercent(e.CILow.Float()), show.SignedPercent(e.CIHigh.Float()))
}

// guards describes the result for the study's other metrics.
func (r *Report) guards() string {
	switch {
	case r.Result.Confirmation == nil || r.Result.Confirmation.Verdict != stats.Better:
		return ""
	case len(r.Result.Harm) == 0:
		text := "Every other metric of the study was shown to be no worse than by its margin."
		if !slices.Equal(r.Result.Ships, r.Result.Candidate) {
			text += " That is the effect of the candidate as a whole."
		}
		return text
	}
	return "Not shown to be no worse than by their margins: " + show.List(r.Result.Harm) + "."
}

// margins describes which effects of the screening may be due to chance.
func (r *Report) margins() string {
	m := r.Result.Model
	if !(m.SE > 0) {
		return ""
	}
	return fmt.Sprintf("Chance makes an effect of up to %s of one setting, and of up to %s somewhere among all.", show.Percent(stats.Percent(1.96*m.SE)), show.Percent(stats.Percent(m.Simultaneous)))
}
