package study

// DefaultGates are the limits of a study that states none.
func DefaultGates() Gates {
	return Gates{DriftPercent: 15, StealPercent: 2,
		ContentionPercent: 35, StarvedPercent: 20, UnsentPercent: 0.5, PacingPercent: 2, Headroom: 1.2, CostLossPercent: 1, GoodRoundsPercent: 10,
		FailedPercent: 0.5}
}

// limit is one of the limits with its key.
type limit struct {
	key   string
	value *float64
}

func (g *Gates) limits() []limit {
	return []limit{
		{"drift_percent", &g.DriftPercent}, {"steal_percent", &g.StealPercent},
		{"foreign_percent", &g.ContentionPercent}, {"starved_percent", &g.StarvedPercent}, {"unsent_percent", &g.UnsentPercent},
		{"pacing_percent", &g.PacingPercent}, {"headroom", &g.Headroom}, {"cost_loss_percent", &g.CostLossPercent},
		{"good_rounds_percent", &g.GoodRoundsPercent}, {"failed_percent", &g.FailedPercent},
	}
}

// fill puts defaults in the place of what the study does not say.
func (g *Gates) fill(said func(key string) bool) {
	defaults := DefaultGates()
	from := defaults.limits()
	for i, l := range g.limits() {
		Unless(said, l.key, l.value, *from[i].value)
	}
}

// check refuses what is no percentage, and a headroom below 1.
func (g *Gates) check() *Problem {
	for _, l := range g.limits() {
		least := 0.0
		if l.key == "headroom" {
			least = 1
		}
		if p := Within("gates."+l.key, *l.value, least, 100); p != nil {
			return p
		}
	}
	return nil
}
