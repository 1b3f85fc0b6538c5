package study

import (
	"cmp"
	"fmt"

	"linerate/internal/hint"
	"linerate/internal/search"
	"linerate/internal/yamlfile"
)

// The methods of a throughput search.
const (
	MLR     = "mlr"     // MLRsearch: several loss goals, trials shared between them
	RFC2544 = "rfc2544" // binary search for the highest rate without loss
)

// Search makes a part's trial a search for throughput: many short runs of
// traffic at loads that a method chooses, on one set-up of the variant. The
// part's seconds are the final trial duration.
type Search struct {
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
	Min Rate `yaml:"min"`
	Max Rate `yaml:"max,omitempty"`
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

// fill puts defaults.
func (s *Search) fill(said func(key string) bool) {
	OrString(&s.Method, MLR)
	OrString((*string)(&s.Min), "5kpps")
	if len(s.Goals) == 0 && s.Method == MLR {
		s.Goals = []string{"pdr", "ndr"}
	}
	Unless(said, "trials_per_load", &s.TrialsPerLoad, 5)
	Unless(said, "width_percent", &s.WidthPercent, 2)
	Unless(said, "limit_seconds", &s.LimitSeconds, 60)
	s.fillKind(said)
}

func (s *Search) check(path string) *yamlfile.Problem {
	if bad := yamlfile.OneOf(path+".method", s.Method, searchMethods...); bad != nil {
		return bad
	}
	for i, g := range s.Goals {
		if _, err := search.Preset(g); err != nil {
			return yamlfile.Wrong(fmt.Sprintf("%s.goals[%d]", path, i), "%v", err).Advise("%s", hint.Of(err))
		}
	}
	for _, r := range []struct {
		key  string
		rate Rate
	}{{"min", s.Min}, {"max", s.Max}} {
		if l, err := r.rate.Parse(); r.rate != "" && (err != nil || l.PPS == 0) {
			return yamlfile.Wrong(path+"."+r.key, "%s: %q is no rate in frames per second", r.key, string(r.rate)).Advise("write 100kpps")
		}
	}
	for i, f := range s.LatencyAt {
		if !(f > 0 && f <= 1) {
			return yamlfile.Wrong(fmt.Sprintf("%s.latency_at[%d]", path, i), "latency_at: %g is not within 0 and 1", f)
		}
	}
	switch {
	case s.Method != MLR && len(s.Goals) > 0:
		return yamlfile.Wrong(path+".goals", "goals are MLRsearch's; method %s has none", s.Method).Advise("remove goals, or use method: mlr")
	case !(s.LimitSeconds > 0 && s.LimitSeconds <= MaxSeconds):
		return yamlfile.Wrong(path+".limit_seconds", "limit_seconds: %g is not within 0 and %d", s.LimitSeconds, MaxSeconds)
	}
	return cmp.Or(yamlfile.Within(path+".trials_per_load", s.TrialsPerLoad, 1, 1000), yamlfile.Within(path+".width_percent", s.WidthPercent, 0.05, 50), s.checkKind(path))
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
func NewProcedure(p Part, limit, full float64) (Procedure, error) {
	s := p.Search
	least, err := s.Min.Parse()
	if err != nil {
		return Procedure{}, err
	}
	low := float64(least.PPS)
	if !(limit > 0) || s.Method != LossCurve && low >= limit {
		return Procedure{}, hint.Usagef("loads from %g to %g pps: the least must be positive and below the largest", low, limit)
	}
	out := Procedure{}
	switch s.Method {
	case RFC2544, BackToBack:
		out.goal = search.Goal{Name: RFC2544, FinalDuration: p.Seconds, DurationSum: p.Seconds, Width: s.WidthPercent / 100, InitialDuration: p.Seconds}
		out.binary = search.NewBinary(search.BinaryConfig{Min: low, Max: limit, Duration: p.Seconds, Resolution: out.goal.Width})
		out.Procedure = out.binary
		if s.Method == BackToBack {
			out.longest = search.NewBackToBack(search.BackToBackConfig{LineRate: full, Longest: s.LongestSeconds, Step: uint64(s.StepFrames), Repeats: s.Repeats, Verify: s.Verify})
			out.Procedure = bursts{out.binary, out.longest}
		}
	case LossCurve:
		out.curve = search.NewLossCurve(limit, p.Seconds, s.StepPercent/100)
		out.Procedure = out.curve
	default:
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
		out.mlr = search.NewMLR(search.Config{Min: low, Max: limit, Goals: goals, Warmup: p.Warmup})
		out.Procedure = out.mlr
	}
	return out, nil
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
func (s *Search) LossRatios() []float64 {
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
func (s *Search) quick() *Search {
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

// aroundTrial is the overhead of a search's trial, in seconds.
const aroundTrial = 0.05

// burstsExpected is the same of one search for the longest burst.
const burstsExpected = 16

// searchLasts is how long a search is first believed to take, in seconds, without
// what is around it.
func searchLasts(p Part) float64 {
	trials, each := float64(searchesExpected), p.Seconds+aroundTrial
	switch p.Search.Method {
	case MLR:
		trials = 20 + 6*float64(p.Search.TrialsPerLoad)
	case BackToBack:
		trials, each = trials/2+burstsExpected*float64(p.Search.Repeats), max(each/2, 0.12)
	case LossCurve:
		trials = 100 / p.Search.StepPercent
	}
	return each * min(p.Search.LimitSeconds/p.Seconds, trials) // the limit is of the trials' own seconds
}

// checkSearch refuses what is wrong with a part that searches.
func checkSearch(s *Spec, place int, path string) *yamlfile.Problem {
	p := s.Parts[place]
	if !InOverload(p) || !p.Rate.IsMax() {
		return cmp.Or(needsRate(p, path), yamlfile.Wrong(path+".search", "a search chooses its loads in mode overload").Advise("use mode: overload and no rate"))
	}
	return cmp.Or(checkForward(s, place, path), p.Search.check(path+".search"))
}
