package space

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"time"

	"linerate/internal/list"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/tune"
)

// Bench is the study whose testbed, workload and metric a search uses.
type Bench struct {
	Study   study.Spec
	Base    study.Variant
	Factors []Entry
	// Question is the question of every experiment of the search, by which a ledger
	// counts how often it was asked.
	Question string
	Seed     uint64
}

// control is the name of the arm with which all others are compared.
const control = "base"

// arm returns the name of the n-th arm of an experiment, from 0.
func arm(n int) string { return fmt.Sprintf("c%02d", n+1) }

// Put converts an experiment to a study: the arms become its variants, and a confirmation
// adds the study's other parts and metrics as guardrails.
func (b Bench) Put(e tune.Experiment) (study.Spec, error) {
	s := b.Study
	s.Name, s.Topic, s.Summary = b.Name(e), "tuning", "An experiment of linerate tune: "+string(e.Phase)+"."
	s.Question, s.Source, s.Sweep, s.Profile, s.Looks = b.Question, "linerate tune", nil, false, nil
	seed := b.Seed ^ hash(e.Name)
	s.Seed = &seed
	s.Control = control
	s.Variants = []study.Variant{b.variant(control, e.Control)}
	for i, c := range e.Arms {
		s.Variants = append(s.Variants, b.variant(arm(i), c))
	}
	primary := s.Primary()
	s.Parts, s.Metrics = nil, nil
	for _, p := range b.Study.Parts {
		p.At = nil // an experiment has no sweep
		switch guarded := slices.ContainsFunc(b.Study.Metrics, func(g study.Goal) bool { return g.Part == p.Name && slices.Contains(e.Guards, name(g)) }); {
		case guarded || p.Name == primary.Part && e.Phase != tune.Guard:
			p.Blocks = e.Blocks
		case p.Name == primary.Part:
			p.Blocks = leastBlocks
		case e.Phase != tune.Confirm:
			continue
		}
		s.Parts = append(s.Parts, p)
	}
	for _, g := range b.Study.Metrics {
		if g.Primary || e.Phase == tune.Confirm || slices.Contains(e.Guards, name(g)) {
			s.Metrics = append(s.Metrics, g)
		}
	}
	s.Blocks = e.Blocks
	if len(e.Looks) > 0 {
		s.Looks = &study.Looks{Blocks: e.Looks, Alpha: e.Alpha}
	}
	s, bad := study.Complete(s, func(string) bool { return true }) // the bench's study is already complete
	if bad != nil {
		return s, bad.Usage()
	}
	return s, nil
}

// Name returns the name of an experiment's study.
func (b Bench) Name(e tune.Experiment) string { return "tune-" + b.Study.Name + "-" + e.Name }

// variant returns a configuration as a variant, on top of the base's settings.
func (b Bench) variant(name string, c tune.Config) study.Variant {
	v := b.Base
	v.Name, v.Summary, v.At, v.Curve = name, Words(b.Factors, c), nil, ""
	v.Settings = slices.Concat(b.Base.Settings, Settings(b.Factors, c))
	return v
}

// SideBySide reports whether arms can run side by side at all.
func (b Bench) SideBySide() bool {
	part, _ := b.Study.Part(b.Study.Primary().Part)
	return b.Study.Interleaving(part) != study.InSequence
}

// Together returns the number of arms that can be up at once, not counting control and A/A arm.
func (b Bench) Together(most int) int {
	for n := most; n > 2; n-- {
		e := tune.Experiment{Name: "probe", Phase: tune.Screen, Control: make(tune.Config, len(b.Factors)), Blocks: 1}
		for i := range n {
			c := make(tune.Config, len(b.Factors))
			c[i%len(c)] = 1
			e.Arms = append(e.Arms, c)
		}
		s, err := b.Put(e)
		if err != nil {
			continue
		}
		if part, _ := s.Part(s.Primary().Part); s.Interleaving(part) != study.InSequence {
			return n &^ 1
		}
	}
	return min(most, 12)
}

// PerSlot estimates the duration of a trial, in seconds.
func (b Bench) PerSlot() float64 {
	part, _ := b.Study.Part(b.Study.Primary().Part)
	return b.Study.Expected(part) * 1.5
}

// Worth returns the smallest effect of one setting that matters, as a log ratio: a
// quarter of the study's equivalence margin.
func (b Bench) Worth() float64 {
	margin := b.Study.Primary().MarginPercent
	if margin <= 0 {
		margin = 1
	}
	return math.Log1p(margin / 400)
}

// Measured returns the result of an experiment, from the trials of its study.
func Measured(e tune.Experiment, s study.Spec, trials []study.Trial) tune.Measured {
	m := tune.Measured{Experiment: e, Invalid: map[string]int{}, Unavailable: map[int]string{}}
	g := s.Primary()
	metric, _ := study.MetricNamed(g.Metric)
	sign := 1.0
	if metric.LowerIsBetter {
		sign = -1
	}
	names := []string{control, study.AA}
	for i := range e.Arms {
		names = append(names, arm(i))
	}
	for i, name := range names {
		for block, v := range study.ArmValues(s, *s.Seed, g, name, trials).Values {
			if i == 0 {
				m.Values = append(m.Values, make([]float64, len(names)))
			}
			m.Values[block][i] = sign * math.Log(v)
		}
	}
	m.Seconds = took(trials)
	for _, t := range trials {
		if t.Part == g.Part && t.Unavailable == "" {
			m.Ran++
		}
		switch arm := slices.Index(names, t.Variant) - 2; {
		case t.Part != g.Part || t.Valid:
		case t.Unavailable != "" && arm >= 0:
			m.Unavailable[arm] = t.Unavailable
		case e.Phase == tune.Fit && arm >= 0 && cut(t):
			m.Unavailable[arm] = t.Reasons[0].Text
		case len(t.Reasons) > 0 && t.Reasons[0].Gate != "":
			m.Invalid[t.Reasons[0].Gate]++
		case len(t.Reasons) > 0:
			m.Invalid[t.Reasons[0].Text]++
		}
	}
	if e.Phase == tune.Confirm || e.Phase == tune.Guard {
		m.Harm = harm(s, trials)
	}
	return m
}

// cut reports whether a trial's failure shows that its settings cut the path, which no disturbance does.
func cut(t study.Trial) bool {
	if len(t.Reasons) == 0 {
		return false
	}
	gate, _ := study.GateNamed(t.Reasons[0].Gate)
	return gate.Cut
}

// longestReset bounds the time between two trials that counts as their reset, at most
// a boot; a longer pause is an interruption.
const longestReset = 15 * time.Minute

// took returns the duration of trials, in seconds, including the resets between them.
func took(trials []study.Trial) (seconds float64) {
	by := map[time.Time]float64{} // arms that run side by side have the same start
	for _, t := range trials {
		by[t.Start] += t.Seconds
	}
	starts := slices.Collect(maps.Keys(by))
	list.Sort(starts, time.Time.Compare)
	for i, start := range starts {
		cost := by[start]
		if i+1 < len(starts) {
			if gap := starts[i+1].Sub(start); gap < longestReset {
				cost = max(cost, gap.Seconds())
			}
		}
		seconds += cost
	}
	return seconds
}

// harm returns the guardrails on which the candidate was not shown to be harmless: by the 95
// % interval, every other metric must be worse by at most its margin, 5 % if it has none.
func harm(s study.Spec, trials []study.Trial) (out []tune.Guardrail) {
	for _, v := range study.Analyse(s, *s.Seed, study.Environment{}, trials).Verdicts {
		if v.Primary {
			continue
		}
		low, high, margin := v.CILow.Float(), v.CIHigh.Float(), v.MarginPercent
		if margin <= 0 {
			margin = 5
		}
		if v.PointsLow.Known() {
			low, high, margin = v.PointsLow.Float(), v.PointsHigh.Float(), max(v.MarginPoints, 0.5)
		}
		if v.Better == stats.LowerIsBetter {
			low, high = -high, -low
		}
		unseen := math.IsNaN(low) && (v.Verdict == stats.Equivalent || v.Verdict == stats.Better)
		if !unseen && !(low >= -margin) {
			out = append(out, tune.Guardrail{Name: name(study.Goal{Metric: v.Metric, Part: v.Part}), Blocks: toShow(low, high, margin, v.N)})
		}
	}
	return out
}

// toShow returns how many blocks show, with a power of 0.8, that a metric is worse by at
// most a margin, given its interval after n blocks; more is better. It assumes that half
// of a gain is real. 0: no number of blocks does.
func toShow(low, high, margin float64, n int) int {
	mean := (low + high) / 2
	room := margin + min(mean, mean/2)
	if n < 2 || !(room > 0) {
		return 0
	}
	sd := (high - low) / 2 * math.Sqrt(float64(n)) / stats.TQuantile(0.975, float64(n-1))
	z := stats.NormalQuantile(0.975) + stats.NormalQuantile(0.8)
	return int(min(math.Ceil(z*z*sd*sd/(room*room)), math.MaxInt32)) + 2
}

// name returns a guardrail's name in reports.
func name(g study.Goal) string { return g.Metric + " in part " + g.Part }

// leastBlocks is the number of blocks of the primary metric's part if only other parts are still open.
const leastBlocks = 4

func hash(name string) uint64 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return uint64(h.Sum32())
}
