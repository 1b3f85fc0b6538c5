package study

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"linerate/internal/list"
	"linerate/internal/load"
	"linerate/internal/stats"
)

// Instance is the raw record of one instance of a part, with all its slices.
type Instance struct {
	Part    string       `json:"part"`
	Block   int          `json:"block"`
	Attempt int          `json:"attempt"`
	Arms    []string     `json:"arms"` // by lane
	Control string       `json:"control"`
	Slices  []load.Slice `json:"-"`
}

// perFrame returns a slice's time per frame in ns, or NaN.
func perFrame(s load.Slice) float64 {
	if s.Frames == 0 || s.NS == 0 {
		return math.NaN()
	}
	return float64(s.NS) / float64(s.Frames)
}

// table holds an instance's slices by lane and round.
type table struct {
	ns   [][]float64 // time per frame
	good [][]bool
	by   []Disturbed
	// round is the round of each slice: its index within its lane.
	round []int
}

// tabulate sorts slices into complete rounds and marks the good ones.
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
			continue // the file was not written by linerate
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

// stalled excludes a lane's slices that took far longer than usual.
func (t table) stalled(lane int) {
	limit := Stall * stats.Median(t.values(lane))
	for r, good := range t.good[lane] {
		if good && t.ns[lane][r] > limit {
			t.good[lane][r] = false
			t.by[lane].Stalled++
		}
	}
}

// values returns the times per frame of a lane's good slices.
func (t table) values(lane int) (v []float64) {
	for r, good := range t.good[lane] {
		if good {
			v = append(v, t.ns[lane][r])
		}
	}
	return v
}

// ratios returns the log ratios of one lane to another in the rounds that are good for both.
func (t table) ratios(lane, to int) (v []float64) {
	for r, good := range t.good[lane] {
		if good && t.good[to][r] {
			v = append(v, math.Log(t.ns[lane][r]/t.ns[to][r]))
		}
	}
	return v
}

// Condense summarises the slices of each arm, by lane.
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

func logs(v []float64) []float64 { return list.Map(v, math.Log) }

// ofLanes returns an arm's metrics: its chain's time per packet, at the control's speed over
// the whole instance, and the DUT's share of that time.
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
	// before it counts as stalled, for example by a hypervisor.
	Stall = 3
)

const (
	// minRounds is the least number of good rounds for a robust mean.
	minRounds = 20
	// leastRounds are sent on any machine, however slow: half of them may be
	// disturbed.
	leastRounds = 2 * minRounds
)

// Turns returns how many turns a part's seconds are split into where
// overloaded DUTs take turns.
func Turns(p Part) int { return max(2, int(math.Round(p.Seconds/overloadFor.Seconds()))) }

// maxLaneFlows bounds the accounting memory of all lanes together.
const maxLaneFlows = 1 << 21

// Dimensions of an instance's slices.
const (
	sliceFor    = 350 * time.Microsecond // minimum measured time of a slice
	overloadFor = 50 * time.Millisecond  // turn of an overloaded DUT
	guardFrames = 128                    // not measured, sent before each slice
	maxSlices   = 1 << 16
	turnSlices  = 16   // consecutive slices of an arm if settings are written before each turn
	warmFrames  = 2048 // minimum before an arm's first slice
)

// Slicing plans the traffic of one instance of a part.
func Slicing(s *Spec, p Part, how Interleaving, seed uint64, block, attempt, lanes int) load.SlicePlan {
	plan := load.SlicePlan{Slice: sliceFor, Guard: guardFrames, Limit: Seconds(p.Seconds * float64(lanes))}
	if how == Alternating {
		plan.Turn = turnSlices
	}
	turn := max(1, plan.Turn)
	plan.Least = leastRounds * lanes
	most := min(maxSlices, max(int(plan.Limit/plan.Slice), plan.Least)+2*lanes*turn)
	for _, lane := range Rounds(p, seed, block, attempt, lanes, most/turn) {
		plan.Order = append(plan.Order, slices.Repeat([]uint8{lane}, turn)...)
	}
	// Warm up with enough frames that every flow has its state before the
	// measurement.
	w := s.Offers(p)
	plan.Warm = max(warmFrames, int(2*float64(w.Flows)/max(0.05, 1-w.Elephant))) * DirectionCount(p) // the elephant's frames do not warm the other flows
	return plan
}

// Rounds returns the order of an instance's slices: each round has every lane once, in a
// fresh random order. The same arguments always give the same order.
func Rounds(p Part, seed uint64, block, attempt, lanes, most int) []uint8 {
	rng := rand.New(rand.NewPCG(seed, NameHash(fmt.Sprintf("%s/%d/%d", p.Name, block, attempt))))
	round := make([]uint8, lanes)
	for i := range round {
		round[i] = uint8(i)
	}
	order := make([]uint8, 0, most)
	for len(order)+lanes <= most {
		rng.Shuffle(lanes, func(i, j int) { round[i], round[j] = round[j], round[i] })
		order = append(order, round...)
	}
	return order
}

// RawFile returns the name and the hex SHA-256 of the slice file from which a
// trial was derived; ok is false if there is none.
func RawFile(t *Trial) (name, sha256 string, ok bool) {
	o := t.Saw().Interleaved
	if o == nil || o.Raw == "" {
		return "", "", false
	}
	return o.Raw, o.SHA256, true
}

// RawName returns the name of an instance's file in the study's directory.
func (in Instance) RawName() string {
	return fmt.Sprintf("slices-%s-%d-%d.csv.gz", in.Part, in.Block, in.Attempt)
}

// rawColumns are the columns of an instance's file. Times are relative:
// after_us is the time since the previous slice began.
const rawColumns = "lane,flags,frames,ns,after_us"

// Encode writes an instance as gzipped CSV after a JSON header line. The same
// instance always gives the same bytes.
func (in Instance) Encode() ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("write the slices of block %d: %w", in.Block, err)
	}
	w := bufio.NewWriter(z)
	fmt.Fprintf(w, "# %s\n%s\n", head, rawColumns)
	var last uint32
	for _, s := range in.Slices {
		fmt.Fprintf(w, "%d,%d,%d,%d,%d\n", s.Lane, s.Flags, s.Frames, s.NS, s.At-last)
		last = s.At
	}
	if err := errors.Join(w.Flush(), z.Close()); err != nil {
		return nil, fmt.Errorf("write the slices of block %d: %w", in.Block, err)
	}
	return b.Bytes(), nil
}
