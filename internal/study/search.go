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
	MLR     = "mlr"     // MLRsearch: several loss goals that share trials
	RFC2544 = "rfc2544" // binary search for the highest rate without loss
)

// Search makes each trial of a part a search for throughput: many short runs
// of traffic at loads chosen by a method, with the variant set up once. The
// part's seconds are the final trial duration.
type Search struct {
	Method string `yaml:"method"`
	// Goals are MLRsearch's, named like package search's presets, with durations
	// scaled to the part's seconds. The first gives the study's metric.
	Goals []string `yaml:"goals,omitempty,flow"`
	// TrialsPerLoad is the number of full-length trials that decide a load.
	TrialsPerLoad int `yaml:"trials_per_load,omitempty"`
	// WidthPercent is the relative distance of the bounds at which the search ends.
	WidthPercent float64 `yaml:"width_percent"`
	// Min is the smallest load tried. The largest is Max, or else what the
	// generator can send, measured before the search.
	Min Rate `yaml:"min"`
	Max Rate `yaml:"max,omitempty"`
	// LimitSeconds is the trial time, including repeated trials, after which an unfinished search
	// ends. After half of it, the search pursues its first goal only.
	LimitSeconds float64 `yaml:"limit_seconds"`
	// LatencyAt lists the fractions of the throughput at which latency is
	// measured after the search.
	LatencyAt []float64 `yaml:"latency_at,omitempty,flow"`
	// For back-to-back frames: the number of complete searches, further trials of a burst that lost
	// frames, the final distance of the bounds in frames, and the longest burst.
	Repeats        int     `yaml:"repeats,omitempty"`
	Verify         int     `yaml:"verify,omitempty"`
	StepFrames     int     `yaml:"step_frames,omitempty"`
	LongestSeconds float64 `yaml:"longest_seconds,omitempty"`
	// StepPercent is the step between the loads of a loss curve, in percent of the largest load.
	StepPercent float64 `yaml:"step_percent,omitempty"`
}

// fill sets defaults.
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
			return yamlfile.Wrong(path+"."+r.key, "%s: %q is not a rate in frames per second", r.key, string(r.rate)).Advise("write 100kpps")
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

// NewProcedure prepares a part's search; limit is the largest load that it may
// request, and full what the generator sends unpaced, both in frames per second.
func NewProcedure(p Part, limit, full float64) (search.Procedure, error) {
	s := p.Search
	least, err := s.Min.Parse()
	if err != nil {
		return nil, err
	}
	low := float64(least.PPS)
	if !(limit > 0) || s.Method != LossCurve && low >= limit {
		return nil, hint.Usagef("loads from %g to %g pps: the least must be positive and below the largest", low, limit)
	}
	binary := search.NewBinary(search.BinaryConfig{Min: low, Max: limit, Duration: p.Seconds, Resolution: s.WidthPercent / 100})
	switch s.Method {
	case RFC2544:
		return binary, nil
	case BackToBack:
		return search.NewBackToBack(search.BackToBackConfig{Throughput: binary, LineRate: full, Longest: s.LongestSeconds, Step: uint64(s.StepFrames), Repeats: s.Repeats, Verify: s.Verify}), nil
	case LossCurve:
		return search.NewLossCurve(limit, p.Seconds, s.StepPercent/100), nil
	}
	var goals []search.Goal
	for _, name := range s.Goals {
		g, err := search.Preset(name)
		if err != nil {
			return nil, err
		}
		g.FinalDuration = p.Seconds
		g.DurationSum = p.Seconds * float64(s.TrialsPerLoad)
		g.InitialDuration = min(g.InitialDuration, p.Seconds)
		g.Width = s.WidthPercent / 100
		goals = append(goals, g)
	}
	return search.NewMLR(search.Config{Min: low, Max: limit, Goals: goals, Warmup: p.Warmup}), nil
}

// LossRatios returns the loss ratios of the goals: a trial with more loss
// than a goal's ratio is high-loss for that goal.
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

// quick returns a shorter search, or nil: two thirds of the time limit, and
// half the repeats, at least two.
func (s *Search) quick() *Search {
	if s == nil {
		return nil
	}
	q := *s
	q.LimitSeconds = 2 * s.LimitSeconds / 3
	q.Repeats = min(s.Repeats, max(2, s.Repeats/2))
	return &q
}

// searchesExpected is the initial estimate of the number of traffic runs in a
// search.
const searchesExpected = 30

// aroundTrial is the overhead of a trial in a search, in seconds.
const aroundTrial = 0.05

// burstsExpected is the initial estimate of the number of runs in one search for the longest burst.
const burstsExpected = 16

// searchLasts estimates how long a search takes, in seconds, without the trial's
// setup and teardown.
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
	return each * min(p.Search.LimitSeconds/p.Seconds, trials) // the limit covers the trials' own seconds only
}

// checkSearch refuses an invalid part that searches.
func checkSearch(s *Spec, place int, path string) *yamlfile.Problem {
	p := s.Parts[place]
	if !InOverload(p) || !p.Rate.IsMax() {
		return cmp.Or(needsRate(p, path), yamlfile.Wrong(path+".search", "a search chooses its loads in mode overload").Advise("use mode: overload and no rate"))
	}
	return cmp.Or(checkForward(s, place, path), p.Search.check(path+".search"))
}

// The methods that search for something other than throughput.
const (
	BackToBack = "back-to-back" // RFC 9004: the longest burst at full rate without loss
	LossCurve  = "loss-curve"   // RFC 2544 §26.3: loss over load, from the largest down
)

// searchMethods lists all methods, in the order used in messages.
var searchMethods = []string{MLR, RFC2544, BackToBack, LossCurve}

// fillKind sets the defaults of the methods above only.
func (s *Search) fillKind(said func(key string) bool) {
	switch s.Method {
	case BackToBack:
		Unless(said, "repeats", &s.Repeats, 5)
		Unless(said, "verify", &s.Verify, 1)
		Unless(said, "step_frames", &s.StepFrames, 8)
		Unless(said, "longest_seconds", &s.LongestSeconds, 0.1)
	case LossCurve:
		Unless(said, "step_percent", &s.StepPercent, 10)
	}
}

// checkKind refuses numbers that the method cannot use, and keys of other methods.
func (s *Search) checkKind(path string) *yamlfile.Problem {
	bursts := s.Repeats != 0 || s.Verify != 0 || s.StepFrames != 0 || s.LongestSeconds != 0
	switch {
	case bursts && s.Method != BackToBack:
		return yamlfile.Wrong(path+".method", "repeats, verify, step_frames and longest_seconds belong to method %s", BackToBack).Advise("remove them, or use method: %s", BackToBack)
	case s.StepPercent != 0 && s.Method != LossCurve:
		return yamlfile.Wrong(path+".step_percent", "step_percent belongs to method %s", LossCurve).Advise("remove it, or use method: %s", LossCurve)
	case len(s.LatencyAt) > 0 && (s.Method == BackToBack || s.Method == LossCurve):
		return yamlfile.Wrong(path+".latency_at", "method %s measures no latency", s.Method).Advise("remove latency_at")
	case s.Method == LossCurve && !(s.StepPercent >= 0.5 && s.StepPercent <= 10):
		return yamlfile.Wrong(path+".step_percent", "step_percent: %g is not within 0.5 and 10 (RFC 2544 §26.3: a tenth of the largest load or less)", s.StepPercent)
	}
	if s.Method != BackToBack {
		return nil
	}
	if !(s.LongestSeconds > 0 && s.LongestSeconds <= 30) {
		return yamlfile.Wrong(path+".longest_seconds", "longest_seconds: %g is not within 0 and 30 (RFC 9004 §5.2)", s.LongestSeconds)
	}
	return cmp.Or(
		yamlfile.Within(path+".repeats", s.Repeats, 1, 1000),
		yamlfile.Within(path+".verify", s.Verify, 0, 100),
		yamlfile.Within(path+".step_frames", s.StepFrames, 1, 1_000_000),
	)
}

// LossFree returns the largest load at which a loss curve first shows two
// consecutive loads without loss (RFC 2544 §26.3), or 0.
func LossFree(curve []search.Outcome) float64 {
	for i := 1; i < len(curve); i++ {
		if curve[i-1].LossRatio <= 0 && curve[i].LossRatio <= 0 {
			return curve[i-1].Load
		}
	}
	return 0
}

// burstFaults checks that bursts were found, and that the device limited them.
func burstFaults(s *SearchRun) (bad []string) {
	b := s.BackToBack
	if b == nil || b.Searches == 0 {
		return []string{ended(s, "no burst was searched to its end")}
	}
	if s.Ended != "" {
		bad = append(bad, fmt.Sprintf("%s after %d searches for the longest burst", s.Ended, b.Searches))
	}
	if b.AtLimit {
		bad = append(bad, "a burst of the longest length lost nothing: the device forwards at this rate, and the test says nothing of its buffers (RFC 9004 §4)")
	}
	return bad
}

func ended(s *SearchRun, what string) string {
	if s.Ended != "" {
		what += ": " + s.Ended
	}
	return what
}
