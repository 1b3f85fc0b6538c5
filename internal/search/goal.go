package search

import (
	"cmp"

	"linerate/internal/hint"
	"linerate/internal/list"
)

// Goal defines a throughput (draft-ietf-bmwg-mlrsearch-15, "Search Goal"): at
// which loss, for how long, and how often the loss may be exceeded.
type Goal struct {
	Name            string  `json:"name"`
	FinalDuration   float64 `json:"final_trial_duration"` // seconds; minimum duration of a full-length trial
	DurationSum     float64 `json:"duration_sum"`         // seconds of full-length trials needed to decide a load
	LossRatio       float64 `json:"loss_ratio"`           // above it a trial is high-loss
	ExceedRatio     float64 `json:"exceed_ratio"`         // tolerated share of high-loss time
	Width           float64 `json:"width"`                // relative distance of the bounds at which the search ends
	InitialDuration float64 `json:"initial_trial_duration"`
	Preceding       int     `json:"preceding_targets"` // coarser targets with shorter trials before the final one
}

// presets lists goals by name. RFC 2544 and TST009 follow the draft's
// compliance sections; NDR and PDR are those of the CSIT project. Sixty-second
// goals have four preceding targets: for a device with fluctuating loss the
// bounds move much from one duration to the next, and every miss at the final
// duration costs a minute.
var presets = []Goal{
	{Name: "rfc2544", FinalDuration: 60, DurationSum: 60, Width: 0.005, InitialDuration: 1, Preceding: 4},
	{Name: "tst009", FinalDuration: 60, DurationSum: 120, ExceedRatio: 0.5, Width: 0.005, InitialDuration: 1, Preceding: 4},
	{Name: "ndr", FinalDuration: 1, DurationSum: 21, ExceedRatio: 0.5, Width: 0.005, InitialDuration: 1, Preceding: 2},
	{Name: "pdr", FinalDuration: 1, DurationSum: 21, LossRatio: 0.005, ExceedRatio: 0.5, Width: 0.005, InitialDuration: 1, Preceding: 2},
}

// Preset finds a goal by name.
func Preset(name string) (Goal, error) {
	var known []string
	for _, g := range presets {
		if g.Name == name {
			return g, nil
		}
		known = append(known, g.Name)
	}
	return Goal{}, hint.Unknown("search goal", name, known)
}

// Class is the classification of a load for a goal.
type Class string

// The classes of a load.
const (
	LowerBound Class = "lower bound"
	UpperBound Class = "upper bound"
	Undecided  Class = "undecided"
)

// sums holds sums of effective durations at one load, by trial length and loss.
type sums struct{ fullLow, fullHigh, shortLow, shortHigh float64 }

func (g Goal) sums(trials []Outcome) (s sums) {
	for _, o := range trials {
		full, high := o.Duration >= g.FinalDuration, o.LossRatio > g.LossRatio
		switch d := o.effective(); {
		case full && high:
			s.fullHigh += d
		case full:
			s.fullLow += d
		case high:
			s.shortHigh += d
		default:
			s.shortLow += d
		}
	}
	return s
}

// ExceedRatios returns the shares of high-loss time at a load, assuming that
// all time missing to the duration sum is low-loss, and that it is high-loss
// (draft, "Load Classification Logic"). Short high-loss trials count as far
// as short low-loss ones do not balance them.
func (g Goal) ExceedRatios(trials []Outcome) (optimistic, pessimistic float64) {
	s := g.sums(trials)
	balance := s.shortLow * g.ExceedRatio / (1 - g.ExceedRatio)
	high := s.fullHigh + max(0, s.shortHigh-balance)
	whole := max(s.fullLow+high, g.DurationSum)
	return high / whole, (whole - s.fullLow) / whole
}

// Classify classifies a load from all its trials: it is a lower bound if even
// the pessimistic exceed ratio is within the goal's, an upper bound if even
// the optimistic one is not (draft, "Load Classification Code").
func (g Goal) Classify(trials []Outcome) Class {
	optimistic, pessimistic := g.ExceedRatios(trials)
	// Sums of seconds have rounding errors, which must not decide.
	quota := g.ExceedRatio + 1e-12
	switch {
	case pessimistic <= quota:
		return LowerBound
	case optimistic > quota:
		return UpperBound
	}
	return Undecided
}

// ConditionalThroughput returns the forwarding rate that full-length trials
// at a load reach or exceed for all but the goal's exceed ratio of the time
// (draft, "Conditional Throughput Code"; its max with the duration sum is
// missing in the draft's prose). Missing time counts as lost. All trials must
// be at one load.
func (g Goal) ConditionalThroughput(trials []Outcome) float64 {
	if len(trials) == 0 {
		return 0
	}
	var full []Outcome
	total := 0.0
	for _, o := range trials {
		if o.Duration >= g.FinalDuration {
			full = append(full, o)
			total += o.effective()
		}
	}
	list.Sort(full, func(a, b Outcome) int { return cmp.Compare(a.LossRatio, b.LossRatio) })
	remaining := max(g.DurationSum, total) * (1 - g.ExceedRatio)
	loss := 1.0
	for i, o := range full {
		if i > 0 && remaining <= 0 {
			break
		}
		loss = o.LossRatio
		remaining -= o.effective()
	}
	if remaining > 0 {
		loss = 1
	}
	return trials[0].Load * (1 - loss)
}
