package search

import "linerate/internal/hint"

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
func NewLossCurve(maximum, duration, step float64) (*LossCurve, error) {
	switch {
	case !(maximum > 0) || !(duration > 0):
		return nil, hint.Usagef("load %g pps and duration %g s must be positive", maximum, duration)
	case !(step > 0 && step <= 0.1):
		return nil, hint.Usagef("step %g: RFC 2544 §26.3 wants a tenth of the largest load or less", step)
	}
	return &LossCurve{max: maximum, duration: duration, step: step}, nil
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

// Latency measures one-way delay at stated fractions of a throughput, each a
// number of times in turn (RFC 2544 §26.2 asks for the throughput itself, 120
// seconds and at least 20 repeats; at other fractions queues are not full).
type Latency struct {
	trials  []Trial
	outcome []Outcome
}

// NewLatency plans the trials: all fractions once, then again, so that drift
// falls on all alike.
func NewLatency(throughput float64, fractions []float64, duration float64, repeats int) (*Latency, error) {
	if !(throughput > 0) || !(duration > 0) || repeats < 1 || len(fractions) == 0 {
		return nil, hint.Usagef("latency needs a throughput, fractions, a duration and repeats")
	}
	l := &Latency{}
	for range repeats {
		for _, f := range fractions {
			if !(f > 0 && f <= 1) {
				return nil, hint.Usagef("fraction %g of the throughput must be in (0, 1]", f)
			}
			l.trials = append(l.trials, Trial{Load: f * throughput, Duration: duration})
		}
	}
	return l, nil
}

// Next proposes the next trial of the plan.
func (l *Latency) Next() (Trial, bool) {
	if len(l.outcome) >= len(l.trials) {
		return Trial{}, false
	}
	return l.trials[len(l.outcome)], true
}

// Add tells what came of it.
func (l *Latency) Add(o Outcome) { l.outcome = append(l.outcome, o) }

// LatencyAt is the mean over the repeats at one load, as §26.2 reports it.
type LatencyAt struct {
	Load    float64 `json:"load_pps"`
	P50     float64 `json:"latency_p50_ns"`
	P99     float64 `json:"latency_p99_ns"`
	Loss    float64 `json:"loss_ratio"`
	Repeats int     `json:"repeats"`
}

// Results are the means per load, in the order of the fractions.
func (l *Latency) Results() []LatencyAt {
	var out []LatencyAt
	at := map[float64]int{}
	for i, o := range l.outcome {
		load := l.trials[i].Load
		k, ok := at[load]
		if !ok {
			k = len(out)
			at[load] = k
			out = append(out, LatencyAt{Load: load})
		}
		out[k].P50 += o.LatencyP50
		out[k].P99 += o.LatencyP99
		out[k].Loss += o.LossRatio
		out[k].Repeats++
	}
	for i := range out {
		n := float64(out[i].Repeats)
		out[i].P50 /= n
		out[i].P99 /= n
		out[i].Loss /= n
	}
	return out
}
