package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/chart"
	"linerate/internal/stats"
	"linerate/internal/tunable/explain"
)

// Bounds of what a tunable's page draws; its table has all.
const (
	maxFigures = 4  // of a sort
	maxDrawn   = 24 // effects of a figure
)

// drawn are the verdicts that charts show: of the tunable itself, by primary metrics, with
// an interval; those in which it alone was changed, where there are any.
func drawn(all []explain.Evidence) (out []explain.Evidence) {
	for _, e := range all {
		size, low, high := e.Size()
		if e.Primary && !e.Sibling && e.Excluded == "" && e.Verdict != stats.Invalid && size.Known() && low.Known() && high.Known() {
			out = append(out, e)
		}
	}
	if slices.ContainsFunc(out, func(e explain.Evidence) bool { return e.Alone }) {
		out = slices.DeleteFunc(out, func(e explain.Evidence) bool { return !e.Alone })
	}
	return out
}

// grouped parts verdicts by a key: the largest groups, in the order of their first.
func grouped(all []explain.Evidence, key func(*explain.Evidence) string) [][]explain.Evidence {
	at, groups := map[string]int{}, [][]explain.Evidence{}
	for _, e := range all {
		k := fmt.Sprintf("%s %t", key(&e), e.InPoints())
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], e)
	}
	slices.SortStableFunc(groups, func(a, b []explain.Evidence) int { return cmp.Compare(len(b), len(a)) })
	return groups[:min(len(groups), maxFigures)]
}

// byStudy draws the intervals of each metric side by side: by study and machine.
func byStudy(all []explain.Evidence) (figures []chart.Figure) {
	for _, g := range grouped(drawn(all), func(e *explain.Evidence) string { return e.MetricLabel }) {
		note := ""
		if len(g) > maxDrawn {
			note = fmt.Sprintf("%d of %d verdicts; the table has all.", maxDrawn, len(g))
			g = g[:maxDrawn]
		}
		names := namesOf(g)
		figures = append(figures, chart.Draw("Effects on the "+g[0].MetricLabel, note, func(width float64) string {
			rows := make([]chart.Effect, len(g))
			for i := range g {
				rows[i] = effectOf(&g[i], chart.Fit(names[i], nameWidth(width)))
			}
			return chart.Forest(rows, 0, chart.LinearPart(rows), chart.SignedTick(g[0].InPoints()), width, "effects with their 95 % intervals, by study and machine")
		})...)
	}
	return figures
}

// nameWidth is how much of a chart the names of its rows may have.
func nameWidth(width float64) float64 {
	if chart.IsNarrow(width) {
		return 0.62 * width
	}
	return 0.42 * width
}

// namesOf tells verdicts apart: by the change and the study, and by machine and day where
// these are several.
func namesOf(g []explain.Evidence) []string {
	machines, seen := map[string]bool{}, map[string]int{}
	day := func(e *explain.Evidence) string {
		if e.Started == nil {
			return ""
		}
		return e.Started.UTC().Format("2006-01-02")
	}
	name := func(e *explain.Evidence, parts ...string) string {
		return strings.Join(slices.DeleteFunc(append(append([]string{valueOf(e.Before) + " → " + valueOf(e.After)}, parts...), e.Study), func(s string) bool { return s == "" }), ", ")
	}
	machine := func(e *explain.Evidence) string {
		if len(machines) < 2 {
			return ""
		}
		cpu, _, _ := strings.Cut(e.Machine, ",")
		return cpu
	}
	for i := range g {
		machines[g[i].Machine] = true
	}
	for i := range g {
		seen[name(&g[i], machine(&g[i]))]++
	}
	out := make([]string, len(g))
	for i := range g {
		e := &g[i]
		if out[i] = name(e, machine(e)); seen[out[i]] > 1 {
			out[i] = name(e, machine(e)) + " " + day(e)
		}
	}
	return out
}

// effectOf is a verdict as a row of a chart.
func effectOf(e *explain.Evidence, name string) chart.Effect {
	size, low, high := e.Size()
	return chart.Effect{Name: name, Class: string(e.Verdict), Value: size.Float(), Low: low.Float(), High: high.Float(),
		Main: e.Effect.Text() + "  " + string(e.Verdict), Aside: e.Bounds(), Known: true}
}

// valueOf is a value of a tunable for people.
func valueOf(v string) string { return cmp.Or(v, "default") }
