package search

import (
	"cmp"
	"fmt"

	"linerate/internal/hint"
	"linerate/internal/search"
	"linerate/internal/study"
)

// The methods of a throughput search.
const (
	MLR     = "mlr"     // MLRsearch: several loss goals, trials shared between them
	RFC2544 = "rfc2544" // binary search for the highest rate without loss
)

// Spec makes a part's trial a search for throughput: many short runs of
// traffic at loads that a method chooses, on one set-up of the variant. The
// part's seconds are the final trial duration.
type Spec struct {
	Method string `yaml:"method"`
	// Goals are MLRsearch's, by the names of package search's presets, their
	// times scaled to the part's seconds. The first gives the study's metric.
	Goals []string `yaml:"goals,omitempty,flow"`
	// TrialsPerLoad is how many full-length trials decide a load.
	TrialsPerLoad int `yaml:"trials_per_load,omitempty"`
	// WidthPercent is how close the bounds must come to each other.
	WidthPercent float64 `yaml:"width_percent"`
	// Min is the least load tried. The largest is what the generator can
	// send, found before the search, or Max.
	Min study.Rate `yaml:"min"`
	Max study.Rate `yaml:"max,omitempty"`
	// LimitSeconds of trial time, repeated trials counted, end a search that
	// does not settle. From half of them on it is for its first goal only.
	LimitSeconds float64 `yaml:"limit_seconds"`
	// LatencyAt are fractions of the throughput found, at which latency is
	// measured after the search.
	LatencyAt []float64 `yaml:"latency_at,omitempty,flow"`
	// Of back-to-back frames: complete searches, further trials of a burst
	// that lost something, frames between the bounds, the longest burst.
	Repeats        int     `yaml:"repeats,omitempty"`
	Verify         int     `yaml:"verify,omitempty"`
	StepFrames     int     `yaml:"step_frames,omitempty"`
	LongestSeconds float64 `yaml:"longest_seconds,omitempty"`
	// StepPercent of the largest load is between two loads of a loss curve.
	StepPercent float64 `yaml:"step_percent,omitempty"`
}

// A part that searches has its search, and its trials what came of it, as keys of
// their own.
type (
	// Part is what a part searches for.
	Part struct {
		Search *Spec `yaml:"search,omitempty"`
	}
	searchSaw struct {
		Search *Run `json:"search,omitempty" after:"extra"`
	}
)

// Of is a part's search, or nil.
func Of(p study.Part) *Spec { return study.OwnOf[Part](p.Own).Search }

// In is what came of a trial's search, or nil.
func In(o *study.Observation) *Run {
	if o == nil {
		return nil
	}
	return study.OwnOf[searchSaw](o.Own).Search
}

// Observed is the observation's own part of a search.
func (s *Run) Observed() any { return &searchSaw{s} }

// fill puts defaults.
func (s *Spec) fill(said func(key string) bool) {
	study.OrString(&s.Method, MLR)
	study.OrString((*string)(&s.Min), "5kpps")
	if len(s.Goals) == 0 && s.Method == MLR {
		s.Goals = []string{"pdr", "ndr"}
	}
	study.Unless(said, "trials_per_load", &s.TrialsPerLoad, 5)
	study.Unless(said, "width_percent", &s.WidthPercent, 2)
	study.Unless(said, "limit_seconds", &s.LimitSeconds, 60)
	s.fillKind(said)
}

func (s *Spec) check(path string) *study.Problem {
	if bad := study.OneOf(path+".method", s.Method, searchMethods...); bad != nil {
		return bad
	}
	for i, g := range s.Goals {
		if _, err := search.Preset(g); err != nil {
			return study.Wrong(fmt.Sprintf("%s.goals[%d]", path, i), "%v", err).Advise("%s", hint.Of(err))
		}
	}
	for _, r := range []struct {
		key  string
		rate study.Rate
	}{{"min", s.Min}, {"max", s.Max}} {
		if l, err := r.rate.Parse(); r.rate != "" && (err != nil || l.PPS == 0) {
			return study.Wrong(path+"."+r.key, "%s: %q is no rate in frames per second", r.key, string(r.rate)).Advise("write 100kpps")
		}
	}
	for i, f := range s.LatencyAt {
		if !(f > 0 && f <= 1) {
			return study.Wrong(fmt.Sprintf("%s.latency_at[%d]", path, i), "latency_at: %g is not within 0 and 1", f)
		}
	}
	switch {
	case s.Method != MLR && len(s.Goals) > 0:
		return study.Wrong(path+".goals", "goals are MLRsearch's; method %s has none", s.Method).Advise("remove goals, or use method: mlr")
	case !(s.LimitSeconds > 0 && s.LimitSeconds <= study.MaxSeconds):
		return study.Wrong(path+".limit_seconds", "limit_seconds: %g is not within 0 and %d", s.LimitSeconds, study.MaxSeconds)
	}
	return cmp.Or(study.Within(path+".trials_per_load", s.TrialsPerLoad, 1, 1000), study.Within(path+".width_percent", s.WidthPercent, 0.05, 50), s.checkKind(path))
}

// WithSearch returns the study with every search by another method, its
// metric by the name that method's answer has.
func WithSearch(s study.Spec, method string) (study.Spec, error) {
	if method != MLR && method != RFC2544 {
		return s, hint.Unknown("search", method, []string{MLR, RFC2544})
	}
	found := false // back-to-back frames and loss curves are no searches for throughput
	parts := append([]study.Part{}, s.Parts...)
	for i, p := range parts {
		if Of(p) == nil || Of(p).Method != MLR && Of(p).Method != RFC2544 {
			continue
		}
		found = true
		c := *Of(p)
		if c.Method = method; method == RFC2544 {
			c.Goals = nil
		}
		c.fill(func(string) bool { return true })
		parts[i].Own = &Part{&c}
	}
	if !found {
		return s, hint.With(hint.Usagef("study %s searches no throughput", s.Name), "the study throughput does: linerate study run throughput %s", hint.Option("search", method))
	}
	metrics := append([]study.Goal{}, s.Metrics...)
	for i, g := range metrics {
		if m, ok := study.MetricNamed(g.Metric); ok && (m.Answers == MLR || m.Answers == RFC2544) {
			metrics[i].Metric = map[string]string{MLR: ConditionalThroughput, RFC2544: Throughput}[method]
		}
	}
	s.Parts, s.Metrics = parts, metrics
	return s, nil
}

// Procedure is a search ready to run between two loads.
type Procedure struct {
	search.Procedure
	mlr    *search.MLR
	binary *search.Binary
	goal   search.Goal // what the binary search is for

	longest *search.BackToBack
	curve   *search.LossCurve
}

// NewProcedure prepares a part's search; limit is the largest load that it may
// ask for, and full what the generator sends unpaced, in frames per second.
func NewProcedure(p study.Part, limit, full float64) (Procedure, error) {
	s := Of(p)
	low, err := s.Min.Parse()
	if err != nil {
		return Procedure{}, err
	}
	switch s.Method {
	case RFC2544:
		b, goal, err := noLoss(p, float64(low.PPS), limit)
		return Procedure{Procedure: b, binary: b, goal: goal}, err
	case BackToBack:
		return backToBack(p, float64(low.PPS), limit, full)
	case LossCurve:
		l, err := search.NewLossCurve(limit, p.Seconds, s.StepPercent/100)
		return Procedure{Procedure: l, curve: l}, err
	}
	var goals []search.Goal
	for _, name := range s.Goals {
		g, err := search.Preset(name)
		if err != nil {
			return Procedure{}, err
		}
		g.FinalDuration = p.Seconds
		g.DurationSum = p.Seconds * float64(s.TrialsPerLoad)
		g.InitialDuration = min(g.InitialDuration, p.Seconds)
		g.Width = s.WidthPercent / 100
		goals = append(goals, g)
	}
	m, err := search.NewMLR(search.Config{Min: float64(low.PPS), Max: limit, Goals: goals, Warmup: p.Warmup})
	return Procedure{Procedure: m, mlr: m}, err
}

// noLoss prepares RFC 2544's search.
func noLoss(p study.Part, low, limit float64) (*search.Binary, search.Goal, error) {
	width := Of(p).WidthPercent / 100
	b, err := search.NewBinary(search.BinaryConfig{Min: low, Max: limit, Duration: p.Seconds, Resolution: width})
	return b, search.Goal{Name: RFC2544, FinalDuration: p.Seconds, DurationSum: p.Seconds, Width: width, InitialDuration: p.Seconds}, err
}

// FirstGoal leaves the goals but the first as far as they are.
func (p Procedure) FirstGoal() {
	if p.mlr != nil {
		p.mlr.FirstGoal()
	}
}

// Results are what the search has found of throughput so far, the first goal
// first.
func (p Procedure) Results() []search.GoalResult {
	if p.curve != nil {
		return nil
	}
	if p.mlr != nil {
		return p.mlr.Results()
	}
	r := search.GoalResult{Goal: p.goal}
	r.Lower, r.Upper = p.binary.Result()
	r.Throughput = r.Lower
	switch {
	case r.Upper == nil:
		r.Reason = "the largest load loses nothing: the device, or the generator's limit, is beyond it"
	case r.Lower == nil:
		r.Reason = "even the least load loses frames"
	default:
		r.Regular = (*r.Upper-*r.Lower) / *r.Upper <= p.goal.Width
	}
	return []search.GoalResult{r}
}

// LossRatios are the goals': a trial that loses more than one of them is
// high-loss for it.
func (s *Spec) LossRatios() []float64 {
	var all []float64
	for _, name := range s.Goals {
		if g, err := search.Preset(name); err == nil {
			all = append(all, g.LossRatio)
		}
	}
	if len(all) == 0 {
		all = append(all, 0)
	}
	return all
}

// quick is the search in less time, or nil: two thirds of the limit, and bursts
// found twice.
func (s *Spec) quick() *Spec {
	if s == nil {
		return nil
	}
	q := *s
	q.LimitSeconds = 2 * s.LimitSeconds / 3
	q.Repeats = min(s.Repeats, max(2, s.Repeats/2))
	return &q
}

// searchesExpected is how many runs of traffic a search is first believed to
// take.
const searchesExpected = 30

// aroundTrial are the seconds that a search's trial takes beside its own.
const aroundTrial = 0.05

// burstsExpected is the same of one search for the longest burst.
const burstsExpected = 16

// searchLasts is how long a search is first believed to take, in seconds, without
// what is around it.
func searchLasts(p study.Part) float64 {
	trials, each := float64(searchesExpected), p.Seconds+aroundTrial
	switch Of(p).Method {
	case MLR:
		trials = 20 + 6*float64(Of(p).TrialsPerLoad)
	case BackToBack:
		trials, each = trials/2+burstsExpected*float64(Of(p).Repeats), max(each/2, 0.12)
	case LossCurve:
		trials = 100 / Of(p).StepPercent
	}
	return each * min(Of(p).LimitSeconds/p.Seconds, trials) // the limit is of the trials' own seconds
}
