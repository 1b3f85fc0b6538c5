package study

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/show"
	"linerate/internal/stats"
)

// carryOver sees what an arm leaves behind: by how much the control's slices
// that come right after it are slower than the A/A arm's of the same rounds,
// and the other way about. As a log ratio, or NaN.
func (in Instance) carryOver(t table, lane int) float64 {
	control, again := slices.Index(in.Arms, in.Control), slices.Index(in.Arms, AA)
	if control < 0 || again < 0 || lane == control || lane == again || in.Arms[lane] == BypassLane {
		return math.NaN()
	}
	after := map[int][]float64{}
	for i := 1; i < len(t.ns[lane])*len(in.Arms); i++ {
		who, round := in.Slices[i].Lane, t.round[i]
		if in.Slices[i-1].Lane != lane || who != control && who != again || !t.good[control][round] || !t.good[again][round] {
			continue
		}
		after[who] = append(after[who], math.Log(t.ns[who][round]/t.ns[control+again-who][round]))
	}
	c, _ := stats.TrimmedMean(after[control], Trim)
	a, _ := stats.TrimmedMean(after[again], Trim)
	return (c + a) / 2
}

// carryOvers sums up over the instances of the primary metric's part.
func carryOvers(s Spec, trials []Trial) []CarryOver {
	out := []CarryOver{}
	counts := Instances(s, trials)
	for _, v := range s.Variants {
		var values []float64
		for _, t := range trials {
			if t.Variant != v.Name || t.Part != s.Primary().Part || t.Attempt() == 0 || t.Attempt() != counts[t.Block] {
				continue
			}
			if c, ok := t.Observed.Interleaved.CarryOver.Get(); ok {
				values = append(values, c)
			}
		}
		if len(values) < 2 {
			continue
		}
		test := stats.OneSample(values, 0.95)
		out = append(out, CarryOver{Variant: v.Name, N: len(values), Effect: stats.EffectOf(test.Map(stats.Percent))})
	}
	return out
}

// carryOverLimit is the effect on its neighbours, in percent, from which an
// arm is named: beyond it the study should be run one trial after the other.
const carryOverLimit = 2

// warnCarryOver names the arms that move what comes after them.
func warnCarryOver(r *Results) {
	for _, c := range r.CarryOver {
		if c.CILow.Float() > carryOverLimit {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s changes the time per packet of whatever comes after it by %s: the arms do not leave each other alone; interleave: false in the study measures one after the other",
				c.Variant, show.Optional(c.EffectPercent, show.SignedPercent)))
		}
	}
}
