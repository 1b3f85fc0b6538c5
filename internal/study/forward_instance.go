package study

import (
	"math"
	"slices"

	"linerate/internal/load"
	"linerate/internal/stats"
)

// Instance is the raw record of one instance of a part: all its slices.
type Instance struct {
	Part    string       `json:"part"`
	Block   int          `json:"block"`
	Attempt int          `json:"attempt"`
	Arms    []string     `json:"arms"` // by lane
	Control string       `json:"control"`
	Slices  []load.Slice `json:"-"`
}

// perFrame is a slice's time per frame in ns, or NaN.
func perFrame(s load.Slice) float64 {
	if s.Frames == 0 || s.NS == 0 {
		return math.NaN()
	}
	return float64(s.NS) / float64(s.Frames)
}

// table is an instance's slices by lane and round.
type table struct {
	ns   [][]float64 // time per frame
	good [][]bool
	by   []Disturbed
	// round of each slice: its number within its lane.
	round []int
}

// tabulate sorts slices into whole rounds and sees which are good.
func (in Instance) tabulate() table {
	n := len(in.Arms)
	rounds := len(in.Slices) / max(1, n)
	t := table{ns: make([][]float64, n), good: make([][]bool, n), by: make([]Disturbed, n), round: make([]int, rounds*n)}
	for i := range n {
		t.ns[i], t.good[i] = make([]float64, rounds), make([]bool, rounds)
		for r := range t.ns[i] {
			t.ns[i][r] = math.NaN()
		}
	}
	seen := make([]int, n)
	for i, s := range in.Slices[:rounds*n] {
		if s.Lane < 0 || s.Lane >= n || seen[s.Lane] >= rounds {
			continue // a file that was not written by us
		}
		r := seen[s.Lane]
		seen[s.Lane]++
		t.round[i], t.ns[s.Lane][r] = r, perFrame(s)
		t.good[s.Lane][r] = s.Flags == 0 && !math.IsNaN(perFrame(s))
		add(&t.by[s.Lane], s.Flags)
	}
	for lane := range n {
		t.stalled(lane)
	}
	return t
}

func add(d *Disturbed, f load.SliceFlag) {
	for _, c := range []struct {
		flag load.SliceFlag
		n    *int
	}{{load.Switched, &d.Switched}, {load.Underway, &d.Underway}, {load.Leftover, &d.Leftover}} {
		if f&c.flag != 0 {
			*c.n++
		}
	}
}

// stalled takes out the slices of a lane that took far longer than usual.
func (t table) stalled(lane int) {
	limit := Stall * stats.Median(t.values(lane))
	for r, good := range t.good[lane] {
		if good && t.ns[lane][r] > limit {
			t.good[lane][r] = false
			t.by[lane].Stalled++
		}
	}
}

// values are a lane's good times per frame.
func (t table) values(lane int) (v []float64) {
	for r, good := range t.good[lane] {
		if good {
			v = append(v, t.ns[lane][r])
		}
	}
	return v
}

// ratios are the log ratios of a lane to another in the rounds good for both.
func (t table) ratios(lane, to int) (v []float64) {
	for r, good := range t.good[lane] {
		if good && t.good[to][r] {
			v = append(v, math.Log(t.ns[lane][r]/t.ns[to][r]))
		}
	}
	return v
}

// Condense works out what the slices say of each arm, by lane.
func (in Instance) Condense() []Lanes {
	t := in.tabulate()
	control, bypass := slices.Index(in.Arms, in.Control), slices.Index(in.Arms, BypassLane)
	out := make([]Lanes, len(in.Arms))
	speed, bypassRatio := math.NaN(), math.NaN()
	if control >= 0 {
		mean, _ := stats.TrimmedMean(logs(t.values(control)), Trim)
		speed = math.Exp(mean)
		if bypass >= 0 {
			bypassRatio, _ = stats.TrimmedMean(t.ratios(bypass, control), Trim)
		}
	}
	for lane := range out {
		l := &out[lane]
		l.Rounds, l.Disturbed = len(t.ns[lane]), t.by[lane]
		l.Speed, l.Bypass = stats.Num(speed), stats.Num(bypassRatio)
		if control < 0 {
			continue
		}
		r := t.ratios(lane, control)
		mean, se := stats.TrimmedMean(r, Trim)
		l.CarryOver = stats.Num(in.carryOver(t, lane))
		l.GoodRounds, l.LogRatio, l.SE = len(r), stats.Num(mean), stats.Num(se)
	}
	return out
}

func logs(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Log(x)
	}
	return out
}

// ofLanes are the metrics of an arm: its chain's time per packet at the speed the control had
// over the whole instance, and what of it is the DUT's.
func ofLanes(l Lanes) map[string]float64 {
	m := map[string]float64{}
	speed, ratio, bypass := l.Speed.Float(), l.LogRatio.Float(), l.Bypass.Float()
	if math.IsNaN(speed + ratio) {
		return m
	}
	m[ChainNS] = speed * math.Exp(ratio)
	if math.IsNaN(bypass) {
		return m
	}
	m[BypassNS] = speed * math.Exp(bypass)
	if cost := m[ChainNS] - m[BypassNS]; cost > 0 {
		m[CostNS], m[ForwardingRate] = cost, 1e9/cost
	}
	return m
}

const (
	// Stall is how many times an arm's median time per frame a slice may take
	// before it is called stalled, as by a hypervisor.
	Stall = 3
)

const (
	// minRounds is how many good rounds a robust mean over them takes.
	minRounds = 20
	// leastRounds are sent however slow the machine is: half of them may be
	// disturbed.
	leastRounds = 2 * minRounds
)
