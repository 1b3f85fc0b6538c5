package search

import "linerate/internal/stats"

// BackToBack finds the longest burst at line rate that a device buffers
// without loss (RFC 9004, which updates RFC 2544 §26.4): a binary search over
// the burst's length, repeated independently.
type BackToBack struct {
	config    BackToBackConfig
	low, high uint64 // frames: longest without loss, shortest with loss
	repeat    int
	verified  int
	found     []float64
	ceiling   bool // a burst of the limit passed without loss
	open      bool
}

// BackToBackConfig configures the searches.
type BackToBackConfig struct {
	// Throughput is searched first (RFC 9004 §4); nil if it is known.
	Throughput *Binary
	LineRate   float64 // frames per second at the minimum inter-frame gap, for the frame size
	Longest    float64 // seconds; RFC 9004 §5.2 allows up to 30
	Step       uint64  // distance of the bounds in frames at which a search ends
	Repeats    int     // complete searches; RFC 2544 §26.4 recommends 50
	Verify     int     // further trials of a burst with loss before it counts (RFC 9004 §5.3)
}

// NewBackToBack returns the procedure for the searches.
func NewBackToBack(c BackToBackConfig) *BackToBack {
	b := &BackToBack{config: c}
	b.restart()
	return b
}

func (b *BackToBack) restart() { b.low, b.high, b.verified = 0, b.limit()+1, 0 }

func (b *BackToBack) limit() uint64 { return max(1, uint64(b.config.LineRate*b.config.Longest)) }

func (b *BackToBack) frames() uint64 {
	if b.high > b.limit() {
		return b.limit() // the longest first
	}
	return b.low + (b.high-b.low)/2
}

// Next proposes a trial of the throughput search or, after that, a burst.
func (b *BackToBack) Next() (Trial, bool) {
	if b.config.Throughput != nil {
		if t, more := b.config.Throughput.Next(); more {
			return t, true
		}
	}
	if b.repeat >= b.config.Repeats {
		return Trial{}, false
	}
	b.open = true
	n := b.frames()
	return Trial{Load: b.config.LineRate, Frames: n, Duration: float64(n) / b.config.LineRate}, true
}

// Add reports the outcome of the last proposed trial.
func (b *BackToBack) Add(o Outcome) {
	if o.Frames == 0 && b.config.Throughput != nil {
		b.config.Throughput.Add(o)
		return
	}
	if !b.open {
		return
	}
	b.open = false
	n := b.frames()
	switch {
	case o.LossRatio <= 0:
		b.low, b.verified = n, 0
		b.ceiling = b.ceiling || n == b.limit()
	case b.verified < b.config.Verify:
		b.verified++
		return
	default:
		b.high, b.verified = n, 0
	}
	if b.high-b.low <= b.config.Step || b.low == b.limit() {
		b.found = append(b.found, float64(b.low))
		b.repeat++
		b.restart()
	}
}

// BackToBackResult is the report in RFC 9004 §6.
type BackToBackResult struct {
	Mean     float64      `json:"mean_frames"`
	Min      float64      `json:"min_frames"`
	Max      float64      `json:"max_frames"`
	SD       stats.Number `json:"sd_frames"` // null for a single search
	Step     uint64       `json:"step_frames"`
	Searches int          `json:"searches"`
	// ImpliedTime is the duration of the mean burst at line rate, in seconds;
	// CorrectedTime subtracts what the device forwarded meanwhile: the time
	// for which its buffers can absorb line rate.
	ImpliedTime   float64 `json:"implied_buffer_seconds"`
	CorrectedTime float64 `json:"corrected_buffer_seconds"`
	// AtLimit is set if a burst of the longest length passed, so that buffers may be larger.
	AtLimit bool `json:"at_limit"`
}

// Found returns the bursts, and the throughput if it was searched.
func (b *BackToBack) Found() (f Found) {
	throughput := 0.0
	if b.config.Throughput != nil {
		f = b.config.Throughput.Found()
		if t := f.Goals[0].Throughput; t != nil {
			throughput = *t
		}
	}
	r := b.Result(throughput)
	f.BackToBack = &r
	return f
}

// Result returns the result of the searches done; throughput is the device's,
// in frames per second. RFC 9004 §4 requires it: the test has no meaning for
// frame sizes that the device forwards at line rate.
func (b *BackToBack) Result(throughput float64) BackToBackResult {
	s := stats.Summarise(b.found)
	r := BackToBackResult{Mean: s.Mean, Min: s.Min, Max: s.Max, SD: stats.Num(s.SD), Step: b.config.Step, Searches: s.N, AtLimit: b.ceiling}
	r.ImpliedTime = s.Mean / b.config.LineRate
	r.CorrectedTime = r.ImpliedTime * (1 - throughput/b.config.LineRate)
	return r
}
