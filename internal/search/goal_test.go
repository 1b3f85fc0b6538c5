package search

import (
	"math"
	"testing"
)

func repeat(n int, duration, loss float64) []Outcome {
	out := make([]Outcome, n)
	for i := range out {
		out[i] = Outcome{Trial: Trial{Load: 1e6, Duration: duration}, LossRatio: loss}
	}
	return out
}

// The example search of draft-ietf-bmwg-mlrsearch-15: four goals, six points
// in time, twenty-four cells, each with its optimistic and pessimistic exceed
// ratio in percent and its classification.
//
// Two cells of the draft contradict themselves: at points 5 and 6 it calls
// the load a lower bound of "20% exceed" beside exceed ratios of 42.857 and
// 27.273 %. By the draft's own normative code these are upper bounds.
func TestDraftTable(t *testing.T) {
	goals := []Goal{
		{Name: "RFC2544", FinalDuration: 60, DurationSum: 60},
		{Name: "TST009", FinalDuration: 60, DurationSum: 120, ExceedRatio: 0.5},
		{Name: "1s final", FinalDuration: 1, DurationSum: 120, LossRatio: 0.005, ExceedRatio: 0.5},
		{Name: "20% exceed", FinalDuration: 60, DurationSum: 60, LossRatio: 0.005, ExceedRatio: 0.2},
	}
	type cell struct {
		optimistic, pessimistic float64
		class                   Class
	}
	points := []struct {
		name  string
		added []Outcome
		want  [4]cell
	}{
		{"first short good", repeat(59, 1, 0), [4]cell{{0, 100, Undecided}, {0, 100, Undecided}, {0, 50.833, Undecided}, {0, 100, Undecided}}},
		{"first short bad", repeat(1, 1, 0.01), [4]cell{{1.667, 100, UpperBound}, {0, 100, Undecided}, {0.833, 50.833, Undecided}, {0, 100, Undecided}}},
		{"last short bad", repeat(59, 1, 0.01), [4]cell{{100, 100, UpperBound}, {0.833, 100, Undecided}, {50, 50.833, Undecided}, {75.417, 100, UpperBound}}},
		{"last short good", repeat(1, 1, 0), [4]cell{{100, 100, UpperBound}, {0, 100, Undecided}, {50, 50, LowerBound}, {75, 100, UpperBound}}},
		{"first long bad", repeat(1, 60, 0.001), [4]cell{{100, 100, UpperBound}, {50, 100, Undecided}, {33.333, 33.333, LowerBound}, {42.857, 42.857, UpperBound}}},
		{"first long good", repeat(1, 60, 0), [4]cell{{66.667, 66.667, UpperBound}, {50, 50, LowerBound}, {25, 25, LowerBound}, {27.273, 27.273, UpperBound}}},
	}
	var trials []Outcome
	for i, p := range points {
		trials = append(trials, p.added...)
		for k, g := range goals {
			o, pess := g.ExceedRatios(trials)
			got := cell{math.Round(o*1e5) / 1e3, math.Round(pess*1e5) / 1e3, g.Classify(trials)}
			if got != p.want[k] {
				t.Errorf("point %d (%s), goal %s: %v, want %v", i+1, p.name, g.Name, got, p.want[k])
			}
		}
	}
	for k, want := range map[int]float64{1: 1e6, 2: 1e6, 3: 999e3} {
		if got := goals[k].ConditionalThroughput(trials); !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("goal %s: conditional throughput %g, want %g", goals[k].Name, got, want)
		}
	}
}

// Missing time counts as lost: one good minute of two does not show what
// TST009 asks for more than half of the time.
func TestConditionalThroughputMissingTime(t *testing.T) {
	g := Goal{FinalDuration: 60, DurationSum: 180, ExceedRatio: 0.5}
	if got := g.ConditionalThroughput(repeat(1, 60, 0)); got != 0 {
		t.Errorf("%g, want 0: 60 s cannot fill half of 180 s", got)
	}
	if got := g.ConditionalThroughput(repeat(2, 60, 0)); got != 1e6 {
		t.Errorf("%g, want 1e6", got)
	}
	if got := g.ConditionalThroughput(nil); got != 0 {
		t.Errorf("%g without trials", got)
	}
}

// Loss inversion: a lower bound above an upper bound is not relevant.
func TestRelevantBoundsUnderInversion(t *testing.T) {
	g := Goal{FinalDuration: 1, DurationSum: 1}
	at := func(load, loss float64) Outcome {
		return Outcome{Trial: Trial{Load: load, Duration: 1}, LossRatio: loss}
	}
	b := g.Relevant([]Outcome{at(100, 0), at(200, 0.1), at(300, 0), at(50, 0), at(400, 0.2)})
	if b.Lower == nil || *b.Lower != 100 || b.Upper == nil || *b.Upper != 200 {
		t.Errorf("%v %v, want 100 and 200", b.Lower, b.Upper)
	}
	if b := g.Relevant([]Outcome{at(100, 0)}); b.Upper != nil || *b.Lower != 100 {
		t.Error("no upper bound: the largest lower bound is still told")
	}
}

func TestNoSuchGoal(t *testing.T) {
	if _, err := Preset("rfc2455"); err == nil || err.Error() != `unknown search goal "rfc2455"` {
		t.Error(err)
	}
}

// Bounds are a goal's relevant bounds among the loads tried: the smallest upper bound, and the
// largest lower bound below it, so that loss inversion is resolved pessimistically. A missing one
// is nil.
type Bounds struct{ Lower, Upper *float64 }

// Relevant finds the relevant bounds in the trials of a search.
func (g Goal) Relevant(trials []Outcome) Bounds {
	byLoad := map[float64][]Outcome{}
	for _, o := range trials {
		byLoad[o.Load] = append(byLoad[o.Load], o)
	}
	var b Bounds
	for load, t := range byLoad {
		if g.Classify(t) == UpperBound && (b.Upper == nil || load < *b.Upper) {
			b.Upper = &load
		}
	}
	for load, t := range byLoad {
		below := b.Upper == nil || load < *b.Upper
		if below && g.Classify(t) == LowerBound && (b.Lower == nil || load > *b.Lower) {
			b.Lower = &load
		}
	}
	return b
}
