package study

import (
	"cmp"
	"fmt"

	"linerate/internal/search"
	"linerate/internal/yamlfile"
)

// The methods that do not look for throughput alone.
const (
	BackToBack = "back-to-back" // RFC 9004: the longest burst at full rate without loss
	LossCurve  = "loss-curve"   // RFC 2544 §26.3: loss over load, from the largest down
)

// searchMethods are all, in the order that messages name them.
var searchMethods = []string{MLR, RFC2544, BackToBack, LossCurve}

// fillKind puts the defaults of the methods above, and of no other.
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

// checkKind refuses numbers that their method cannot use, and keys of another.
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

// bursts is a search for throughput and then, for RFC 9004 §4 wants to know
// that first, one for the longest burst.
type bursts struct {
	throughput *search.Binary
	longest    *search.BackToBack
}

// Next proposes a trial of the first that is not done.
func (b bursts) Next() (search.Trial, bool) {
	if t, more := b.throughput.Next(); more {
		return t, true
	}
	return b.longest.Next()
}

// Add tells it what came of the trial.
func (b bursts) Add(o search.Outcome) {
	if o.Frames == 0 {
		b.throughput.Add(o)
		return
	}
	b.longest.Add(o)
}

// Report puts down in a search's record what it has found so far.
func (p Procedure) Report(s *SearchRun) {
	switch {
	case p.curve != nil:
		s.LossCurve = p.curve.Points()
	case p.longest != nil:
		s.Goals = p.Results()
		throughput := 0.0
		if t := s.Goals[0].Throughput; t != nil {
			throughput = *t
		}
		r := p.longest.Result(throughput)
		s.BackToBack = &r
	default:
		s.Goals = p.Results()
	}
}

// LossFree is the largest load from which on a loss curve nothing was lost at
// two loads in a row (RFC 2544 §26.3), or 0.
func LossFree(curve []search.Outcome) float64 {
	for i := 1; i < len(curve); i++ {
		if curve[i-1].LossRatio <= 0 && curve[i].LossRatio <= 0 {
			return curve[i-1].Load
		}
	}
	return 0
}

// burstFaults say whether bursts were found, and ended by the device.
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
