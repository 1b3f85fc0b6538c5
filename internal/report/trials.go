package report

import (
	"fmt"
	"strings"

	"linerate/internal/chart"
	"linerate/internal/document"
	"linerate/internal/show"
	"linerate/internal/study"
)

// namedArms is up to how many arms a chart of trials names; beyond it only the points' tooltips do.
const namedArms = 8

// inTime draws all trials of the primary metric over time.
func inTime(r study.Results) []document.Block {
	m, part := primary(r)
	drawn := chart.Draw(m.Label+" · part "+part, "A slope is drift, scatter is noise; hollow points are invalid trials.", trialChart(r, m, part))
	if len(drawn) == 0 {
		return nil
	}
	return append([]document.Block{document.Heading("Every trial in time order")}, document.Figures(drawn)...)
}

// trialChart draws a point for each trial of a part that has a value.
func trialChart(r study.Results, m study.Metric, part string) string {
	arms := r.Arms(part)
	all := make([]chart.Series, 2*len(arms))
	for i, arm := range arms {
		class := fmt.Sprintf(" c%d", i%8)
		all[2*i], all[2*i+1] = chart.Series{Class: i, Dots: "trial" + class}, chart.Series{Class: i, Dots: "hollow" + class}
		if len(arms) <= namedArms {
			all[2*i].Name = r.ArmName(arm)
		}
		for _, t := range r.Trials {
			v, ok := t.Metrics[m.Name]
			if !ok || t.Part != part || t.Variant != arm {
				continue
			}
			s, words := &all[2*i], fmt.Sprintf("%s, block %d: %s", r.ArmName(arm), t.Block, m.Text(v))
			if !t.Valid {
				s, words = &all[2*i+1], words+": "+strings.Join(t.Why(), "; ")
			}
			s.Points, s.Words = append(s.Points, [2]float64{t.Start.Sub(*r.Started).Seconds(), v}), append(s.Words, words)
		}
	}
	return chart.Lines(all, chart.Axes{X: func(v float64) string { return show.Brief(study.Seconds(v)) }, Y: m.Text, Close: true},
		fmt.Sprintf("%s of every trial of part %s in time order", m.Label, part))
}
