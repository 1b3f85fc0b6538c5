package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/tune"
	"linerate/internal/tune/space"
)

// mostTogether bounds how many arms live side by side: more cost time to make than
// they save.
const mostTogether = 32

// fewestTogether: with fewer a block is all control.
const fewestTogether = 4

// fit is the search as this machine can run it: without the settings that its lab turns
// out not to have, and with the number of parallel arms that gives most precision in the same time.
func (s *tuning) fit(cmd *cobra.Command) (*tune.Search, error) {
	bench := s.bench()
	plan := &tune.Search{Levels: space.Levels(bench.Factors), Seconds: s.Seconds, PerSlot: bench.PerSlot(), Together: bench.Together(mostTogether),
		Worth: bench.Worth(), Confirmations: s.Confirmation, More: s.More, Seed: s.Seed}
	var best tune.Fitness
	for bench.SideBySide() {
		now, err := s.fits(cmd, bench, plan)
		if err != nil {
			return nil, err
		}
		better := best.Together == 0 || now.Better(best)
		if better {
			best = now
		}
		bench = s.bench()
		if plan.Levels = space.Levels(bench.Factors); len(plan.Levels) == 0 {
			return nil, hint.With(errors.New("the lab has none of the settings of the space"), "%s has the reasons", filepath.Join(s.path, searchReport))
		}
		if now.Ample(plan.Worth) || plan.Together <= fewestTogether || !better && !now.Poor() {
			break
		}
		plan.Together = max(fewestTogether, min(plan.Together, len(plan.Levels))/2&^1) // fewer than were up
		fmt.Fprintf(cmd.ErrOrStderr(), "%s of the trials are valid, and arms scatter by %s: trying %s side by side\n", show.WholePercent(100*now.Valid), show.Percent(stats.Percent(now.Scatter)), show.Plural(plan.Together, "arm"))
	}
	if best.Together > 0 {
		plan.Together = best.Together
	}
	if best.Together > 0 && best.Poor() {
		return nil, hint.With(fmt.Errorf("the arms of study %s cannot be measured side by side here: %s of the trials are valid", s.spec.Name, show.WholePercent(100*best.Valid)),
			"the reports of the trials are in %s; end what else runs here, or choose a study that asks less", s.path)
	}
	return plan, nil
}

// fits tries every factor once, and takes those out of the space that the lab does not have.
func (s *tuning) fits(cmd *cobra.Command, bench space.Bench, plan *tune.Search) (tune.Fitness, error) {
	var all []tune.Measured
	for _, e := range plan.Fits() {
		m, err := s.experiment(cmd, bench, e, 0)
		if err != nil {
			return tune.Fitness{}, err
		}
		plan.Seconds -= m.Seconds
		for arm, why := range m.Unavailable {
			s.without(bench.Factors[m.Factor(arm)].Name, why)
		}
		all = append(all, m)
	}
	return tune.FitnessOf(plan.Together, all), nil
}

// without takes a factor out of the space.
func (s *tuning) without(name, why string) {
	for i := range s.Space {
		if s.Space[i].Name == name {
			s.Space[i].In, s.Space[i].Why = false, why
		}
	}
}
