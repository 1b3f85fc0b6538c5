package search

// LossCurve is the frame loss rate test of RFC 2544 §26.3: from the largest
// load down in steps of at most a tenth of it, until two successive trials
// lose nothing.
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

// Add tells what came of the trial proposed.
func (l *LossCurve) Add(o Outcome) {
	l.k++
	l.points = append(l.points, o)
	if o.LossRatio > 0 {
		l.clean = 0
		return
	}
	l.clean++
}

// Points are the curve, from the largest load down.
func (l *LossCurve) Points() []Outcome { return l.points }

// LatencyAt is one-way delay at one load, below the throughput (RFC 2544 §26.2 asks for
// the throughput itself; below it queues are not full).
type LatencyAt struct {
	Load    float64 `json:"load_pps"`
	P50     float64 `json:"latency_p50_ns"`
	P99     float64 `json:"latency_p99_ns"`
	Loss    float64 `json:"loss_ratio"`
	Repeats int     `json:"repeats"`
}
