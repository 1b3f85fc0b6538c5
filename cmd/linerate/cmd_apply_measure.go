package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/apply"
	"linerate/internal/assemble/hosts"
	"linerate/internal/fleet"
	"linerate/internal/fleet/page"
	"linerate/internal/fleet/wedge"
	"linerate/internal/hint"
	"linerate/internal/rollout"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// measureFlags are the flags that turn waves into an experiment.
type measureFlags struct {
	metric, better, strata string
	harm                   percentage
	hold                   time.Duration
}

// ofMeasure lists the flags that require a metric.
var ofMeasure = strings.Fields("better strata harm hold")

// measuredSteps is the default division of an experiment into waves: the first ones are large
// enough to detect an effect.
const measuredSteps = "10%,25%,50%,100%"

func (m *measureFlags) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	m.harm = 5
	f.StringVar(&m.metric, "measure", "", "measure hosts by `METRIC`, wave by wave")
	f.StringVar(&m.better, "better", "", "values that are better: lower or higher")
	f.Var(&m.harm, "harm", "harm that a wave must exclude")
	f.DurationVar(&m.hold, "hold", 10*time.Minute, "measure each wave for")
	f.StringVar(&m.strata, "strata", "", "compare within role,hardware,site; or none")
}

// terms returns the parameters of the experiment, and sets the default steps if the user gave none.
func (m *measureFlags) terms(cmd *cobra.Command, o *fleet.WaveOptions) (t wedge.Trial, err error) {
	if m.metric == "" {
		for _, name := range ofMeasure {
			if cmd.Flags().Changed(name) {
				return t, hint.With(hint.Usagef("--%s needs a metric", name), "say what to measure: %s", hint.Option("measure", "METRIC"))
			}
		}
		return t, nil
	}
	if !cmd.Flags().Changed("waves") {
		o.Steps = measuredSteps
	}
	t = wedge.Trial{Metric: m.metric, Better: stats.Direction(m.better), Harm: float64(m.harm), Hold: m.hold.Seconds(), Seed: rand.Uint64() >> 11} // JSON's numbers hold 53 bits
	if m.strata != "none" {
		t.Strata = strings.Split(cmp.Or(m.strata, "role,hardware,site"), ",")
	}
	switch {
	case t.Better == "":
		return t, hint.With(hint.Usagef("it is not known whether a higher value is better"), "say it: %s", hint.Option("better", "lower"))
	case t.Better != stats.LowerIsBetter && t.Better != stats.HigherIsBetter:
		return t, hint.Usage(hint.Unknown("value of --better", m.better, []string{"lower", "higher"}))
	case m.hold < time.Second || m.hold > 7*24*time.Hour:
		return t, hint.Usagef("--hold %s is not between a second and a week", m.hold)
	}
	_, err = rollout.ParseMeasure(m.metric, apply.CheckedHost{Name: "host", Source: "ssh://host"}, nil)
	return t, err
}

// divide assigns hosts to waves: in the order of the list, or at random if they are measured.
func (m *measureFlags) divide(cmd *cobra.Command, dir string, planned []fleet.Planned, o *fleet.WaveOptions, at time.Time) ([]fleet.WaveEvent, error) {
	t, err := m.terms(cmd, o)
	if err != nil {
		return nil, err
	}
	steps, err := fleet.ParseSteps(o.Steps)
	if err != nil || t.Metric == "" {
		return hosts.Divide(planned, steps, at), err
	}
	var stand []fleet.WaveEvent
	o.Measure, stand, err = hosts.Draw(dir, planned, steps, t, at)
	return stand, err
}

// measuring returns callbacks that print the progress of an experiment.
func (t *waveTalk) measuring(trial *wedge.Trial) rollout.Measure {
	say := func(format string, a ...any) {
		if t.mu.Lock(); !t.quiet {
			fmt.Fprintf(t.w, format+"\n", a...)
		}
		t.mu.Unlock()
	}
	return rollout.Measure{
		Begins: func(wave int, hold time.Duration) {
			what := fmt.Sprintf("wave %d", wave)
			if wave == 0 {
				what = "the baseline"
			}
			say("  measuring %s for %s", what, show.Clock(hold))
		},
		Power: func(text string) { say("%s", text) },
		Look: func(l wedge.Look) {
			say("  wave %d: %s on %s of %s hosts: %s", l.Wave, l.Effect.TextWithBounds(), show.Count(l.Treated), show.Count(l.Treated+l.Others), page.Saying(trial, l.Says))
		},
	}
}
