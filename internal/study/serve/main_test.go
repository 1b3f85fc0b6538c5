package serve

import (
	"linerate/internal/study"
	"linerate/internal/study/forward"
	"linerate/internal/study/ways"
)

func init() {
	study.Register(forward.Kind{}, Kind{})
	study.RegisterWays(ways.All()...)
}

// judge is study.Judge with reasons as text.
func judge(p study.Part, g study.Gates, o study.Observation, _ float64) (map[string]float64, []string) {
	m, why := study.Judge(p, g, o)
	return m, study.Trial{Reasons: why}.Why()
}
