package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// AcrossBeds merges the environments of a study's testbeds: it returns the
// first testbed's environment, with what was unavailable on any of them and how
// the others differ. of[i] is the environment of the testbed names[i].
func AcrossBeds(names []string, of []Environment) Environment {
	if len(of) == 0 {
		return Environment{}
	}
	e := of[0]
	e.Beds, e.Facts = nil, nil
	for i, o := range of {
		b := BedEnvironment{Testbed: names[i], Hostname: o.Hostname, Kernel: o.Kernel, CPU: o.CPU, Differs: o.apartFrom(of[0])}
		for j, ref := range o.Facts {
			e.Facts = append(e.Facts, ref)
			if j == 0 {
				b.Facts = &ref
			}
		}
		e.Beds = append(e.Beds, b)
		for mode, bed := range o.Testbeds {
			if _, known := e.Testbeds[mode]; !known {
				put(&e.Testbeds, mode, bed)
			}
		}
		for what, why := range o.Unavailable {
			if e.Unavailable[what] == "" {
				put(&e.Unavailable, what, why+" (testbed "+names[i]+")")
			}
		}
	}
	return e
}

// apartFrom lists how a testbed differs from the first, apart from its name.
func (e Environment) apartFrom(first Environment) []string {
	out := []string{}
	for _, d := range append(differences(first, e), difference{"machine", first.Machine, e.Machine}, difference{"CPUs", fmt.Sprint(first.CPUs), fmt.Sprint(e.CPUs)}) {
		if d.was != d.is {
			out = append(out, fmt.Sprintf("%s %s (%s)", d.what, cmp.Or(d.is, "not known"), cmp.Or(d.was, "not known")))
		}
	}
	return out
}

// bedsOf returns which testbed ran each block, and the sorted names of all
// testbeds; nil for a single testbed.
func bedsOf(trials []Trial) (byBlock map[int]string, names []string) {
	byBlock = map[int]string{}
	for _, t := range trials {
		if t.Testbed == "" {
			continue
		}
		byBlock[t.Block] = t.Testbed
		names = list.With(names, t.Testbed)
	}
	slices.Sort(names)
	if len(names) < 2 {
		return nil, nil
	}
	return byBlock, names
}

// shareBeds counts the blocks and trials that each of several testbeds ran.
func (r *Results) shareBeds() {
	byBlock, names := bedsOf(r.Trials)
	for _, name := range names {
		b := BedShare{Testbed: name, Trials: list.Count(r.Trials, func(t Trial) bool { return t.Testbed == name })}
		for _, of := range byBlock {
			if of == name {
				b.Blocks++
			}
		}
		for _, e := range r.Environment.Beds {
			if e.Testbed == name {
				b.Differs = e.Differs
			}
		}
		r.Beds = append(r.Beds, b)
	}
}

// addBeds computes the effect on each of several testbeds, and whether the effects differ.
func (v *Verdict) addBeds(s Spec, g Goal, c stats.Comparison, control, variant stats.Arm, opt stats.Options, blocks []int, trials []Trial) {
	byBlock, names := bedsOf(trials)
	if len(names) < 2 {
		return
	}
	opt.NoPlan, opt.Bare = true, true
	var groups [][]float64
	for _, name := range names {
		here := func(a stats.Arm) stats.Arm {
			own := stats.Arm{Name: a.Name, Values: slices.Clone(a.Values)}
			for i := range own.Values {
				if byBlock[blocks[i]] != name {
					own.Values[i] = math.NaN()
				}
			}
			return own
		}
		a, b := here(control), here(variant)
		of := s.compare(g, a, []stats.Arm{b}, trials, opt)[0]
		if of.N == 0 {
			continue
		}
		v.Beds = append(v.Beds, BedEffect{Testbed: name, N: of.N, Effect: of.Result().Effect})
		groups = append(groups, blockEffects(a.Values, b.Values, c.Scale))
	}
	if len(v.Beds) < 2 {
		v.Beds = nil
		return
	}
	v.PBeds = stats.Num(stats.AmongGroups(groups).P)
	if p := v.PBeds; p.Known() && p.Float() < alpha {
		v.Warnings = append(v.Warnings, fmt.Sprintf("the effect differs between testbeds (%s): %s; the verdict is about their mean, and holds for these testbeds only", show.PIs(p.Float()), v.BedList()))
	}
}

// BedList describes a verdict's effect on each testbed.
func (v *Verdict) BedList() string {
	parts := list.Map(v.Beds, func(b BedEffect) string { return b.Testbed + " " + b.TextWithBounds() })
	return show.List(parts)
}

// blockEffects returns the effects, on a scale, of the blocks in which both arms have a value.
func blockEffects(control, variant []float64, scale stats.Scale) (out []float64) {
	for i, a := range control {
		d := variant[i] - a
		if scale == stats.LogRatio {
			d = math.Log(variant[i] / a)
		}
		if !math.IsNaN(d) && !math.IsInf(d, 0) {
			out = append(out, d)
		}
	}
	return out
}

// BedsLine says which testbeds ran the study, and whether they are alike; "" if
// there was only one.
func (r *Results) BedsLine() string {
	if len(r.Beds) < 2 {
		return ""
	}
	var parts, apart []string
	for _, b := range r.Beds {
		parts = append(parts, fmt.Sprintf("%s (%s)", b.Testbed, show.Plural(b.Blocks, "block")))
		if len(b.Differs) > 0 {
			apart = append(apart, fmt.Sprintf("%s has %s", b.Testbed, show.List(b.Differs)))
		}
	}
	line := fmt.Sprintf("Spread over %d testbeds: %s. Each block ran on one of them, so a faster testbed moves no effect.", len(r.Beds), show.List(parts))
	if len(apart) > 0 {
		line += " They are not alike: " + show.List(apart) + " (first: in brackets)."
	}
	var agree, differ []string
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if !v.Primary || !v.PBeds.Known() {
			continue
		}
		said := fmt.Sprintf("%s (%s)", v.Variant, show.PIs(v.PBeds.Float()))
		if v.PBeds.Float() < alpha {
			differ = append(differ, said+": "+v.BedList())
		} else {
			agree = append(agree, said)
		}
	}
	if len(agree) > 0 {
		line += " No difference shown between testbeds in the effect of " + show.List(agree) + "."
	}
	if len(differ) > 0 {
		line += " The effect differs between testbeds for " + show.List(differ) + "."
	}
	return line
}
