package study

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/load"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// Interleaved is a trial's share of its instance.
type Interleaved struct {
	How     Interleaving `json:"how"`
	Attempt int          `json:"attempt"`          // which instance of its block this is, from 1
	Lane    int          `json:"lane"`             // place among the instance's arms, in the order they were made
	Raw     string       `json:"raw,omitempty"`    // file of the instance's slices; none in lockstep
	SHA256  string       `json:"sha256,omitempty"` // of that file
	Lanes
}

// Lanes is what an instance's slices say of one of its arms.
type Lanes struct {
	Rounds int `json:"rounds"`
	// GoodRounds are those in which neither this arm's slice nor the
	// control's was disturbed.
	GoodRounds int       `json:"good_rounds"`
	Disturbed  Disturbed `json:"disturbed_slices"` // this arm's
	// LogRatio is the mean over good rounds of ln(time per frame of this arm
	// / of the control), both ends of Trim cut off; its standard error says
	// how the rounds scatter, not how instances do.
	LogRatio stats.Number `json:"log_ratio"`
	SE       stats.Number `json:"log_ratio_se"`
	// Speed is the control's time per frame over the whole instance, in ns,
	// and Bypass the log ratio of the arm without a DUT.
	Speed  stats.Number `json:"control_ns"`
	Bypass stats.Number `json:"bypass_log_ratio"`
	// CarryOver is what this arm does to the one after it, as a log ratio.
	CarryOver stats.Number `json:"carry_over_log_ratio"`
	// Quantiles of this arm's time per frame, in ns, at 5, 25, 50, 75, 95 %.
	Quantiles []float64 `json:"quantiles_ns"`
}

// Disturbed counts slices by what disturbed them; one may count several times.
type Disturbed struct {
	Switched int `json:"switched"` // the CPU ran something else
	Underway int `json:"underway"` // frames were lost or late
	Leftover int `json:"leftover"` // frames of the arm before were late
	Stalled  int `json:"stalled"`  // it took over Stall times as long as usual
}

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
	// round of each slice: the how-manieth of its lane it is.
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
		t.by[s.Lane].add(s.Flags)
	}
	for lane := range n {
		t.stalled(lane)
	}
	return t
}

func (d *Disturbed) add(f load.SliceFlag) {
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
		l.Quantiles = quantiles(t.values(lane))
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

func quantiles(v []float64) []float64 {
	out := []float64{}
	if len(v) == 0 {
		return out
	}
	slices.Sort(v)
	for _, p := range []float64{0.05, 0.25, 0.5, 0.75, 0.95} {
		out = append(out, stats.Quantile(v, p))
	}
	return out
}

// metrics of an arm: its chain's time per packet at the speed the control had
// over the whole instance, and what of it is the DUT's.
func (l Lanes) metrics() map[string]float64 {
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

// String lists the counts that are not zero.
func (d Disturbed) String() string {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{d.Switched, "shared their CPU with other work"}, {d.Underway, "lost or delayed frames"},
		{d.Leftover, "began with frames of the arm before"}, {d.Stalled, "stalled"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if len(parts) == 0 {
		return "none was disturbed"
	}
	return show.List(parts)
}

const (
	// Trim is the share of rounds cut off at either end of an instance's
	// mean: see docs/design/statistics.md.
	Trim = 0.25
	// Stall is how many times an arm's median time per frame a slice may take
	// before it is called stalled, as by a hypervisor.
	Stall = 3
)

// judgeSlices derives the metrics of an instance's arm and the reasons for which
// it is not valid, of slices.
func judgeSlices(g Gates, o Observation) (metrics map[string]float64, reasons []string) {
	l := o.Interleaved.Lanes
	metrics = l.metrics()
	reasons = append([]string{}, trafficGates(g, o)...)
	if l.GoodRounds < minRounds || 100*float64(l.GoodRounds) < g.GoodRoundsPercent*float64(l.Rounds) {
		reasons = append(reasons, fmt.Sprintf("rounds: %d of %d were undisturbed (limits %d and %g %%); of this arm's slices %s",
			l.GoodRounds, l.Rounds, minRounds, g.GoodRoundsPercent, l.Disturbed))
		return metrics, reasons
	}
	return metrics, append(reasons, costGates(g, o, metrics)...)
}

const (
	// minRounds is how many good rounds a robust mean over them takes.
	minRounds = 20
	// leastRounds are sent however slow the machine is: half of them may be
	// disturbed.
	leastRounds = 2 * minRounds
)
