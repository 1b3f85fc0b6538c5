package search

import "math"

// target is a step towards a goal: the goal itself, or a coarser one before
// it with shorter trials and a wider interval.
type target struct {
	goal  Goal // with the target's duration and sum
	width int  // in grid steps
}

// targetsOf lists the targets of a goal, the coarsest first. Sums of duration
// shrink geometrically from the goal's to the initial duration and widths
// double, as in the CSIT project's search.
func targetsOf(g Goal, gr grid) []target {
	width := gr.steps(g.Width)
	targets := []target{{g, width}}
	ratio := 1.0
	if g.Preceding > 0 {
		ratio = math.Pow(min(1, g.InitialDuration/g.DurationSum), 1/float64(g.Preceding))
	}
	for k := 1; k <= g.Preceding; k++ {
		c := g
		c.DurationSum = g.DurationSum * math.Pow(ratio, float64(k))
		if k == g.Preceding {
			c.DurationSum = min(g.InitialDuration, g.DurationSum)
		}
		c.FinalDuration = min(g.FinalDuration, c.DurationSum)
		width *= 2
		targets = append([]target{{c, width}}, targets...)
	}
	return targets
}

// bounds are the relevant bounds of a target, as grid indices; −1: none.
type bounds struct{ lo, hi int }

func (b bounds) both() bool { return b.lo >= 0 && b.hi >= 0 }

// selector works for one goal: it nominates the load to try next.
type selector struct {
	grid    grid
	trials  map[int][]Outcome // of the whole search, by grid index
	targets []target          // still to come; the first is the current one
	start   bounds            // where the current target starts from
	next    int               // how far the next step outwards goes
}

// nomination is a load and duration that a selector wants tried. grow says
// when the step outwards doubles: when the trial did not find its bound.
type nomination struct {
	load     int
	duration float64
	grow     func(b bounds, load int) bool
}

func newSelector(g Goal, gr grid, trials map[int][]Outcome, start bounds) *selector {
	s := &selector{grid: gr, trials: trials, targets: targetsOf(g, gr), start: start}
	s.restart()
	return s
}

// restart sets the step outwards for a new target.
func (s *selector) restart() {
	s.next = s.targets[0].width
	if s.start.both() {
		s.next = max(s.next, s.start.hi-s.start.lo)
	}
	s.next *= 2
}

// relevant finds the relevant bounds for a goal (see Goal.Relevant).
func (s *selector) relevant(g Goal) bounds {
	b := bounds{-1, -1}
	for i, t := range s.trials {
		if (b.hi < 0 || i < b.hi) && g.Classify(t) == UpperBound {
			b.hi = i
		}
	}
	for i, t := range s.trials {
		if i > b.lo && (b.hi < 0 || i < b.hi) && g.Classify(t) == LowerBound {
			b.lo = i
		}
	}
	return b
}

// nominate proposes a trial, moving on to the next target whenever the
// current one is reached; false when the goal is.
func (s *selector) nominate() (nomination, bool) {
	for {
		t := s.targets[0]
		b := s.relevant(t.goal)
		for _, strategy := range []func(bounds, target) (nomination, bool){
			s.halve, s.refineLow, s.refineHigh, s.extendLow, s.extendHigh, s.bisect,
		} {
			if n, ok := strategy(b, t); ok {
				n.duration = t.goal.FinalDuration
				return n, true
			}
		}
		if len(s.targets) == 1 {
			return nomination{}, false
		}
		s.targets = s.targets[1:]
		s.start = b
		s.restart()
	}
}

// tell lets the selector whose nomination was tried see what came of it.
func (s *selector) tell(n nomination) {
	if n.grow != nil && n.grow(s.relevant(s.targets[0].goal), n.load) {
		s.next *= 2
	}
}

// worth reports whether a trial at a load could improve a relevant bound.
func worth(b bounds, t target, load int) bool {
	switch {
	case b.lo >= load, b.hi >= 0 && b.hi <= load:
		return false
	}
	return !b.both() || b.hi-b.lo > t.width
}

// limit narrows the step outwards after a step inwards.
func (s *selector) limit(last int, t target) { s.next = 2 * max(last, t.width) }

// halve tries the middle of where the target started from, when that is what
// is missing to reach its width.
func (s *selector) halve(b bounds, t target) (nomination, bool) {
	w := s.start.hi - s.start.lo
	if !s.start.both() || w > 2*t.width || w <= t.width {
		return nomination{}, false
	}
	return s.inward(b, t, s.start.lo+w/2)
}

// refineLow and refineHigh confirm the bounds that the target started from.
func (s *selector) refineLow(b bounds, t target) (nomination, bool) {
	return s.inward(b, t, s.start.lo)
}

func (s *selector) refineHigh(b bounds, t target) (nomination, bool) {
	return s.inward(b, t, s.start.hi)
}

func (s *selector) inward(b bounds, t target, load int) (nomination, bool) {
	if load < 0 || !worth(b, t, load) {
		return nomination{}, false
	}
	s.limit(t.width, t)
	return nomination{load: load}, true
}

// extendLow looks for a lower bound below the upper one, ever further.
func (s *selector) extendLow(b bounds, t target) (nomination, bool) {
	if b.lo >= 0 || b.hi <= 0 {
		return nomination{}, false
	}
	load, ok := s.grid.keepOff(b.hi-s.next, t.width, b.lo, b.hi)
	if !ok || !worth(b, t, load) {
		return nomination{}, false
	}
	return nomination{load: load, grow: func(b bounds, load int) bool { return b.hi == load }}, true
}

// extendHigh looks for an upper bound above the lower one, ever further.
func (s *selector) extendHigh(b bounds, t target) (nomination, bool) {
	if b.hi >= 0 || b.lo < 0 || b.lo >= s.grid.top {
		return nomination{}, false
	}
	load, ok := s.grid.keepOff(b.lo+s.next, t.width, b.lo, b.hi)
	if !ok || !worth(b, t, load) {
		return nomination{}, false
	}
	return nomination{load: load, grow: func(b bounds, load int) bool { return b.lo == load }}, true
}

// bisect halves the interval between the bounds. A bound that another goal's
// trials set far outside of where this target started is approached from the
// near side instead.
func (s *selector) bisect(b bounds, t target) (nomination, bool) {
	if !b.both() || b.hi-b.lo <= t.width {
		return nomination{}, false
	}
	middle := b.lo + (b.hi-b.lo)/2
	if s.start.hi >= 0 && b.hi > s.start.hi && b.lo+s.next < middle {
		if load, ok := s.grid.keepOff(b.lo+s.next, t.width, b.lo, b.hi); ok && worth(b, t, load) {
			return nomination{load: load, grow: func(b bounds, load int) bool { return b.lo == load }}, true
		}
	}
	if s.start.lo >= 0 && b.lo < s.start.lo && b.hi-s.next > middle {
		if load, ok := s.grid.keepOff(b.hi-s.next, t.width, b.lo, b.hi); ok && worth(b, t, load) {
			return nomination{load: load, grow: func(b bounds, load int) bool { return b.hi == load }}, true
		}
	}
	load, ok := s.grid.keepOff(middle, min(t.width, (b.hi-b.lo)/2), b.lo, b.hi)
	if !ok {
		return nomination{}, false
	}
	s.limit(min(load-b.lo, b.hi-load), t)
	return nomination{load: load}, true
}
