package study

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/load"
	"linerate/internal/testbed"
)

// TestRoundsAreRandom: every round has every lane once, no lane has a favoured position or
// successor, and another seed, block or attempt gives another order.
func TestRoundsAreRandom(t *testing.T) {
	const lanes, rounds = 7, 4000
	p := Part{Name: "cost"}
	order := Rounds(p, 1, 1, 1, lanes, lanes*rounds+3)
	if len(order) != lanes*rounds {
		t.Fatalf("%d slices are not whole rounds of %d", len(order), lanes)
	}
	var at, next [lanes][lanes]int
	for r := range rounds {
		seen := map[uint8]bool{}
		for i, lane := range order[r*lanes : (r+1)*lanes] {
			seen[lane] = true
			at[lane][i]++
			if i > 0 {
				next[order[r*lanes+i-1]][lane]++
			}
		}
		if len(seen) != lanes {
			t.Fatalf("round %d has lanes %v", r, order[r*lanes:(r+1)*lanes])
		}
	}
	for lane := range lanes {
		for i := range lanes {
			far(t, fmt.Sprintf("lane %d at place %d", lane, i), at[lane][i], rounds/float64(lanes))
			if lane != i {
				far(t, fmt.Sprintf("lane %d before %d", lane, i), next[lane][i], rounds/float64(lanes))
			}
		}
	}
	same := func(seed uint64, block, attempt int) bool {
		return bytes.Equal(order, Rounds(p, seed, block, attempt, lanes, lanes*rounds))
	}
	if !same(1, 1, 1) || same(2, 1, 1) || same(1, 2, 1) || same(1, 1, 2) {
		t.Error("the order does not depend on exactly seed, block and attempt")
	}
}

// far reports a count that is more than 5 standard deviations off.
func far(t *testing.T, what string, n int, want float64) {
	t.Helper()
	if !(math.Abs(float64(n)-want) <= 5*math.Sqrt(want)) {
		t.Errorf("%s: %d times, want about %.0f", what, n, want)
	}
}

// simulate returns an instance whose arms cost what factors say, on a machine whose speed varies
// between rounds.
func simulate(seed uint64, rounds int, arms []string, factors []float64, flags func(lane, round int) load.SliceFlag) Instance {
	rng := rand.New(rand.NewPCG(seed, 1))
	in := Instance{Part: "cost", Block: 1, Attempt: 1, Arms: arms, Control: arms[0]}
	speed := 700.0
	for r := range rounds {
		speed = min(1300, max(500, speed*math.Exp(0.05*rng.NormFloat64())))
		for lane := range arms {
			ns := speed * factors[lane] * math.Exp(0.01*rng.NormFloat64())
			s := load.Slice{Lane: lane, Frames: 512, NS: uint32(512 * ns), At: uint32(r*4000 + lane*500)}
			if flags != nil {
				s.Flags = flags(lane, r)
				if s.Flags != 0 {
					s.NS *= 7
				}
			}
			in.Slices = append(in.Slices, s)
		}
	}
	return in
}

var simArms = []string{"none", AA, "slow", BypassLane}

func TestCondense(t *testing.T) {
	factors := []float64{1, 1, 1.05, 0.2}
	disturb := func(lane, round int) load.SliceFlag {
		if (lane*7+round)%10 == 0 {
			return load.Switched
		}
		return 0
	}
	lanes := simulate(3, 1000, simArms, factors, disturb).Condense()
	for i, l := range lanes {
		if got, want := l.LogRatio.Float(), math.Log(factors[i]); !(math.Abs(got-want) <= 0.002) {
			t.Errorf("%s: log ratio %.4f, want %.4f", simArms[i], got, want)
		}
		if l.Rounds != 1000 || l.GoodRounds < 750 || l.GoodRounds > 900 || l.Disturbed.Switched != 100 {
			t.Errorf("%s: %+v", simArms[i], l)
		}
	}
	m := ofLanes(lanes[2])
	speed := lanes[2].Speed.Float()
	if want := speed * (1.05 - 0.2); !(math.Abs(m[CostNS]/want-1) <= 0.005) || !(math.Abs(m[ForwardingRate]*m[CostNS]-1e9) <= 1) {
		t.Errorf("metrics %v, want a cost of %.0f ns", m, want)
	}
}

// TestCarryOver: an arm that slows down its successor is identified, and no other.
func TestCarryOver(t *testing.T) {
	arms := []string{"none", AA, "poison", "fine", BypassLane}
	in := simulate(4, 2000, arms, []float64{1, 1, 1.3, 1.1, 0.2}, nil)
	for i, lane := range Rounds(Part{}, 4, 1, 1, len(arms), len(in.Slices)) {
		in.put(i/len(arms), int(lane), i%len(arms))
	}
	for i := 1; i < len(in.Slices); i++ {
		if in.Slices[i-1].Lane == 2 {
			in.Slices[i].NS = uint32(float64(in.Slices[i].NS) * 1.05)
		}
	}
	lanes := in.Condense()
	if got := lanes[2].CarryOver.Float(); !(math.Abs(got-math.Log(1.05)) <= 0.004) {
		t.Errorf("the poisoner's carry-over is %.4f, want %.4f", got, math.Log(1.05))
	}
	if got := lanes[3].CarryOver.Float(); !(math.Abs(got) <= 0.02) {
		t.Errorf("an innocent's carry-over is %.4f", got)
	}
}

// put moves a lane to a position within its round.
func (in Instance) put(round, lane, place int) {
	n := len(in.Arms)
	r := in.Slices[round*n : (round+1)*n]
	for i := range r {
		if r[i].Lane == lane {
			r[i], r[place] = r[place], r[i]
			return
		}
	}
}

// TestTurnsOfManySlices: where settings are written before each turn, an arm runs many consecutive
// slices, which are paired with the control's by number.
func TestTurnsOfManySlices(t *testing.T) {
	s := interleavedSpec(t, "")
	plan := Slicing(&s, s.Parts[0], Alternating, 1, 1, 1, 4)
	if plan.Turn < 2 || len(plan.Order)%(4*plan.Turn) != 0 {
		t.Fatalf("turns of %d, %d slices", plan.Turn, len(plan.Order))
	}
	if plan.Least < leastRounds*4 || plan.Least > len(plan.Order) {
		t.Errorf("at least %d slices are required of %d", plan.Least, len(plan.Order))
	}
	in := Instance{Arms: simArms, Control: "none"}
	for i, lane := range plan.Order {
		if lane != plan.Order[i/plan.Turn*plan.Turn] {
			t.Fatalf("turn %d has several lanes", i/plan.Turn)
		}
		in.Slices = append(in.Slices, load.Slice{Lane: int(lane), Frames: 100, NS: 100 * (500 + 100*uint32(lane))})
	}
	for i, l := range in.Condense() {
		if want := math.Log(float64(500+100*i) / 500); !(math.Abs(l.LogRatio.Float()-want) <= 1e-9) || l.GoodRounds != len(plan.Order)/4 {
			t.Errorf("%s: %+v, want a log ratio of %.3f", simArms[i], l, want)
		}
	}
}

// TestCondenseCountsStalls: CPU time stolen by a hypervisor shows only in a slice's duration.
func TestCondenseCountsStalls(t *testing.T) {
	in := simulate(5, 200, simArms, []float64{1, 1, 2, 0.2}, nil)
	for i := range 10 {
		in.Slices[4*(20*i+1)].NS *= 30
	}
	l := in.Condense()[0]
	if l.Disturbed.Stalled != 10 || l.GoodRounds != 190 {
		t.Errorf("%+v", l)
	}
}

// TestTooFewGoodRounds: an instance on a CPU that others use is invalid, and says so.
func TestTooFewGoodRounds(t *testing.T) {
	in := simulate(5, 200, simArms, []float64{1, 1, 2, 0.2}, func(_, r int) load.SliceFlag {
		if r%20 != 0 {
			return load.Switched
		}
		return 0
	})
	lost := uint64(0)
	o := Observation{Sent: load.Sent{TxPackets: 10}, Received: load.Received{RxPackets: 10, Lost: &lost},
		After: testbed.Counters{Forwarded: 10}, Interleaved: &Interleaved{Lanes: in.Condense()[2]}}
	_, reasons := judge(Part{Mode: testbed.Cost}, DefaultGates(), o, 0)
	if len(reasons) != 1 || !strings.Contains(reasons[0], "10 of 200 were undisturbed") || !strings.Contains(reasons[0], "190 shared their CPU") {
		t.Errorf("%q", reasons)
	}
}

// TestInstanceIsAFileOfLines: a file of JSON with the arms' names, a line of columns, and a line per slice.
func TestInstanceIsAFileOfLines(t *testing.T) {
	in := simulate(9, 50, simArms, []float64{1, 1, 2, 0.2}, nil)
	data, err := in.Encode()
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	var head Instance
	if err := json.Unmarshal([]byte(strings.TrimPrefix(lines[0], "# ")), &head); err != nil || !slices.Equal(head.Arms, simArms) || head.Control != in.Control {
		t.Errorf("%+v, %v", head, err)
	}
	if lines[1] != rawColumns || len(lines) != 2+len(in.Slices) {
		t.Fatalf("%d lines of %d slices below %q", len(lines), len(in.Slices), lines[1])
	}
	at := uint32(0)
	for i, s := range in.Slices {
		if want := fmt.Sprintf("%d,%d,%d,%d,%d", s.Lane, s.Flags, s.Frames, s.NS, s.At-at); lines[2+i] != want {
			t.Fatalf("slice %d is %q, want %q", i, lines[2+i], want)
		}
		at = s.At
	}
	if perSlice := float64(len(data)) / float64(len(in.Slices)); perSlice > 16 {
		t.Errorf("%.1f bytes per slice are not compact", perSlice)
	}
}

func interleavedSpec(t *testing.T, extra string) Spec {
	t.Helper()
	s, err := Parse("x.yaml", []byte(`{name: x, question: "?", control: none, variants: [{name: none}, {name: other}`+extra+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestInterleavingOf(t *testing.T) {
	off := false
	for _, c := range []struct {
		name  string
		extra string
		edit  func(*Spec)
		want  Interleaving
	}{
		{"plain", "", nil, BySlices},
		{"interleave: false", "", func(s *Spec) { s.Interleave = &off }, InSequence},
		{"overload", "", func(s *Spec) { s.Parts[0].Mode = testbed.Overload }, Alternating},
		{"too many arms", "", func(s *Spec) {
			for i := range load.MaxLanes {
				s.Variants = append(s.Variants, Variant{Name: fmt.Sprint("v", i)})
			}
		}, InSequence},
		{"too many flows", "", func(s *Spec) { s.Workload.Flows = 1 << 20 }, InSequence},
		{"a global sysctl", `, {name: host, settings: [{sysctl: net.core.x, value: "1", scope: host}]}`, nil, Alternating},
		{"a global command", `, {name: host, settings: [{command: [true], scope: host}]}`, nil, InSequence},
	} {
		s := interleavedSpec(t, c.extra)
		if c.edit != nil {
			c.edit(&s)
		}
		if got := s.Interleaving(s.Parts[0]); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// interleavedTrials returns valid trials of an instance of a block.
func interleavedTrials(s Spec, block, attempt int, cost map[string]float64) (all []Trial) {
	for i, arm := range s.Arms() {
		all = append(all, Trial{Part: s.Parts[0].Name, Variant: arm, Block: block, Order: i + 1, Valid: true, Start: time.Unix(0, 0),
			Metrics:  map[string]float64{CostNS: cost[arm], ForwardingRate: 1e9 / cost[arm]},
			Observed: &Observation{Interleaved: &Interleaved{How: BySlices, Attempt: attempt, Lanes: Lanes{Rounds: 1000, GoodRounds: 1000}}}})
	}
	return all
}

// TestInstancesAreWhatIsCounted: thousands of rounds within an instance are one observation; a
// verdict's n is the number of instances.
func TestInstancesAreWhatIsCounted(t *testing.T) {
	s := interleavedSpec(t, "")
	rng := rand.New(rand.NewPCG(1, 1))
	var trials []Trial
	for b := 1; b <= s.Blocks; b++ {
		jitter := func() float64 { return 1 + 0.01*rng.NormFloat64() }
		trials = append(trials, interleavedTrials(s, b, 1, map[string]float64{"none": 700 * jitter(), "other": 700 * jitter(), AA: 700 * jitter()})...)
	}
	r := Analyse(s, 1, Environment{}, trials)
	if v := r.Verdicts[0]; v.N != s.Blocks || v.Interleaved != BySlices || r.AA.N != s.Blocks {
		t.Errorf("n is %d and %d over %d instances, interleaved %q", v.N, r.AA.N, s.Blocks, v.Interleaved)
	}
	if !r.Complete {
		t.Error("the study has all its trials, but is not complete")
	}
}

// TestArmsOfOneInstanceAreCompared: after an instance is repeated, arms of the first one are never
// compared with arms of the second.
func TestArmsOfOneInstanceAreCompared(t *testing.T) {
	s := interleavedSpec(t, "")
	s.Parts[0].Blocks, s.Retries = 1, 1
	first := interleavedTrials(s, 1, 1, map[string]float64{"none": 100, "other": 100, AA: 100})
	first[0].Valid = false // the control
	slot, ok := Next(s, 1, first, nil)
	if !ok || !slot.Retry || Attempts(first, 1) != 1 {
		t.Fatalf("an instance without a valid control must be repeated, got %+v, %v", slot, ok)
	}
	again := slices.Concat(first, interleavedTrials(s, 1, 2, map[string]float64{"none": 200, "other": 300, AA: 200}))
	if _, ok := Next(s, 1, again, nil); ok {
		t.Error("the block is complete, but has another slot")
	}
	for arm, want := range map[string]float64{"none": 200, "other": 300, AA: 200} {
		if got := ArmValues(s, 1, Goal{Metric: CostNS, Part: s.Parts[0].Name}, arm, again).Values[0]; got != want {
			t.Errorf("%s: %g, want %g", arm, got, want)
		}
	}
	second := interleavedTrials(s, 1, 1, map[string]float64{"none": 100, "other": 100, AA: 100})
	second[1].Valid = false
	if slot, ok := Next(s, 1, second, nil); ok {
		t.Errorf("one invalid arm repeats the whole instance: %+v", slot)
	}
}
