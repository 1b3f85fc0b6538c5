package search

// Binary is a binary search as RFC 2544 §26.1 leaves to the tester: one trial
// of the final duration per load; a trial without loss raises the lower bound,
// any other lowers the upper one, until they are within the resolution. It
// finds the throughput of RFC 1242 §3.17.
type Binary struct {
	config     BinaryConfig
	low, high  float64
	lowTried   bool // low was tried, not assumed
	highTried  bool
	throughput *float64
	load       float64
	open       bool
}

// BinaryConfig configures a search.
type BinaryConfig struct {
	Min, Max   float64 // loads in frames per second
	Duration   float64 // of every trial, in seconds; RFC 2544 §24 requires at least 60
	Resolution float64 // relative to the upper bound
}

// NewBinary returns the search.
func NewBinary(c BinaryConfig) *Binary { return &Binary{config: c, low: c.Min, high: c.Max} }

// Next proposes the largest load first, then bisects.
func (b *Binary) Next() (Trial, bool) {
	if !b.open {
		switch {
		case !b.highTried:
			b.load = b.high
		case b.lowTried && b.low >= b.high:
			return Trial{}, false // the largest load passed, or the smallest failed
		case (b.high-b.low)/b.high > b.config.Resolution:
			b.load = b.low + (b.high-b.low)/2
		case !b.lowTried:
			b.load = b.low
		default:
			return Trial{}, false
		}
	}
	b.open = true
	return Trial{Load: b.load, Duration: b.config.Duration}, true
}

// Add reports the outcome of the last proposed trial.
func (b *Binary) Add(o Outcome) {
	if !b.open {
		return
	}
	b.open = false
	if o.LossRatio <= 0 {
		rate := b.load
		b.throughput = &rate
		b.low, b.lowTried = b.load, true
		if !b.highTried {
			b.highTried = true
			b.high = b.low
		}
		return
	}
	b.highTried = true
	b.high = b.load
	if b.load <= b.low {
		b.low, b.lowTried = b.load, true
	}
}

// Result returns the highest load that passed and the lowest that failed; nil
// if there is none.
func (b *Binary) Result() (throughput, upper *float64) {
	if b.throughput == nil || *b.throughput < b.high {
		h := b.high
		upper = &h
	}
	return b.throughput, upper
}

// Found returns the bounds as for a goal that allows no loss.
func (b *Binary) Found() Found {
	c := b.config
	r := GoalResult{Goal: Goal{Name: "rfc2544", FinalDuration: c.Duration, DurationSum: c.Duration, Width: c.Resolution, InitialDuration: c.Duration}}
	r.Lower, r.Upper = b.Result()
	r.Throughput = r.Lower
	switch {
	case r.Upper == nil:
		r.Reason = "the largest load loses nothing: the device, or the generator's limit, is beyond it"
	case r.Lower == nil:
		r.Reason = "even the least load loses frames"
	default:
		r.Regular = (*r.Upper-*r.Lower) / *r.Upper <= c.Resolution
	}
	return Found{Goals: []GoalResult{r}}
}
