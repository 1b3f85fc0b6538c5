package study

import (
	"cmp"
	"fmt"
	"math"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// HarmIn is the guardrail that a study by connection has tripped; nil where it may go on. It errs
// in 5 % of harmless studies at most, however often it is asked: the interval holds at any time.
func HarmIn(s Spec, seed uint64, trials []Trial) *Trip {
	counted := list.Map(trials, func(t Trial) Trial {
		t.Block = max(t.Block, 1) // the ramp too
		return t
	})
	return cmp.Or(stuck(s, counted), slower(s, seed, counted))
}

// slower trips where the primary metric is shown to be worse, by as much as the study allows.
func slower(s Spec, seed uint64, trials []Trial) *Trip {
	limit := s.Parts[0].Live.HarmPercent
	m, _ := MetricNamed(s.Primary().Metric)
	for _, c := range s.anyTime(seed, trials) {
		worse, _, _ := c.Result().Size()
		if m.Share { // of its own value, as of other metrics
			worse = c.Result().EffectPercent
		}
		if by := math.Abs(worse.Float()); c.Verdict == stats.Worse && by >= limit {
			return &Trip{Guardrail: "harm", Value: by, Limit: limit, Text: fmt.Sprintf("the %s was %s worse for treated connections (limit %s)", m.Label, show.Percent(by), show.Percent(limit))}
		}
	}
	return nil
}

// stuck trips where treated connections do not end as others do: what never ends has no value.
func stuck(s Spec, trials []Trial) *Trip {
	count := map[bool][2]float64{}
	for _, t := range trials {
		if c := t.Saw().Connections; c != nil {
			n := count[t.Variant == s.Control || t.Variant == AA]
			count[t.Variant == s.Control || t.Variant == AA] = [2]float64{n[0] + float64(c.Opened), n[1] + float64(c.Open)}
		}
	}
	a, b := count[true], count[false]
	all := (a[1] + b[1]) / (a[0] + b[0])
	pa, pb := a[1]/a[0], b[1]/b[0]
	se := math.Sqrt(all * (1 - all) * (1/a[0] + 1/b[0]))
	if !(pb-pa > 0.1 && pb-pa > 4*se) {
		return nil
	}
	return &Trip{Guardrail: "stuck", Value: pb, Limit: pa, Text: fmt.Sprintf("%s of the treated connections had not ended when %s of the others had not", show.Percent(100*pb), show.Percent(100*pa))}
}

// ConnectionsLine is a line about a window of which all arms are on record.
func ConnectionsLine(s Spec, seed uint64, trials []Trial, window int) string {
	m, _ := MetricNamed(s.Primary().Metric)
	line, share := "", 0.0
	for _, t := range trials {
		if t.Block != window || t.Variant == AA {
			continue
		}
		value := "nothing to measure"
		if v, ok := t.Metrics[m.Name]; ok {
			value = m.Text(v)
		}
		line += fmt.Sprintf("  %s %s", t.Variant, value)
		if c := t.Saw().Connections; c != nil {
			share = c.Share
			line += fmt.Sprintf(" of %s", show.Count(len(c.Client)))
		}
		if !t.Valid {
			line += " (does not count: " + t.Why()[0] + ")"
		}
	}
	if window == 0 {
		return fmt.Sprintf("first    %4s treated%s", show.WholePercent(100*share), line)
	}
	line = fmt.Sprintf("window %d %4s treated%s", window, show.WholePercent(100*share), line)
	for _, c := range s.anyTime(seed, trials) {
		if c.Effect.Known() {
			e := c.Result().Effect
			line += fmt.Sprintf("  %s %s so far", e.Text(), e.Bounds())
		}
	}
	return line
}

// ForeseeConnections says what a study would see, by a window in which nothing was treated: the
// two halves of the control stand for its arms.
func ForeseeConnections(s Spec, trials []Trial) (lines []string) {
	all, p := 0, s.Parts[0]
	for _, t := range trials {
		if c := t.Saw().Connections; c != nil {
			all += c.Opened
		}
	}
	lines = append(lines, fmt.Sprintf("%s connections in a window of %s: about %s in the %d windows of the study.", show.Count(all), span(Seconds(p.terms().Window)), show.Count(all*p.Blocks), p.Blocks))
	for _, g := range s.Metrics {
		m, _ := MetricNamed(g.Metric)
		c := compareConnections(s, g, trials, []stats.Arm{{Name: AA}}, options(m, g, 0))[0]
		if !(c.Effect.SE > 0) {
			lines = append(lines, m.Label+": too few connections to say what a study would see.")
			continue
		}
		// Of four windows with 10, 50, 50 and 90 %, an arm's variance is 1.9 times that of four halves:
		// Σp⁻¹/16 for 1/2.
		const unequal = 1.9
		see := stats.DetectableEffect(100, alpha, 0.8) * c.Effect.SE * math.Sqrt(unequal/float64(p.Blocks))
		text := show.Percent(stats.Percent(see))
		if m.Share {
			text = show.Points(100 * see)
		}
		lines = append(lines, fmt.Sprintf("%s: a study would see %s between connections (power 0.8).", m.Label, text))
	}
	return lines
}
