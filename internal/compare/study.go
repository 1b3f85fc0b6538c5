package compare

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/hint"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// Study is what comparing needs of a study's results.
type Study struct {
	Name     string
	Metric   string
	Better   stats.Direction
	Margin   float64 // percent
	Control  stats.Arm
	Variants []stats.Arm // those the study gives verdicts on
	Checks   []stats.Arm // the A/A arm
	Seed     uint64
}

// results are a study's, with what is asked of them here.
type results study.Results

// OfStudy takes a study's arms. metric "" is the primary one; control "" the
// study's own. Trials that are not valid do not count.
func OfStudy(of study.Results, metric, control string) (Study, error) {
	r := results(of)
	s := Study{Name: r.Study, Metric: metric, Seed: r.Seed, Better: stats.HigherIsBetter}
	part := ""
	for _, v := range r.Verdicts {
		if (metric == "" && v.Primary) || (metric != "" && v.Metric == metric) {
			s.Metric, s.Better, s.Margin, part = v.Metric, v.Better, v.MarginPercent, v.Part
			break
		}
	}
	if control != "" {
		r.Control = control
	}
	arms := r.arms(s.Metric, part)
	i := slices.IndexFunc(arms, func(a stats.Arm) bool { return a.Name == r.Control })
	if s.Metric == "" || len(arms) == 0 {
		return s, hint.With(fmt.Errorf("no valid trial has the metric %q", s.Metric), "metrics: %v", r.metricNames())
	}
	if i < 0 {
		return s, hint.Unknown("variant", r.Control, armNames(arms))
	}
	s.Control = arms[i]
	for _, a := range slices.Delete(arms, i, i+1) {
		if r.judges(s.Metric, a.Name) {
			s.Variants = append(s.Variants, a)
		} else {
			s.Checks = append(s.Checks, a)
		}
	}
	return s, nil
}

// judges reports whether the study has a verdict on a variant, or, with
// another control than its own, could have one.
func (r results) judges(metric, variant string) bool {
	for _, v := range r.Verdicts {
		if v.Metric == metric && (v.Variant == variant || v.Control == variant) {
			return true
		}
	}
	return len(r.Verdicts) == 0
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

// arms lines up the valid trials of a metric by block.
func (r results) arms(metric, part string) []stats.Arm {
	var blocks []int
	for _, t := range r.Trials {
		if (part == "" || t.Part == part) && !slices.Contains(blocks, t.Block) {
			blocks = append(blocks, t.Block)
		}
	}
	slices.Sort(blocks)
	var arms []stats.Arm
	for _, t := range r.Trials {
		v, ok := t.Metrics[metric]
		if !ok || !t.Valid || (part != "" && t.Part != part) {
			continue
		}
		i := slices.IndexFunc(arms, func(a stats.Arm) bool { return a.Name == t.Variant })
		if i < 0 {
			i = len(arms)
			arms = append(arms, stats.Arm{Name: t.Variant, Values: missing(len(blocks))})
		}
		b, _ := slices.BinarySearch(blocks, t.Block)
		if math.IsNaN(arms[i].Values[b]) {
			arms[i].Values[b] = v
		}
	}
	return arms
}

func missing(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.NaN()
	}
	return x
}

func (r results) metricNames() []string {
	var names []string
	for _, t := range r.Trials {
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
