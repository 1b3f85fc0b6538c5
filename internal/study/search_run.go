package study

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/search"
	"linerate/internal/show"
	"linerate/internal/testbed"
)

// SearchPoint is one trial of a search.
type SearchPoint struct {
	search.Outcome
	// UnsentRatio is the share of the due frames that the generator did not
	// send; they count as lost.
	UnsentRatio float64 `json:"unsent_ratio"`
	// Warmup marks trials that do not count.
	Warmup bool `json:"warmup,omitempty"`
	// Disturbed describes a disturbance by the machine; such a trial is
	// repeated, and counts only if every repetition was disturbed too.
	Disturbed string `json:"disturbed,omitempty"`
	// Repeated marks trials that do not count because another replaced them.
	Repeated bool `json:"repeated,omitempty"`
}

// Counts reports whether the trial counts in the search.
func (p SearchPoint) Counts() bool { return !p.Warmup && !p.Repeated }

// searchContentionPercent is how much of the time of a search's trial the DUT's
// CPU may have worked for other programs when frames were lost: a thread that
// sleeps between frames waits for its CPU a little after each sleep.
const searchContentionPercent = 5

// Disturbance names what makes a trial of a search unfit to judge the DUT: the
// generator was kept from sending, or the DUT from working, for so long that a
// high-loss trial might otherwise have been low-loss. It is "" if there was
// none: a trial with little loss shows that the load can be carried, whatever
// the disturbance, and one with far more loss shows that it cannot. Shares are
// of the frames due and of the time.
func (s *Search) Disturbance(g Gates, loss, unsent, contention float64) string {
	contended := 100*contention > min(g.ContentionPercent, searchContentionPercent)
	if !contended {
		contention = 0
	}
	kept := 100*unsent > g.UnsentPercent
	switch {
	case !s.turns(loss, unsent+contention):
		return ""
	case contended:
		return fmt.Sprintf("contention: other programs took %s of the measuring CPU", show.WholePercent(100*contention))
	case kept:
		return "unsent: the generator did not send " + show.Loss(unsent) + " of the frames due"
	}
	return ""
}

// turns reports whether a loss is high for a goal, but low without the share
// that others may have caused. On a loss curve the loss itself is the result;
// others may have caused up to a tenth of it.
func (s *Search) turns(loss, others float64) bool {
	return s.Method == LossCurve && others > loss/10 && loss > 0 ||
		slices.ContainsFunc(s.LossRatios(), func(allowed float64) bool { return loss > allowed && loss-others <= allowed })
}

// SearchRun is the record of one search.
type SearchRun struct {
	Method       string              `json:"method"`
	Goals        []search.GoalResult `json:"goals"`
	Points       []SearchPoint       `json:"points"` // in chronological order
	TrialSeconds float64             `json:"trial_seconds"`
	GeneratorMax float64             `json:"generator_max_pps"` // what it sent when asked for its maximum
	Latency      []search.LatencyAt  `json:"latency,omitempty"`
	Ended        string              `json:"ended,omitempty"` // why it ended early
	// BackToBack and LossCurve are the results of the methods of these names.
	BackToBack *search.BackToBackResult `json:"back_to_back,omitempty"`
	LossCurve  []search.Outcome         `json:"loss_curve,omitempty"`
}

// measureSearch adds the search's result and its time and trials.
func measureSearch(m map[string]float64, p Part, o Observation) {
	s := o.Search
	if s == nil {
		return
	}
	m[SearchTime], m[SearchTrials] = s.TrialSeconds, float64(len(s.Points))
	switch {
	case s.BackToBack != nil:
		if s.BackToBack.Mean > 0 {
			m[BackToBackFrames], m[BufferSeconds] = s.BackToBack.Mean, s.BackToBack.CorrectedTime
		}
		return
	case s.LossCurve != nil:
		if free := LossFree(s.LossCurve); free > 0 {
			m[LossFreeLoad] = free
		}
		return
	}
	if len(s.Goals) == 0 || s.Goals[0].Throughput == nil || *s.Goals[0].Throughput <= 0 {
		return
	}
	name := ConditionalThroughput
	if p.Search.Method == RFC2544 {
		name = Throughput
	}
	m[name] = *s.Goals[0].Throughput
}

// searchGates are the gates of searches.
var searchGates = []Gate{
	Drift, Stolen, NotTaken, ReceiverLost,
	{Name: "search", Ask: askSearch},
	{Name: "contention", Ask: askDisturbed},
	{Name: "generator", Ask: askGenerator},
}

// hasCurve reports whether a search measured a loss curve; found, whether it
// searched for a throughput.
func (s *SearchRun) hasCurve() bool {
	return s != nil && s.Method == LossCurve && len(s.LossCurve) > 0
}
func (s *SearchRun) found() bool { return s != nil && len(s.Goals) > 0 }

// askSearch checks that the search found bounds.
func askSearch(a Asked) []string {
	s := a.Observed.Search
	if s.hasCurve() {
		return FaultIf(LossFree(s.LossCurve) <= 0, ended(s, "no two loads in a row were without loss"))
	}
	if !s.found() {
		return []string{"there was none"}
	}
	var bad []string
	if s.Method == BackToBack {
		bad = burstFaults(s)
	}
	if g := s.Goals[0]; !g.Regular {
		why := g.Reason
		if s.Ended != "" {
			why = strings.TrimSuffix(s.Ended+"; "+why, "; ")
		}
		bad = append(bad, why)
	}
	return bad
}

// askGenerator checks that the device rather than the generator set the
// bounds.
func askGenerator(a Asked) []string {
	s := a.Observed.Search
	if s.hasCurve() {
		return FaultIf(LossFree(s.LossCurve) == s.LossCurve[0].Load, "the largest load lost nothing, so the device's limit is beyond it")
	}
	if !s.found() {
		return nil
	}
	g := s.Goals[0]
	if g.Upper == nil || !generatorBound(s.Points, *g.Upper, g.Goal.LossRatio) {
		return nil
	}
	return []string{fmt.Sprintf("at the upper bound of %.0f pps frames were unsent, so the bound is the generator's", *g.Upper)}
}

// askDisturbed checks that enough trials were undisturbed.
func askDisturbed(a Asked) []string {
	s := a.Observed.Search
	if s.hasCurve() {
		if free := LossFree(s.LossCurve); free <= 0 || free == s.LossCurve[0].Load {
			return nil
		}
	} else if !s.found() {
		return nil
	}
	n, of := disturbed(s.Points)
	return FaultIf(4*n > of, fmt.Sprintf("%d of %d trials of the search were disturbed, each several times over", n, of))
}

// disturbed counts the trials that count, and those of them that were disturbed.
func disturbed(points []SearchPoint) (n, of int) {
	for _, p := range points {
		if p.Counts() {
			of++
			if p.Disturbed != "" {
				n++
			}
		}
	}
	return n, of
}

// generatorBound reports whether most high-loss trials at a load would have
// been low-loss if the generator had sent all frames due.
func generatorBound(points []SearchPoint, load, allowed float64) bool {
	high, excused := 0, 0
	for _, p := range points {
		if p.Counts() && p.Load == load && p.LossRatio > allowed {
			high++
			if p.LossRatio-p.UnsentRatio <= allowed {
				excused++
			}
		}
	}
	return high > 0 && 2*excused > high
}

// searchMetrics are the metrics of searches.
var searchMetrics = []Metric{
	{Name: ConditionalThroughput, Label: "conditional throughput", Unit: "pps", Mode: testbed.Overload, Answers: MLR, Verdict: true, NS: InverseNS},
	{Name: Throughput, Label: "throughput", Unit: "pps", Mode: testbed.Overload, Answers: RFC2544, Verdict: true, NS: InverseNS},
	{Name: BackToBackFrames, Label: "back-to-back frames", Unit: "frames", Mode: testbed.Overload, Answers: BackToBack, Verdict: true},
	{Name: LossFreeLoad, Label: "load without loss", Unit: "pps", Mode: testbed.Overload, Answers: LossCurve, Verdict: true, NS: InverseNS},
	{Name: BufferSeconds, Label: "corrected buffer time", Unit: "s", Mode: testbed.Overload, Answers: BackToBack},
	{Name: SearchTime, Label: "trial time of the search", Unit: "s", Mode: testbed.Overload, LowerIsBetter: true},
	{Name: SearchTrials, Label: "trials of the search", Unit: "", Mode: testbed.Overload, LowerIsBetter: true},
}

// The metrics of searches, named as in results.json.
const (
	// ConditionalThroughput is MLRsearch's; Throughput is that of RFC 1242
	// §3.17, found by RFC 2544's search: the highest rate without loss.
	ConditionalThroughput = "conditional_throughput_pps"
	Throughput            = "throughput_pps"
	// BackToBackFrames is the mean longest burst without loss (RFC 9004);
	// BufferSeconds is the buffer time at full rate (§4, corrected).
	BackToBackFrames = "back_to_back_frames"
	BufferSeconds    = "corrected_buffer_seconds"
	// LossFreeLoad is the load at which a loss curve ends (RFC 2544 §26.3).
	LossFreeLoad = "loss_free_load_pps"
	SearchTime   = "search_trial_seconds"
	SearchTrials = "search_trials"
)
