// Package search finds throughput: by RFC 2544's binary search, NDR and PDR, and
// MLRsearch for several loss goals at once. It also measures back-to-back frames (RFC
// 9004), the frame loss curve (RFC 2544 §26.3) and latency at stated loads (§26.2).
//
// Each method is a Procedure, a pure state machine: it proposes the next trial
// and gets its outcome. Loads are in frames per second in one direction,
// durations in seconds. Configurations have been validated by the caller.
package search

// Trial is a trial that a procedure requests: frames offered at a constant
// load for a duration (RFC 2544 §23), or a burst of Frames at the load.
type Trial struct {
	Load     float64 `json:"load_pps"`
	Duration float64 `json:"duration_seconds"`
	Frames   uint64  `json:"frames,omitempty"` // length of a burst; 0: Duration applies
}

// Outcome is the outcome of a trial.
type Outcome struct {
	Trial
	// LossRatio is the share of the due frames that did not arrive, including
	// frames that the generator failed to send.
	LossRatio float64 `json:"loss_ratio"`
	// Effective is the time for which the trial counts, including overhead; 0
	// means its duration.
	Effective float64 `json:"effective_seconds"`
	// LatencyP50 and LatencyP99 are in nanoseconds; 0 if not measured.
	LatencyP50 float64 `json:"latency_p50_ns,omitempty"`
	LatencyP99 float64 `json:"latency_p99_ns,omitempty"`
}

// ForwardingRate returns the received frames per second (RFC 2285 §3.6.1).
func (o Outcome) ForwardingRate() float64 { return o.Load * (1 - o.LossRatio) }

// effective returns the effective duration, with its default.
func (o Outcome) effective() float64 {
	if o.Effective > 0 {
		return o.Effective
	}
	return o.Duration
}

// Procedure is a search: Next proposes a trial until the search is done, Add reports
// the outcome of the last proposed trial, and Found returns the results so far.
type Procedure interface {
	Next() (t Trial, more bool)
	Add(o Outcome)
	Found() Found
}

// Found is the result of a search, depending on its method: bounds of the throughput, the
// first goal's first; the longest bursts; or loss over load.
type Found struct {
	Goals      []GoalResult
	BackToBack *BackToBackResult
	LossCurve  []Outcome
}

// LossCurve is the frame loss rate test of RFC 2544 §26.3: from the largest
// load down in steps of at most a tenth of it, until two successive trials
// have no loss.
type LossCurve struct {
	max, duration, step float64
	k                   int
	clean               int
	points              []Outcome
}

// NewLossCurve starts at the largest load; step is a share of it, at most 0.1.
func NewLossCurve(maximum, duration, step float64) *LossCurve {
	return &LossCurve{max: maximum, duration: duration, step: step}
}

// Next proposes the next lower load.
func (l *LossCurve) Next() (Trial, bool) {
	load := l.max * (1 - float64(l.k)*l.step)
	if l.clean >= 2 || load < l.max*1e-9 {
		return Trial{}, false
	}
	return Trial{Load: load, Duration: l.duration}, true
}

// Add reports the outcome of the last proposed trial.
func (l *LossCurve) Add(o Outcome) {
	l.k++
	l.points = append(l.points, o)
	if o.LossRatio > 0 {
		l.clean = 0
		return
	}
	l.clean++
}

// Found returns the curve: the outcomes so far, from the largest load down.
func (l *LossCurve) Found() Found { return Found{LossCurve: l.points} }

// LatencyAt is the one-way delay at one load below the throughput (RFC 2544 §26.2 asks
// for the throughput itself; below it queues are not full).
type LatencyAt struct {
	Load    float64 `json:"load_pps"`
	P50     float64 `json:"latency_p50_ns"`
	P99     float64 `json:"latency_p99_ns"`
	Loss    float64 `json:"loss_ratio"`
	Repeats int     `json:"repeats"`
}
