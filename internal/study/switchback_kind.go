package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"linerate/internal/list"
	"linerate/internal/setting"
	"linerate/internal/stats"
	"linerate/internal/testbed"
	"linerate/internal/yamlfile"
)

// SwitchbackMode is the mode of parts of this kind.
const SwitchbackMode testbed.Mode = "switchback"

// Terms specifies how to study a live host. Times are in seconds.
type Terms struct {
	Window float64 `yaml:"window"`
	BurnIn float64 `yaml:"burn_in"`
	Pilot  float64 `yaml:"pilot"`
	// Watch lists the metrics as users write them, the primary one first. Better
	// is the direction of improvement for user-defined ones.
	Watch  []string `yaml:"watch"`
	Better string   `yaml:"better,omitempty"`
	// PlanPercent is the effect to detect with a power of 0.8: the pilot determines the number of
	// pairs, up to the part's. 0: run the part's pairs.
	PlanPercent float64 `yaml:"plan_percent,omitempty"`
	// Service is a process; a window in which it restarted does not count.
	Service string `yaml:"service,omitempty"`
	// HarmPercent is how much worse the primary metric may get before the study ends.
	HarmPercent float64 `yaml:"harm_percent"`
	// MaxShare is the largest share of time under treatment, in percent; 0: half of all pairs' time.
	MaxShare float64 `yaml:"max_share_percent,omitempty"`
	// Imbalance is the largest ratio of traffic between the halves of a pair.
	Imbalance float64 `yaml:"imbalance"`
}

// Default terms.
const (
	defaultWindow    = 300
	defaultHarm      = 20
	defaultImbalance = 2
	leastWindow      = 0.5
	mostWindow       = 86400
)

// fillTerms fills in the terms that a part does not state.
func fillTerms(p *Part, said func(key string) bool) {
	if p.Live == nil {
		p.Live = &Terms{}
	}
	t := p.Live
	Unless(said, "window", &t.Window, defaultWindow)
	Unless(said, "burn_in", &t.BurnIn, t.Window/5)
	Unless(said, "pilot", &t.Pilot, min(max(2*t.Window, 10), 600))
	Unless(said, "harm_percent", &t.HarmPercent, defaultHarm)
	Unless(said, "imbalance", &t.Imbalance, defaultImbalance)
	p.Seconds, p.Warmup = t.Window-t.BurnIn, t.BurnIn
}

// checkSwitched requires that live hosts are studied by live modes, and nothing else is.
func checkSwitched(s *Spec) *yamlfile.Problem {
	for i, p := range s.Parts {
		if s.OnLiveHost() != (p.Mode == SwitchbackMode || p.Mode == ConnectionsMode) {
			return yamlfile.Wrong(PartPath(i)+".mode", "modes %s and %s need testbed live", SwitchbackMode, ConnectionsMode).Advise("write testbed: {kind: live, host: ssh://HOST}, and leave mode out")
		}
		if s.OnLiveHost() && (s.Design == Concurrent) != (p.Mode == ConnectionsMode) {
			return yamlfile.Wrong(PartPath(i)+".mode", "mode %s is of design %s, and of no other", ConnectionsMode, Concurrent)
		}
	}
	if s.OnLiveHost() && len(s.Parts) != 1 {
		return yamlfile.Wrong("parts", "a live host is studied in one part, with as many metrics as you like")
	}
	return nil
}

// checkTerms refuses invalid terms, and settings that a live host cannot apply temporarily.
func checkTerms(s *Spec, t *Terms, path string) *yamlfile.Problem {
	if bad := cmp.Or(
		yamlfile.Within(path+".window", t.Window, leastWindow, mostWindow), yamlfile.Within(path+".burn_in", t.BurnIn, 0, 0.8*t.Window),
		yamlfile.Within(path+".pilot", t.Pilot, 0, mostWindow), yamlfile.Within(path+".harm_percent", t.HarmPercent, 1, 1000),
		yamlfile.Within(path+".plan_percent", t.PlanPercent, 0, 1000), yamlfile.Within(path+".max_share_percent", t.MaxShare, 0, 50), yamlfile.Within(path+".imbalance", t.Imbalance, 1.1, 100),
		yamlfile.OneOf(path+".better", t.Better, "", string(stats.HigherIsBetter), string(stats.LowerIsBetter)),
	); bad != nil {
		return bad
	}
	if len(t.Watch) == 0 {
		return yamlfile.Wrong(path+".watch", "nothing is watched").Advise("say what is to get better: watch: [\"log:/var/log/nginx/access.log\"]")
	}
	for i, v := range s.Variants {
		for j, set := range v.Settings {
			if !set.Is(setting.Sysctl) && (!set.Is(setting.Link) || slices.Contains([]string{"mtu", "txqueuelen"}, set.Setting().Name)) {
				return yamlfile.Wrong(fmt.Sprintf("variants[%d].settings[%d]", i, j), "a live study can only change run-time settings that can be restored exactly: sysctls, and offloads of an interface (link: gro, device: eth0)").Advise("a study on a testbed that is out of service can try it: testbed: {kind: ssh, file: lab.yaml}")
			}
		}
	}
	return nil
}

// terms returns a part's terms; zero for a part of another kind.
func (p Part) terms() Terms {
	if p.Live == nil {
		return Terms{}
	}
	return *p.Live
}

// PlanOf returns the design of a study's part.
func PlanOf(s Spec, p Part) WindowPlan {
	t := p.terms()
	plan := WindowPlan{Window: Seconds(t.Window), BurnIn: Seconds(t.BurnIn), MaxShare: t.MaxShare / 100}
	for _, v := range s.Variants {
		if v.Name != s.Control {
			plan.Treatments = append(plan.Treatments, v.Name)
		}
	}
	plan.Pairs = plan.pairsOf(p.Blocks)
	return plan
}

// pairSlots returns the trials of a live host in order, with blocks numbered from first: a
// block is a pair.
func pairSlots(s *Spec, p Part, seed uint64, first int) []Slot {
	slots := []Slot{}
	for _, slot := range PlanOf(*s, p).Schedule(seed) {
		if slot.Pair == 0 {
			continue
		}
		slots = append(slots, Slot{Part: p.Name, Block: first - 1 + slot.Pair, Order: slot.Half, Variant: VariantOf(s.Control, slot.Arm)})
	}
	return slots
}

// VariantOf returns the variant in the record for an arm of the schedule.
func VariantOf(control, arm string) string {
	switch arm {
	case Control, Rest:
		return control
	case Sham:
		return AA
	}
	return arm
}

// compareSwitchback compares each arm within its own pairs, by a
// randomisation test over the order within pairs.
func compareSwitchback(control stats.Arm, arms []stats.Arm, opt stats.Options) []stats.Comparison {
	controls, own := make([]stats.Arm, len(arms)), make([]stats.Arm, len(arms))
	for i, a := range arms {
		controls[i].Name, own[i].Name = control.Name, a.Name
		for block, v := range a.Values {
			if !math.IsNaN(v) && block < len(control.Values) {
				controls[i].Values = append(controls[i].Values, control.Values[block])
				own[i].Values = append(own[i].Values, v)
			}
		}
	}
	opt.Draws = 0 // use the deciding test's own number: looks decide by the same test
	return stats.CompareSwitchback(controls, own, opt)
}

// windowGates are the gates of windows.
var windowGates = gatesOfWindows(GateKey, GateReload, GateBoot, GateClock, GateTraffic, GateNothing, GateRead, GateGuard)

func gatesOfWindows(names ...string) []Gate {
	return list.Map(names, func(name string) Gate {
		return Gate{Name: name, Ask: func(a Asked) (faults []string) {
			w := a.Observed.Window
			if w == nil {
				return nil
			}
			for _, d := range w.Disturbed {
				if d.Gate == name {
					faults = append(faults, d.Text)
				}
			}
			if name == GateGuard && w.Trip != nil {
				faults = append(faults, w.Trip.Text)
			}
			return faults
		}}
	})
}

// TripOf returns the guardrail that ended a study, and the variant under which it tripped.
func TripOf(trials []Trial) (variant string, trip *Trip) {
	for _, t := range trials {
		if w := t.Saw().Window; w != nil && w.Trip != nil {
			return cmp.Or(w.Trip.After, t.Variant), w.Trip
		}
	}
	return "", nil
}

// deriveLive withdraws all metrics of a variant under which a guardrail ended the
// study: the data end because the variant looked bad, so their mean is biased.
func deriveLive(r *Results, s Spec) {
	switch s.Design {
	case Switchback:
		detectable(r)
	case Concurrent:
		deriveConnections(r, s)
	default:
		return
	}
	if variant, trip := TripOf(r.Trials); trip != nil {
		r.Ended = &Ended{Trip: *trip, Variant: variant}
		if s.Design == Concurrent {
			r.Ended.what = "connection"
		}
		for i := range r.Verdicts {
			r.Ended.end(&r.Verdicts[i])
		}
	}
}

// end replaces a verdict on the variant by one that makes no statement about the metric.
func (e *Ended) end(v *Verdict) {
	if v.Variant != e.Variant {
		return
	}
	if v.Primary {
		e.Pairs = v.N
	}
	*v = Verdict{Metric: v.Metric, Part: v.Part, Primary: v.Primary, Control: v.Control, Variant: v.Variant, Result: stats.Result{N: v.N, Verdict: stats.Stopped},
		Better: v.Better, Unit: v.Unit, MarginPercent: v.MarginPercent, MarginPoints: v.MarginPoints, ControlMean: v.ControlMean, VariantMean: v.VariantMean,
		Interleaved: v.Interleaved, Method: stats.GuardrailEnded, Scale: v.Scale, Warnings: []string{"guardrail " + e.Text}}
}

// detectable takes the minimum detectable effect from the treatments' pairs if there are
// too few shams to estimate the scatter.
func detectable(r *Results) {
	if r.AA.N >= stats.LeastPairs || r.AA.InPoints() {
		return
	}
	r.MDE = stats.Number{}
	for _, v := range r.Verdicts {
		if v.Primary && v.N >= stats.LeastPairs && !(v.MDE.Float() < r.MDE.Float()) {
			r.MDE = v.MDE
		}
	}
}

// ValidPairs counts, for each treatment and for shams, the pairs whose windows are both valid.
func ValidPairs(trials []Trial) map[string]int {
	valid := map[string]int{}
	for i := 1; i < len(trials); i++ {
		a, b := trials[i-1], trials[i]
		if b.Saw().Window != nil && b.Block > 0 && a.Block == b.Block && a.Order != b.Order && a.Valid && b.Valid {
			valid[b.Observed.Window.Of]++
		}
	}
	return valid
}

// enough reports whether every treatment has as many valid pairs as the study requires.
func enough(s Spec, trials []Trial) bool {
	plan, valid := PlanOf(s, s.Parts[0]), ValidPairs(trials)
	return !slices.ContainsFunc(plan.Treatments, func(of string) bool { return valid[of] < plan.Pairs })
}

// LooksOf plans the blocks after which a study of the given pairs may stop; nil
// if the only look is at its end.
func (p WindowPlan) LooksOf(pairs int, precision float64) *Looks {
	l := &Looks{PrecisionPercent: precision}
	for _, at := range p.LooksIn(pairs) {
		l.Blocks = append(l.Blocks, p.BlocksFor(at))
	}
	if len(l.Blocks) == 1 {
		return nil
	}
	return l
}

// LooksIn returns the numbers of pairs of each treatment after which a study has a
// look: never before the test can reach the level of the look, and always at the end.
func (p WindowPlan) LooksIn(pairs int) (looks []int) {
	for at := p.firstLook(pairs); at < pairs; at = max(at+1, at*3/2) {
		looks = append(looks, at)
	}
	return append(looks, pairs)
}

// LeastPairs returns the smallest number of pairs of each treatment with which the
// test can decide, corrected over the treatments.
func (p WindowPlan) LeastPairs() int {
	n := stats.LeastPairs
	for math.Pow(2, float64(1-n))*float64(len(p.Treatments)) > 0.05 {
		n++
	}
	return n
}

// firstLook returns the smallest number of pairs at which the test can reach the
// level of a first look there.
func (p WindowPlan) firstLook(pairs int) int {
	for n := stats.LeastPairs; n < pairs; n++ {
		s, err := stats.NewSequential([]int{n, pairs}, 0.05/float64(max(1, len(p.Treatments))))
		if err == nil && math.Pow(2, float64(1-n)) <= s.Levels[0] {
			return n
		}
	}
	return pairs
}

// warnSwitchback names the effects for which the windows are too short.
func warnSwitchback(r *Results, s Spec) {
	for _, v := range r.Verdicts {
		if longer := v.Longer(s); longer != "" {
			r.Warnings = append(r.Warnings, longer+" (metric "+v.Metric+")")
		}
	}
}
