package search

import (
	"linerate/internal/list"
)

// MLR controls a multiple loss ratio search (draft-ietf-bmwg-mlrsearch-15):
// one search for several goals that share all trials. The order of loads
// follows the strategies of the CSIT project: short trials and wide intervals
// first, smaller loads first.
type MLR struct {
	config  Config
	grid    grid
	trials  map[int][]Outcome
	stage   int
	hints   []int // loads of the initial trials
	workers []*selector
	pending nomination
	worker  *selector
	only    bool // search for the first goal only
	open    bool // a proposed trial has no outcome yet
}

// Config configures a search.
type Config struct {
	Min, Max float64 // loads in frames per second; Max is usually line rate
	Goals    []Goal
	Warmup   float64 // seconds at Max before trials count; 0: none
}

// The stages of a search.
const (
	warmup = iota
	atMax
	atForwarded
	beside
	selecting
)

// NewMLR returns the search.
func NewMLR(c Config) *MLR {
	narrowest := 1.0
	for _, g := range c.Goals {
		narrowest = min(narrowest, g.Width)
	}
	m := &MLR{config: c, grid: newGrid(c.Min, c.Max, narrowest), trials: map[int][]Outcome{}}
	if c.Warmup <= 0 {
		m.stage = atMax
	}
	return m
}

// Next proposes the next trial.
func (m *MLR) Next() (Trial, bool) {
	if !m.open && !m.propose() {
		return Trial{}, false
	}
	m.open = true
	return Trial{Load: m.grid.load(m.pending.load), Duration: m.pending.duration}, true
}

// Add reports the outcome of the last proposed trial.
func (m *MLR) Add(o Outcome) {
	if !m.open {
		return
	}
	m.open = false
	if m.stage == warmup {
		m.stage = atMax
		return
	}
	m.trials[m.pending.load] = append(m.trials[m.pending.load], o)
	if m.stage == selecting {
		m.worker.tell(m.pending)
		return
	}
	m.initial(o)
}

// propose sets the pending trial; false if every goal is reached.
func (m *MLR) propose() bool {
	switch m.stage {
	case warmup:
		m.pending = nomination{load: m.grid.top, duration: m.config.Warmup}
		return true
	case atMax:
		m.pending = nomination{load: m.grid.top, duration: m.firstDuration()}
		return true
	case atForwarded, beside:
		m.pending = nomination{load: m.hints[len(m.hints)-1], duration: m.firstDuration()}
		return true
	}
	found, workers := false, m.workers
	if m.only {
		workers = workers[:1]
	}
	for _, w := range workers {
		n, ok := w.nominate()
		if !ok {
			continue
		}
		if !found || n.load < m.pending.load || (n.load == m.pending.load && n.duration > m.pending.duration) {
			m.pending, m.worker, found = n, w, true
		}
	}
	return found
}

// FirstGoal abandons all goals but the first, when time runs short.
func (m *MLR) FirstGoal() { m.only = true }

// first returns the coarsest target of each goal.
func (m *MLR) first() []target {
	return list.Map(m.config.Goals, func(g Goal) target { return targetsOf(g, m.grid)[0] })
}

func (m *MLR) firstDuration() (d float64) {
	for _, t := range m.first() {
		d = max(d, t.goal.FinalDuration)
	}
	return d
}

// initial chooses the starting loads: the rate forwarded at the largest load is the
// first guess, and its outcome gives a second load nearby.
func (m *MLR) initial(o Outcome) {
	loss, width := 1.0, 0
	for _, t := range m.first() {
		loss, width = min(loss, t.goal.LossRatio), max(width, t.width)
	}
	// The load at which the excess over the forwarded rate is just the
	// allowed loss.
	guess := m.grid.index(o.ForwardingRate() / (1 - loss))
	switch m.stage {
	case atMax:
		if guess >= m.grid.top {
			m.begin(m.grid.top, m.grid.top)
			return
		}
		load, ok := m.grid.keepOff(guess, width, -1, m.grid.top)
		if !ok {
			m.begin(m.grid.top, m.grid.top)
			return
		}
		m.hints, m.stage = []int{load}, atForwarded
	case atForwarded:
		here := m.pending.load
		load, ok := 0, false
		if o.LossRatio > loss {
			if guess < here {
				load, ok = m.grid.keepOff(guess, width, -1, here)
			}
		} else {
			load, ok = m.grid.keepOff(here+width, width, here, m.grid.top)
		}
		if !ok || load == here {
			m.begin(here, here)
			return
		}
		m.hints, m.stage = append(m.hints, load), beside
	case beside:
		m.begin(m.hints[0], m.hints[1])
	}
}

// begin starts the selectors of all goals between two loads.
func (m *MLR) begin(a, b int) {
	m.stage = selecting
	for _, g := range m.config.Goals {
		m.workers = append(m.workers, newSelector(g, m.grid, m.trials, bounds{min(a, b), max(a, b)}))
	}
}

// GoalResult is the result of a search for one goal.
type GoalResult struct {
	Goal Goal `json:"goal"`
	// Regular is set if both bounds exist and are within the width.
	Regular bool     `json:"regular"`
	Reason  string   `json:"reason,omitempty"` // why it is not regular
	Lower   *float64 `json:"relevant_lower_bound_pps"`
	Upper   *float64 `json:"relevant_upper_bound_pps"`
	// Throughput is the conditional throughput at the lower bound; null if
	// there is none.
	Throughput *float64 `json:"conditional_throughput_pps"`
}

// Results returns the present results for the goals, in the order of the configuration.
func (m *MLR) Results() []GoalResult { return list.Map(m.config.Goals, m.result) }

// Found returns the results for the goals.
func (m *MLR) Found() Found { return Found{Goals: m.Results()} }

func (m *MLR) result(g Goal) GoalResult {
	r := GoalResult{Goal: g}
	s := selector{trials: m.trials}
	b := s.relevant(g)
	if b.lo >= 0 {
		lower := m.grid.load(b.lo)
		t := g.ConditionalThroughput(m.trials[b.lo])
		r.Lower, r.Throughput = &lower, &t
	}
	if b.hi >= 0 {
		upper := m.grid.load(b.hi)
		r.Upper = &upper
	}
	switch {
	case b.both() && b.hi-b.lo <= m.grid.steps(g.Width):
		r.Regular = true
	case b.both():
		r.Reason = "the search ended before the bounds were close enough"
	case b.lo >= m.grid.top:
		r.Reason = "the largest load is a lower bound: the device, or the generator's limit, is beyond it"
	case b.hi == 0:
		r.Reason = "the least load is an upper bound"
	default:
		r.Reason = "the search ended before both bounds were found"
	}
	return r
}
