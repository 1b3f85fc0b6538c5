package study

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"linerate/internal/show"
	"linerate/internal/stats"
)

// Analyse derives a study's results from its trials. It is a pure function: the
// same trials always give the same results.
func Analyse(s Spec, seed uint64, env Environment, trials []Trial) Results {
	r := Results{
		Version: ResultsVersion, Study: s.Name, Question: s.Question, Seed: seed, Environment: env,
		Trials: append([]Trial{}, trials...), Verdicts: []Verdict{}, Control: s.Control,
		Unavailable: unavailable(trials), Warnings: []string{}, CarryOver: []CarryOver{}, Drops: []Drops{},
	}
	e := &r.Environment
	e.Mitigations, e.Testbeds, e.Unavailable = orEmpty(e.Mitigations), orEmpty(e.Testbeds), orEmpty(e.Unavailable)
	run := asRun(trials)
	_, more := Next(s, seed, run, func(p Part) bool {
		return env.Lacks(p) || s.OutOfReach(p, trials) != ""
	})
	switch s.Design {
	case Switchback:
		r.Complete = !more || enough(s, run) || s.Settled(seed, run)
	case Concurrent:
		r.Complete = allWindows(s, run)
	default:
		r.Complete = !more
	}
	if _, trip := TripOf(trials); trip != nil {
		r.Complete = true
	}
	r.spanTime()
	r.shareBeds()
	for _, g := range s.Metrics {
		if p, _ := s.Part(g.Part); s.OutOfReach(p, trials) != "" {
			continue
		}
		r.Verdicts = append(r.Verdicts, verdicts(s, g, seed, trials, r.Complete)...)
	}
	r.doubtEquivalence(s)
	r.compareAA(s, seed)
	r.Curves, r.Wire, r.CarryOver = curves(s, trials), wireRates(s, trials), carryOvers(s, trials)
	r.Drops, r.States = dropsOf(s, trials), statesOf(s, trials)
	deriveFlows(&r, s)
	deriveLive(&r, s)
	r.warn(s)
	r.Answer = answer(s, r)
	return r
}

// GateExcluded marks trials that somebody excluded after the study was complete.
const GateExcluded = "excluded"

// asRun returns the trials as the study ran them: a trial that was excluded later need not run again.
func asRun(trials []Trial) []Trial {
	run := slices.Clone(trials)
	for i, t := range run {
		if slices.ContainsFunc(t.Reasons, func(r Refusal) bool { return r.Gate == GateExcluded }) {
			run[i].Valid = true
		}
	}
	return run
}

func unavailable(trials []Trial) []Unavailable {
	out := []Unavailable{}
	for _, t := range trials {
		known := slices.ContainsFunc(out, func(u Unavailable) bool { return u.Variant == t.Variant })
		if t.Unavailable != "" && t.Variant != AA && !known {
			out = append(out, Unavailable{t.Variant, t.Unavailable})
		}
	}
	return out
}

// doubtEquivalence withdraws an equivalence where the kind of part knows why the arms may only look equal.
func (r *Results) doubtEquivalence(s Spec) {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if v.Verdict != stats.Equivalent {
			continue
		}
		if why := s.doubt(v.Part, v.Metric, r.Trials, v.Control, v.Variant); why != "" {
			v.Verdict = stats.Inconclusive
			v.Warnings = append(v.Warnings, why+", and is not shown to be less than "+v.Margin())
		}
	}
}

// Metric finds a metric by name, labelled for the study's workload.
func (r Results) Metric(name string) (Metric, bool) {
	m, ok := MetricNamed(name)
	return m.In(r.Workload()), ok
}

func (r *Results) spanTime() {
	for i := range r.Trials {
		t := &r.Trials[i]
		end := t.Start.Add(Seconds(t.Seconds))
		if r.Started == nil || t.Start.Before(*r.Started) {
			r.Started = &t.Start
		}
		if r.Finished == nil || end.After(*r.Finished) {
			r.Finished = &end
		}
	}
}

// ArmValues returns an arm's values of a metric, one per block of the part; NaN
// where the block has no valid trial with the metric.
func ArmValues(s Spec, seed uint64, g Goal, arm string, trials []Trial) stats.Arm {
	blocks := begun(s, blocksOf(s, seed, g.Part), g.Part, trials)
	values := make([]float64, len(blocks))
	for i := range values {
		values[i] = math.NaN()
	}
	instance := Instances(s, trials)
	for _, t := range trials {
		i := slices.Index(blocks, t.Block)
		if i < 0 || t.Part != g.Part || t.Variant != arm || !t.Valid || !math.IsNaN(values[i]) || t.Attempt() != instance[t.Block] {
			continue
		}
		if v, ok := t.Metrics[g.Metric]; ok {
			values[i] = v
		}
	}
	return stats.Arm{Name: arm, Values: values}
}

// blocksOf lists the block numbers of a part.
func blocksOf(s Spec, seed uint64, part string) []int {
	var blocks []int
	for _, slot := range Schedule(s, seed) {
		if slot.Part == part && slot.Order == 1 {
			blocks = append(blocks, slot.Block)
		}
	}
	return blocks
}

// begun drops the blocks that a study with planned looks did not need. On a live host
// it returns every block that ran: further pairs replace invalid ones.
func begun(s Spec, blocks []int, part string, trials []Trial) []int {
	if s.Design == Switchback {
		blocks = blocks[:0]
		for _, t := range trials {
			for len(blocks) < t.Block {
				blocks = append(blocks, len(blocks)+1)
			}
		}
		return blocks
	}
	if s.Looks == nil || part != s.Primary().Part {
		return blocks
	}
	n := 0
	for i, b := range blocks {
		if slices.ContainsFunc(trials, func(t Trial) bool { return t.Block == b }) {
			n = i + 1
		}
	}
	return blocks[:n]
}

func options(m Metric, g Goal, seed uint64) stats.Options {
	better := stats.HigherIsBetter
	if m.LowerIsBetter {
		better = stats.LowerIsBetter
	}
	return stats.Options{MarginPercent: g.MarginPercent, MarginPoints: g.MarginPoints, Share: m.Share, Better: better, Seed: seed, Bucket: m.Bucket}
}

// verdicts compares every available variant with the control by one metric;
// Holm's correction covers these comparisons.
func verdicts(s Spec, g Goal, seed uint64, trials []Trial, complete bool) []Verdict {
	m, _ := MetricNamed(g.Metric)
	m = m.In(s.workload())
	control, arms := s.armsOf(g, seed, trials)
	opt := options(m, g, seed)
	cs := s.compare(g, control, arms, trials, opt)
	if l := s.looksAt(g, len(control.Values), len(arms)); !complete && s.OnLiveHost() {
		atAnyTime(cs, opt)
	} else if l != nil {
		l.settle(cs, opt)
	}
	s.outlast(cs, g, seed, trials, opt)
	bare := opt
	bare.Bare, bare.NoPlan = true, true
	aa := s.aa(g, seed, trials, control, bare)
	for i := range cs {
		cs[i].Doubt(aa, opt)
	}
	var out []Verdict
	for i, c := range cs {
		v := verdictOf(m, g, c)
		switch {
		case (s.Design == Concurrent || m.Mode == FlowsMode) && m.NS == IsTime:
			d := c.Difference
			v.EffectNS, v.NSLow, v.NSHigh = stats.Num(d.Estimate), stats.Num(d.Low), stats.Num(d.High)
		case c.Method != stats.OverBothArms:
			v.addNS(m, control.Values, arms[i].Values)
		}
		v.Interleaved = howOf(trials, g.Part, v.Variant)
		v.addBeds(s, g, c, control, arms[i], opt, begun(s, blocksOf(s, seed, g.Part), g.Part, trials), trials)
		out = append(out, v)
	}
	return out
}

// armsOf returns the values of the control and of every available variant.
func (s Spec) armsOf(g Goal, seed uint64, trials []Trial) (control stats.Arm, arms []stats.Arm) {
	gone := missing(trials)
	for _, v := range s.Variants {
		if v.Name != s.Control && !gone[v.Name] {
			arms = append(arms, ArmValues(s, seed, g, v.Name, trials))
		}
	}
	return ArmValues(s, seed, g, s.Control, trials), arms
}

func verdictOf(m Metric, g Goal, c stats.Comparison) Verdict {
	v := Verdict{
		Metric: m.Name, Part: g.Part, Primary: g.Primary, Control: c.Control, Variant: c.Variant,
		Result: c.Result(),
		Better: stats.HigherIsBetter, Unit: m.Unit, MarginPercent: g.MarginPercent, MarginPoints: g.MarginPoints,
		ControlMean: stats.Num(c.ControlSum.Mean), VariantMean: stats.Num(c.VariantSum.Mean),
		PEquivalent: stats.Num(c.PEquivalentHolm), MDE: stats.Num(c.DetectablePercent),
		Method: c.Method, Scale: string(c.Scale), Warnings: []string{},
	}
	if m.LowerIsBetter {
		v.Better = stats.LowerIsBetter
	}
	if size, _, _ := v.Size(); !size.Known() && c.Scale == stats.Difference {
		v.Difference, v.DifferenceLow, v.DifferenceHigh = stats.Num(c.Effect.Estimate), stats.Num(c.Effect.Low), stats.Num(c.Effect.High)
	}
	if !math.IsNaN(c.Late.P) && c.N >= stats.LeastPairs && c.Design == stats.Switchback {
		v.Late = &Late{P: stats.Num(c.Late.P), Short: c.Short}
	}
	for _, w := range c.Warnings {
		v.Warnings = append(v.Warnings, w.String())
	}
	return v
}

// addNS adds the effect in nanoseconds: the mean of the block-wise differences
// and its interval. Rates are inverted first.
func (v *Verdict) addNS(m Metric, control, variant []float64) {
	if m.NS == NoNS {
		return
	}
	var d []float64
	for i := range control {
		a, b := control[i], variant[i]
		if m.NS == InverseNS {
			a, b = 1e9/a, 1e9/b
		}
		if diff := b - a; !math.IsNaN(diff) && !math.IsInf(diff, 0) {
			d = append(d, diff)
		}
	}
	if len(d) == 0 {
		return
	}
	t := stats.OneSample(d, 0.95)
	v.EffectNS, v.NSLow, v.NSHigh = stats.Num(t.Estimate), stats.Num(t.Low), stats.Num(t.High)
}

// compareAA compares the control with itself by every metric. The primary
// metric's comparison gives the study's noise floor; the others only count as
// false positives or not.
func (r *Results) compareAA(s Spec, seed uint64) {
	r.AA = AAResult{Result: stats.Result{Verdict: stats.Invalid}, Metric: s.Primary().Metric, FalseAlarms: []string{}}
	for _, g := range s.Metrics {
		m, _ := MetricNamed(g.Metric)
		c := s.aa(g, seed, r.Trials, ArmValues(s, seed, g, s.Control, r.Trials), options(m, g, seed))
		alarm := c.Verdict.Differs()
		if g.Primary {
			r.AA.Result = c.Result()
			r.MDE, r.MDEPoints = stats.Num(c.DetectablePercent), c.DetectablePoints()
			r.NoiseFloor = stats.Num(max(math.Abs(c.EffectPercent.Low), math.Abs(c.EffectPercent.High)))
			if m.Share {
				r.NoiseFloorPoints = stats.Num(max(math.Abs(r.AA.PointsLow.Float()), math.Abs(r.AA.PointsHigh.Float())))
			}
		} else if alarm {
			r.AA.FalseAlarms = append(r.AA.FalseAlarms, g.Metric+" in part "+g.Part)
		}
	}
}

// aa compares the control with itself by a metric.
func (s Spec) aa(g Goal, seed uint64, trials []Trial, control stats.Arm, opt stats.Options) stats.Comparison {
	c := s.compare(g, control, []stats.Arm{ArmValues(s, seed, g, AA, trials)}, trials, opt)[0]
	if l := s.looksAt(g, len(control.Values), 1); l != nil {
		c, _ = l.aa.Settle(c, l.look, opt)
	}
	return c
}

// warn collects what a reader must know before believing the verdicts.
func (r *Results) warn(s Spec) {
	switch size, _, _ := r.AA.Size(); {
	case !r.AA.Verdict.Differs():
	case !size.Known(): // the control's own value cannot be told from zero
		r.Warnings = append(r.Warnings, fmt.Sprintf("the A/A arm differs from the control although both are %s: distrust the verdicts on %s", s.Control, r.AA.Metric))
	default:
		r.Warnings = append(r.Warnings, fmt.Sprintf("the A/A arm differs from the control by %s although both are %s: effects up to %s have no verdict",
			r.AA.Text(), s.Control, r.Floor()))
	}
	if len(r.AA.FalseAlarms) > 0 {
		by := ""
		if n := len(s.Metrics) - 1; n >= 5 {
			by = fmt.Sprintf("; of %d such comparisons one in twenty does by chance", n)
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("the A/A arm also differs from the control by %s%s", show.List(r.AA.FalseAlarms), by))
	}
	r.warnInvalid()
	warnForward(r, s)
	warnClients(r, s)
	warnSwitchback(r, s)
	for _, mode := range slices.Sorted(maps.Keys(r.Environment.Unavailable)) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("mode %s is unavailable here: %s", mode, r.Environment.Unavailable[mode]))
	}
	for _, bed := range r.Environment.Testbeds {
		if bed.Kind == "netns" && !bed.Privileged {
			r.Warnings = append(r.Warnings, "measured without privileges, by packet sockets in a user namespace: these are costs per packet, not rates under overload")
			break
		}
	}
	for _, change := range r.Environment.Resumed {
		r.Warnings = append(r.Warnings, "the machine changed before the study was resumed: "+change)
	}
	switch {
	case r.Complete:
	case s.Design == Concurrent:
		r.Warnings = append(r.Warnings, "the study ended before its last window and cannot be resumed: intervals between connections are valid at any time, those of the whole host are not")
	default:
		r.Warnings = append(r.Warnings, "the study is not complete: resume it to run the trials that are left")
	}
}

// Valid counts the trials that passed their gates, and all trials that ran
// (unavailable ones did not).
func Valid(trials []Trial) (valid, all int) {
	for _, t := range trials {
		if t.Unavailable != "" {
			continue
		}
		all++
		if t.Valid {
			valid++
		}
	}
	return valid, all
}

// warnInvalid counts the trials that failed a gate, by the first gate that each
// failed.
func (r *Results) warnInvalid() {
	valid, all := Valid(r.Trials)
	if valid == all {
		return
	}
	why := map[string]int{}
	for _, t := range r.Trials {
		if !t.Valid && t.Unavailable == "" && len(t.Reasons) > 0 {
			gate, _, _ := strings.Cut(t.Reasons[0].String(), ":")
			why[gate]++
		}
	}
	most := slices.SortedFunc(maps.Keys(why), func(a, b string) int {
		return cmp.Or(cmp.Compare(why[b], why[a]), cmp.Compare(a, b))
	})
	for i, gate := range most {
		most[i] = fmt.Sprintf("%d %s", why[gate], gate)
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d trials are invalid; they are in the record, with reasons (%s), and in no verdict",
		all-valid, all, show.List(most)))
}

// soFar compares every variant with the control by the primary metric,
// uncorrected; the last comparison is of the control with itself.
func (s Spec) soFar(seed uint64, trials []Trial) ([]stats.Comparison, stats.Options) {
	g := s.Primary()
	m, _ := MetricNamed(g.Metric)
	opt := options(m, g, seed)
	opt.NoPlan, opt.Bare = true, true
	control, arms := s.armsOf(g, seed, trials)
	again := ArmValues(s, seed, g, AA, trials)
	return append(s.compare(g, control, arms, trials, opt), s.compare(g, control, []stats.Arm{again}, trials, opt)...), opt
}

// Settled reports whether the recorded trials let the study end before it has
// run all blocks of the primary metric's part.
func (s Spec) Settled(seed uint64, trials []Trial) bool {
	part := s.Primary().Part
	return s.settled(seed, len(begun(s, blocksOf(s, seed, part), part, trials)), trials)
}
