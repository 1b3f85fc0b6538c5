package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// Study is what comparing needs of a study.
type Study struct {
	Metric   string
	Better   stats.Direction
	Margin   float64 // percent
	Control  stats.Arm
	Variants []stats.Arm // those the study gives verdicts on
	Checks   []stats.Arm // the A/A arm
	Seed     uint64
	// Environment is where it ran.
	Environment study.Environment
}

// OfStudy takes a study's arms as its own analysis does, block by block.
// metric "" is the primary one; control "" the study's own.
func OfStudy(spec study.Spec, r study.Results, metric, control string) (Study, error) {
	goal, ok := spec.GoalOf(metric)
	arms := armsOf(spec, r, goal)
	if !ok || len(arms) == 0 {
		return Study{}, hint.With(fmt.Errorf("no valid trial has the metric %q", goal.Metric), "metrics: %v", metricNames(r.Trials))
	}
	control = cmp.Or(control, spec.Control)
	i := slices.IndexFunc(arms, func(a stats.Arm) bool { return a.Name == control })
	if i < 0 {
		return Study{}, hint.Unknown("variant", control, armNames(arms))
	}
	s := Study{Metric: goal.Metric, Margin: goal.MarginPercent, Better: stats.HigherIsBetter, Control: arms[i], Seed: r.Seed, Environment: r.Environment}
	if m, _ := study.MetricNamed(goal.Metric); m.LowerIsBetter {
		s.Better = stats.LowerIsBetter
	}
	for _, a := range slices.Delete(arms, i, i+1) {
		if a.Name == study.AA {
			s.Checks = append(s.Checks, a)
		} else {
			s.Variants = append(s.Variants, a)
		}
	}
	return s, nil
}

// armsOf are the arms that have a value at all.
func armsOf(spec study.Spec, r study.Results, goal study.Goal) []stats.Arm {
	var arms []stats.Arm
	for _, name := range spec.Arms() {
		a := study.ArmValues(spec, r.Seed, goal, name, r.Trials)
		if slices.ContainsFunc(a.Values, func(v float64) bool { return !math.IsNaN(v) }) {
			arms = append(arms, a)
		}
	}
	return arms
}

// Compare compares the study's variants with its control, block by block.
// The A/A arm follows, on its own: it is a check and no hypothesis, so it
// takes no part in Holm's correction.
func (s Study) Compare(opt stats.Options) Result {
	opt.Seed = s.Seed
	r := Result{Arms: []stats.Arm{s.Control}, Options: opt, Metric: s.Metric}
	r.Arms = append(append(r.Arms, s.Variants...), s.Checks...)
	r.Comparisons = append(stats.CompareBlocks(s.Control, s.Variants, opt), stats.CompareBlocks(s.Control, s.Checks, opt)...)
	return r
}

// WarnApart warns that samples of two studies were not interleaved, and names what was
// other in the second. of are the studies that the arms are from, nil for a file's.
func (r *Result) WarnApart(of []*Study) {
	for i := range r.Comparisons {
		if i+1 >= len(of) || of[0] == nil || of[i+1] == nil {
			continue
		}
		text := "the studies were not interleaved: whatever else changed between them is in the effect, and not in its interval"
		if changed := of[i+1].Environment.Since(of[0].Environment); len(changed) > 0 {
			text += " (" + strings.Join(changed, "; ") + ")"
		}
		c := &r.Comparisons[i]
		c.Warnings = append(c.Warnings, stats.Warning{Code: stats.Apart, Message: text, Action: "where both can be variants of one study, let it compare them"})
	}
}

// Arm is one variant's sample; "" is the control's.
func (s Study) Arm(variant string) (stats.Arm, error) {
	if variant == "" {
		return s.Control, nil
	}
	all := append(append([]stats.Arm{s.Control}, s.Variants...), s.Checks...)
	i := slices.IndexFunc(all, func(a stats.Arm) bool { return a.Name == variant })
	if i < 0 {
		return stats.Arm{}, hint.Unknown("variant", variant, armNames(all))
	}
	return all[i], nil
}

func metricNames(trials []study.Trial) []string {
	var names []string
	for _, t := range trials {
		for m := range t.Metrics {
			if !slices.Contains(names, m) {
				names = append(names, m)
			}
		}
	}
	slices.Sort(names)
	return names
}

func armNames(arms []stats.Arm) []string {
	names := make([]string, len(arms))
	for i, a := range arms {
		names[i] = a.Name
	}
	return names
}
