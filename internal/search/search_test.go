package search

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Measurer runs one trial.
type Measurer interface {
	Measure(ctx context.Context, t Trial) (Outcome, error)
}

var errBudget = errors.New("the search's time is used up")

// Run drives a procedure until it is done or fails.
func Run(ctx context.Context, p Procedure, m Measurer) error {
	for {
		t, more := p.Next()
		if !more {
			return nil
		}
		o, err := m.Measure(ctx, t)
		if err != nil {
			return err
		}
		p.Add(o)
	}
}

// device simulates trials with a loss function.
type device func(t Trial) float64

func (d device) Measure(_ context.Context, t Trial) (Outcome, error) {
	return Outcome{Trial: t, LossRatio: d(t), LatencyP50: t.Load, LatencyP99: 2 * t.Load}, nil
}

// recorder keeps the outcomes of a measurer's trials, and ends a search after budget
// seconds of them.
type recorder struct {
	Measurer
	budget float64
	out    []Outcome
}

func (r *recorder) Measure(ctx context.Context, t Trial) (Outcome, error) {
	if r.budget -= t.Duration; r.budget < 0 && r.budget+t.Duration > 0 {
		return Outcome{}, errBudget
	}
	o, err := r.Measurer.Measure(ctx, t)
	r.out = append(r.out, o)
	return o, err
}

// capacity loses what exceeds it.
func capacity(c float64) device { return func(t Trial) float64 { return max(0, 1-c/t.Load) } }

func run(t *testing.T, p Procedure, m Measurer) []Outcome {
	t.Helper()
	seen := &recorder{Measurer: m}
	if err := Run(context.Background(), p, seen); err != nil {
		t.Fatal(err)
	}
	return seen.out
}

func TestBinary(t *testing.T) {
	config := BinaryConfig{Min: 1000, Max: 1e6, Duration: 60, Resolution: 0.001}
	for _, c := range []float64{2000, 123_456, 999_000} {
		b := NewBinary(config)
		run(t, b, capacity(c))
		low, high := b.Result()
		if low == nil || high == nil || *low > c || *high <= c || (*high-*low) / *high > 0.001 {
			t.Errorf("capacity %g: [%v, %v]", c, *low, *high)
		}
	}
	// The largest load passes: one trial, no upper bound.
	b := NewBinary(config)
	if n := len(run(t, b, capacity(2e6))); n != 1 {
		t.Errorf("%d trials at a device faster than the line", n)
	}
	if low, high := b.Result(); low == nil || *low != 1e6 || high != nil {
		t.Errorf("%v %v", low, high)
	}
	// The least load fails: no throughput.
	b = NewBinary(config)
	run(t, b, capacity(10))
	if low, high := b.Result(); low != nil || high == nil || *high != 1000 {
		t.Errorf("%v %v", low, high)
	}
}

func TestMLRSteady(t *testing.T) {
	goals := slices.Clone(presets)
	for _, c := range []float64{20_000, 123_456, 900_000, 1.48e6} {
		m := NewMLR(Config{Min: 14_880, Max: 1.488e6, Goals: goals, Warmup: 1})
		out := run(t, m, capacity(c))
		for i, r := range m.Results() {
			g := goals[i]
			truth := c / (1 - g.LossRatio)
			if !r.Regular || *r.Lower > truth || *r.Upper < truth {
				t.Errorf("capacity %g, goal %s: %+v, truth %g", c, g.Name, r, truth)
				continue
			}
			if w := (*r.Upper - *r.Lower) / *r.Upper; w > g.Width*(1+1e-9) {
				t.Errorf("goal %s: width %g, want %g", g.Name, w, g.Width)
			}
			if *r.Throughput > *r.Lower || *r.Throughput < *r.Lower*(1-g.LossRatio) {
				t.Errorf("goal %s: conditional throughput %g of load %g", g.Name, *r.Throughput, *r.Lower)
			}
		}
		if len(counted(m)) != len(out)-1 {
			t.Error("the warm-up trial must not count")
		}
	}
}

func TestMLRIrregular(t *testing.T) {
	for c, want := range map[float64]string{
		1e9: "the largest load is a lower bound: the device, or the generator's limit, is beyond it",
		10:  "the least load is an upper bound",
	} {
		g, _ := Preset("ndr")
		m := NewMLR(Config{Min: 1000, Max: 1e6, Goals: []Goal{g}})
		run(t, m, capacity(c))
		r := m.Results()[0]
		if r.Regular || r.Reason != want {
			t.Errorf("capacity %g: %+v", c, r)
		}
	}
	g, _ := Preset("rfc2544")
	m := NewMLR(Config{Min: 1000, Max: 1e6, Goals: []Goal{g}})
	if err := Run(context.Background(), m, &recorder{Measurer: capacity(5e5), budget: 30}); !errors.Is(err, errBudget) {
		t.Errorf("%v", err)
	}
	if r := m.Results()[0]; r.Regular || r.Reason == "" {
		t.Errorf("a search cut short is regular: %+v", r)
	}
}

// Whatever a device does, a search ends and never leaves its limits, and its bounds follow from its
// trials. When time runs short it reaches the first goal and leaves the others.
func TestMLRFirstGoal(t *testing.T) {
	early, late := goal("early", 0.4), goal("late", 0) // whose bounds are far apart
	m := NewMLR(Config{Min: 1e3, Max: 1e7, Goals: []Goal{early, late}})
	m.FirstGoal()
	run(t, m, capacity(1e6))
	if r := m.Results(); !r[0].Regular || r[1].Regular {
		t.Errorf("the first goal reached: %v, the other: %v", r[0].Regular, r[1].Regular)
	}
}

func goal(name string, loss float64) Goal {
	return Goal{Name: name, FinalDuration: 1, DurationSum: 3, LossRatio: loss, ExceedRatio: 0.5, Width: 0.005, InitialDuration: 1, Preceding: 2}
}

func TestMLREndsOnChaos(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var goals []Goal
		for range 1 + r.IntN(3) {
			goals = append(goals, Goal{
				FinalDuration: 1 + float64(r.IntN(10)), DurationSum: 1 + float64(r.IntN(30)), InitialDuration: 1,
				LossRatio: float64(r.IntN(3)) * 0.005, ExceedRatio: float64(r.IntN(3)) * 0.3,
				Width: 0.002 + 0.05*r.Float64(), Preceding: r.IntN(5),
			})
		}
		m := NewMLR(Config{Min: 1000, Max: 1e6, Goals: goals})
		mood := r.Float64()
		chaos := device(func(tr Trial) float64 {
			if tr.Load < 999 || tr.Load > 1e6 || tr.Duration <= 0 {
				t.Fatalf("seed %d: trial %+v is out of bounds", seed, tr)
			}
			if r.Float64() < mood {
				return 0
			}
			return r.Float64()
		})
		n := 0
		for {
			tr, more := m.Next()
			if !more {
				break
			}
			if again, _ := m.Next(); again != tr {
				t.Fatal("Next must not move without Add")
			}
			o, _ := chaos.Measure(context.Background(), tr)
			m.Add(o)
			if n++; n > 20_000 {
				t.Fatalf("seed %d: no end after %d trials", seed, n)
			}
		}
		for i, res := range m.Results() {
			b := goals[i].Relevant(counted(m))
			if !equal(b.Lower, res.Lower) || !equal(b.Upper, res.Upper) {
				t.Fatalf("seed %d: bounds %+v are not those of the trials", seed, res)
			}
			if !res.Regular && (res.Lower != nil && res.Upper != nil) {
				t.Errorf("seed %d: the search ended with bounds too far apart: %+v", seed, res)
			}
		}
	}
}

func equal(a, b *float64) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

func TestLossCurve(t *testing.T) {
	l := NewLossCurve(1e6, 60, 0.1)
	run(t, l, capacity(750_000))
	p := l.Found().LossCurve
	if len(p) != 5 || p[0].Load != 1e6 || !(math.Abs(p[2].Load-8e5) <= 1e-6) || p[4].LossRatio != 0 {
		t.Errorf("%+v", p)
	}
	l = NewLossCurve(1e6, 60, 0.1)
	if n := len(run(t, l, capacity(1))); n != 10 {
		t.Errorf("%d trials down to nothing", n)
	}
}

// A buffer of 1,000 frames drained at half the line rate holds bursts of
// 2,000; the corrected time is that of the buffer itself.
func TestBackToBack(t *testing.T) {
	const line = 1e6
	b := NewBackToBack(BackToBackConfig{LineRate: line, Longest: 2, Step: 1, Repeats: 3})
	run(t, b, device(func(tr Trial) float64 { return max(0, float64(tr.Frames)-2000) / float64(tr.Frames) }))
	r := b.Result(line / 2)
	if r.Mean != 2000 || r.SD.Float() != 0 || r.Searches != 3 || r.AtLimit {
		t.Errorf("%+v", r)
	}
	if !(math.Abs(r.CorrectedTime-0.001) <= 1e-12) {
		t.Errorf("corrected %g s", r.CorrectedTime)
	}
	// The whole of the longest burst passes.
	b = NewBackToBack(BackToBackConfig{LineRate: line, Longest: 2, Step: 10, Repeats: 2})
	if n := len(run(t, b, capacity(2*line))); n != 2 {
		t.Errorf("%d trials", n)
	}
	if r := b.Result(line); !r.AtLimit || r.Mean != 2e6 || r.CorrectedTime != 0 {
		t.Errorf("%+v", r)
	}
	if f := b.Found(); f.BackToBack.Mean != 2e6 || len(f.Goals) > 0 {
		t.Errorf("without a search for the throughput: %+v", f)
	}
	// Loss verification: one unlucky burst in three does not count.
	b = NewBackToBack(BackToBackConfig{LineRate: line, Longest: 1, Step: 1, Repeats: 1, Verify: 2})
	n := 0
	run(t, b, device(func(tr Trial) float64 {
		if n++; n%3 == 0 || tr.Frames > 5000 {
			return 0.1
		}
		return 0
	}))
	if r := b.Result(0); r.Mean != 5000 {
		t.Errorf("verified mean %g", r.Mean)
	}
}

func TestKeepOff(t *testing.T) {
	g := newGrid(1000, 1e6, 0.01)
	for load := -5; load <= g.top+5; load++ {
		for _, b := range [][2]int{{-1, -1}, {10, -1}, {-1, 50}, {10, 50}, {10, 18}, {10, 11}} {
			got, ok := g.keepOff(load, 8, b[0], b[1])
			if !ok {
				continue
			}
			if got < 0 || got > g.top || (b[0] >= 0 && got <= b[0]) || (b[1] >= 0 && got >= b[1]) {
				t.Fatalf("load %d, bounds %v: %d", load, b, got)
			}
		}
	}
	for i := range g.top {
		if g.index(g.load(i)) != i {
			t.Fatalf("index(load(%d)) = %d", i, g.index(g.load(i)))
		}
	}
}

func FuzzMLR(f *testing.F) {
	f.Add(uint64(1), []byte{0, 255, 3, 0, 9})
	f.Fuzz(func(t *testing.T, seed uint64, losses []byte) {
		g, _ := Preset("ndr")
		g.Width = 0.02
		m := NewMLR(Config{Min: 1000, Max: 1e6, Goals: []Goal{g}})
		r := rand.New(rand.NewPCG(seed, 2))
		for n := 0; ; n++ {
			tr, more := m.Next()
			if !more {
				return
			}
			loss := r.Float64()
			if n < len(losses) {
				loss = float64(losses[n]) / 255
			}
			m.Add(Outcome{Trial: tr, LossRatio: loss})
			if n > 20_000 {
				t.Fatal("no end")
			}
		}
	})
}

// counted are the outcomes that count.
func counted(m *MLR) (all []Outcome) {
	for _, of := range m.trials {
		all = append(all, of...)
	}
	return all
}
