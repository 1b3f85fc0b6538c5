package search

import "math"

// target is a step towards a goal: the goal itself, or a coarser predecessor
// with shorter trials and a wider interval.
type target struct {
	goal  Goal // with the target's duration and sum
	width int  // in grid steps
}

// targetsOf returns the targets of a goal, the coarsest first. Duration sums
// decrease geometrically from the goal's to the initial duration, and widths
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

// bounds are the relevant bounds of a target, as grid indices; −1 for none.
type bounds struct{ lo, hi int }

func (b bounds) both() bool { return b.lo >= 0 && b.hi >= 0 }

// selector nominates the next load to try for one goal.
type selector struct {
	grid    grid
	trials  map[int][]Outcome // of the whole search, by grid index
	targets []target          // remaining targets; the first is the current one
	start   bounds            // bounds at the start of the current target
	next    int               // size of the next step outwards
}

// nomination is a load and duration that a selector proposes to try. grow reports
// whether the step outwards should double, because the trial did not find its bound.
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

// relevant returns a goal's relevant bounds: the lowest upper bound, and the highest lower bound below.
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

// nominate proposes a trial, moving on to the next target when the current
// one is reached; false if the goal is reached.
func (s *selector) nominate() (nomination, bool) {
	for {
		t := s.targets[0]
		b := s.relevant(t.goal)
		for _, strategy := range []func(bounds, target) (nomination, bool){
			s.halve,
			func(b bounds, t target) (nomination, bool) { return s.inward(b, t, s.start.lo) }, // confirms the starting bounds
			func(b bounds, t target) (nomination, bool) { return s.inward(b, t, s.start.hi) },
			s.extendLow, s.extendHigh, s.bisect,
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

// tell reports that a nominated trial was run, so that the step outwards can grow.
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

// limit reduces the step outwards after a step inwards.
func (s *selector) limit(last int, t target) { s.next = 2 * max(last, t.width) }

// halve tries the middle of the target's starting interval, if that suffices
// to reach the target's width.
func (s *selector) halve(b bounds, t target) (nomination, bool) {
	w := s.start.hi - s.start.lo
	if !s.start.both() || w > 2*t.width || w <= t.width {
		return nomination{}, false
	}
	return s.inward(b, t, s.start.lo+w/2)
}

func (s *selector) inward(b bounds, t target, load int) (nomination, bool) {
	if load < 0 || !worth(b, t, load) {
		return nomination{}, false
	}
	s.limit(t.width, t)
	return nomination{load: load}, true
}

// extendLow searches for a lower bound below the upper one, in growing steps.
func (s *selector) extendLow(b bounds, t target) (nomination, bool) {
	if b.lo >= 0 || b.hi <= 0 {
		return nomination{}, false
	}
	return s.down(b, t)
}

// extendHigh searches for an upper bound above the lower one, in growing steps.
func (s *selector) extendHigh(b bounds, t target) (nomination, bool) {
	if b.hi >= 0 || b.lo < 0 || b.lo >= s.grid.top {
		return nomination{}, false
	}
	return s.up(b, t)
}

// down nominates the load one step below the upper bound.
func (s *selector) down(b bounds, t target) (nomination, bool) {
	load, ok := s.grid.keepOff(b.hi-s.next, t.width, b.lo, b.hi)
	return nomination{load: load, grow: func(b bounds, load int) bool { return b.hi == load }}, ok && worth(b, t, load)
}

// up nominates the load one step above the lower bound.
func (s *selector) up(b bounds, t target) (nomination, bool) {
	load, ok := s.grid.keepOff(b.lo+s.next, t.width, b.lo, b.hi)
	return nomination{load: load, grow: func(b bounds, load int) bool { return b.lo == load }}, ok && worth(b, t, load)
}

// bisect halves the interval between the bounds. If another goal's trials set
// a bound far outside the target's starting interval, it approaches that
// bound in steps from the near side instead.
func (s *selector) bisect(b bounds, t target) (nomination, bool) {
	if !b.both() || b.hi-b.lo <= t.width {
		return nomination{}, false
	}
	middle := b.lo + (b.hi-b.lo)/2
	if s.start.hi >= 0 && b.hi > s.start.hi && b.lo+s.next < middle {
		if n, ok := s.up(b, t); ok {
			return n, true
		}
	}
	if s.start.lo >= 0 && b.lo < s.start.lo && b.hi-s.next > middle {
		if n, ok := s.down(b, t); ok {
			return n, true
		}
	}
	load, ok := s.grid.keepOff(middle, min(t.width, (b.hi-b.lo)/2), b.lo, b.hi)
	if !ok {
		return nomination{}, false
	}
	s.limit(min(load-b.lo, b.hi-load), t)
	return nomination{load: load}, true
}
