package study

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// warnHeadroom names the variants that the generator could not overload in any
// trial of a part, so that their maximum was not measured.
func warnHeadroom(r *Results, s Spec) {
	for _, p := range s.Parts {
		if !offersFrames(p) || !InOverload(p) || !p.Rate.IsMax() {
			continue
		}
		var never []string
		most := 0.0
		for _, v := range s.Variants {
			if offered, short := alwaysFailed(r.Trials, p.Name, v.Name, false, HeadroomGate); short {
				never, most = append(never, v.Name), max(most, offered)
			}
		}
		instead := "what a packet costs it, a part of mode cost tells"
		if s.OnMachines() {
			instead = "give the part a rate that both manage, and ask for loss_ratio"
		}
		if len(never) > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("part %s: the generator, which offered no more than %s, could not overload %s: what it forwards at most is not known here; %s",
				p.Name, show.Rate(most), show.List(never), instead))
		}
	}
}

// alwaysFailed reports whether an arm was tried in a part and every trial failed one of the gates,
// and, if only is set, no other gate. most is the largest load that it was offered.
func alwaysFailed(trials []Trial, part, arm string, only bool, gates ...string) (most float64, is bool) {
	for _, t := range trials {
		if t.Part != part || t.Variant != arm {
			continue
		}
		of := list.Filter(t.Reasons, func(why Refusal) bool { return slices.Contains(gates, why.Gate) })
		if len(of) == 0 || only && len(of) < len(t.Reasons) {
			return 0, false
		}
		most, is = max(most, t.Metrics[OfferedRate]), true
	}
	return most, is
}

// underOffered reports whether the only fault of every trial of an arm is that the generator
// could not send the load: it differed from the load asked for, but it was a steady load.
func underOffered(trials []Trial, part, arm string) (most float64, short bool) {
	return alwaysFailed(trials, part, arm, true, unsentGate, pacingGate)
}

// atOwnLoads returns the trials of parts along a load. It counts the trials of arms
// that were always offered less than asked for as valid, at the load that they had.
func atOwnLoads(s *Spec, parts []Part, trials []Trial) []Trial {
	type cell struct{ part, arm string }
	counts := map[cell]bool{}
	for _, p := range parts {
		for _, v := range s.Variants {
			_, counts[cell{p.Name, v.Name}] = underOffered(trials, p.Name, v.Name)
		}
	}
	out := slices.Clone(trials)
	for i, t := range out {
		out[i].Valid = t.Valid || counts[cell{t.Part, t.Variant}]
	}
	return out
}

// warnUnderOffered names the arms that were offered less than a part asks for,
// and so are not compared in it.
func warnUnderOffered(r *Results, s Spec) {
	for _, p := range s.Parts {
		if !offersFrames(p) || !InOverload(p) || p.Rate.IsMax() {
			continue
		}
		var arms []string
		for _, v := range s.Variants {
			if most, short := underOffered(r.Trials, p.Name, v.Name); short {
				arms = append(arms, fmt.Sprintf("%s (%s)", v.Name, show.Rate(most)))
			}
		}
		if len(arms) > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("part %s: the generator could not offer %s to %s: no verdict there, and a curve's point is where the load was",
				p.Name, p.Rate.Words(), show.List(arms)))
		}
	}
}

// carryOver estimates what an arm leaves behind: by how much the control's
// slices right after it are slower than the A/A arm's in the same rounds, and
// the other way round. It is a log ratio, or NaN.
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

// carryOvers summarises the carry-over of each variant over the instances of the primary metric's part.
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

// carryOverLimit is the effect on the next arm, in percent, from which an arm
// is named: beyond it the study should run trials in sequence.
const carryOverLimit = 2

// warnCarryOver names the arms that affect the arms after them.
func warnCarryOver(r *Results) {
	for _, c := range r.CarryOver {
		if c.CILow.Float() > carryOverLimit {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s changes the time per packet of whatever comes after it by %s: the arms do not leave each other alone; interleave: false in the study measures one after the other",
				c.Variant, show.Optional(c.EffectPercent, show.SignedPercent)))
		}
	}
}

// warnRedone says how many slices of which parts were repeated.
func warnRedone(r *Results, s Spec) {
	var of []string
	all, starved := 0, 0
	for _, p := range s.Parts {
		redone := 0
		for _, t := range r.Trials {
			if again := t.Saw().Redone; t.Part == p.Name && again != nil {
				redone, starved = redone+again.Slices, starved+again.Starved
			}
		}
		if all += redone; redone > 0 {
			of = append(of, fmt.Sprintf("%d of part %s", redone, p.Name))
		}
	}
	if all > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("slices repeated: %d because the generator fell short of its rate, %d because the router waited for its CPU (%s)",
			all-starved, starved, show.List(of)))
	}
}
