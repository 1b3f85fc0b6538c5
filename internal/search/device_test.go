package search_test

import (
	"context"
	"math"
	"math/rand/v2"

	"linerate/internal/search"
)

// DUT is a simulated device. Rates are frames per second.
type DUT struct {
	Name     string
	Capacity float64
	// Flicker is the relative standard deviation of the capacity from one
	// second to the next.
	Flicker float64
	// Drift is the relative change of the capacity per hour.
	Drift float64
	// Hiccup is how often per hour some frames are lost at any load.
	Hiccup float64
	// Inversion is a band of loads, relative to the capacity, in which a
	// hundredth of the frames is lost.
	Inversion [2]float64
	// Overhead is the time around a trial that no traffic runs, in seconds.
	Overhead float64
}

// Bench is a DUT on a testbed: it implements search.Measurer.
type Bench struct {
	DUT
	Now      float64 // virtual seconds since the start
	Loaded   float64 // of which traffic ran
	Count    int     // trials
	rand     *rand.Rand
	Low, Top float64 // extremes of the capacity, without flicker, while it was measured
}

// On puts a DUT on a bench.
func On(d DUT, seed uint64) *Bench {
	return &Bench{DUT: d, rand: rand.New(rand.NewPCG(seed, 0x51b)), Low: d.Capacity, Top: d.Capacity}
}

// Measure runs a trial in virtual time.
func (b *Bench) Measure(_ context.Context, t search.Trial) (search.Outcome, error) {
	lost := 0.0
	for left := t.Duration; left > 0; left-- {
		dt := min(1, left)
		lost += b.second(t.Load, dt)
		b.Now += dt
	}
	b.Loaded += t.Duration
	b.Now += b.Overhead
	b.Count++
	frames := max(1, math.Round(t.Load*t.Duration))
	return search.Outcome{Trial: t, LossRatio: min(1, math.Round(lost)/frames), LatencyP50: 20_000, LatencyP99: 50_000}, nil
}

// second returns how many frames are lost in up to a second at a load.
func (b *Bench) second(load, dt float64) float64 {
	capacity := b.Capacity * (1 + b.Drift*b.Now/3600)
	b.Low, b.Top = min(b.Low, capacity), max(b.Top, capacity)
	if b.Flicker > 0 {
		capacity *= 1 + b.Flicker*b.rand.NormFloat64()
	}
	lost := max(0, load-capacity) * dt
	if b.Hiccup > 0 && b.rand.Float64() < b.Hiccup/3600*dt {
		lost += 1 + math.Floor(20*b.rand.Float64())
	}
	if r := load / b.Capacity; r > b.Inversion[0] && r < b.Inversion[1] {
		lost += load * dt / 100
	}
	return lost
}

// HighLoss is the probability that a full-length trial of a goal at a load is
// high-loss, by simulating it.
func (d DUT) HighLoss(g search.Goal, load float64, trials int, seed uint64) float64 {
	b, high := On(d, seed), 0
	for range trials {
		b.Now = 0
		o, err := b.Measure(context.Background(), search.Trial{Load: load, Duration: g.FinalDuration})
		if err == nil && o.LossRatio > g.LossRatio {
			high++
		}
	}
	return float64(high) / float64(trials)
}

// Crossing is the load at which half of a goal's full-length trials are high-loss, found within a
// tenth of the capacity around it. It is the true value that a search's bounds should enclose.
func (d DUT) Crossing(g search.Goal, seed uint64) float64 {
	low, high := 0.9*d.Capacity, 1.1*d.Capacity
	for range 14 {
		mid := (low + high) / 2
		if d.HighLoss(g, mid, 200, seed) > 0.5 {
			high = mid
		} else {
			low = mid
		}
	}
	return (low + high) / 2
}

// Zoo lists the devices of the benchmark.
func Zoo() []DUT {
	return []DUT{
		{Name: "steady", Capacity: 1.37e6},
		{Name: "slow", Capacity: 0.11e6},
		{Name: "flickers 0.5 %", Capacity: 1.37e6, Flicker: 0.005},
		{Name: "flickers 2 %", Capacity: 1.37e6, Flicker: 0.02},
		{Name: "drifts -2 %/h", Capacity: 1.37e6, Drift: -0.02},
		{Name: "hiccup every 10 min", Capacity: 1.37e6, Hiccup: 6},
		{Name: "loss inversion", Capacity: 1.30e6, Inversion: [2]float64{0.975, 0.99}},
	}
}
