package study

import (
	"fmt"
	"slices"

	"linerate/internal/list"
	"linerate/internal/show"
)

// warnHeadroom names the variants that the generator could not overload in any
// trial of a part: what they forward at most was not measured.
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

// alwaysFailed reports whether an arm was tried in a part, every trial of it failed one of the gates
// and, where only, no other; most is the largest load that it was offered.
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

// underOffered reports whether no trial of an arm has another fault than that the generator could
// not send what was due: the load was not the one asked for, but it was a load.
func underOffered(trials []Trial, part, arm string) (most float64, short bool) {
	return alwaysFailed(trials, part, arm, true, unsentGate, pacingGate)
}

// atOwnLoads are the trials of parts along a load, with those of arms that were
// offered less than asked for in all of them counted: at the load that they had.
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
// and so are compared with nothing there.
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
