package report

import (
	"linerate/internal/study"
)

// gateLine is a gate and how many trials it refused.
type gateLine struct {
	Name, Limit string
	Tripped     int
}

// gates are what the study's trials had to pass, and what else one did not.
func gates(s study.Spec, r study.Results) (lines []gateLine) {
	for _, g := range study.GatesOf(s, r.Trials) {
		lines = append(lines, gateLine{g.Name, g.Limit(s.Gates), g.Trials})
	}
	return lines
}
