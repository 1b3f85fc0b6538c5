package search_test

import (
	"context"
	"math"

	"linerate/internal/search"
)

// The benchmark's limits: a Gigabit line with 64-byte frames.
const (
	lineRate  = 1.488e6
	leastLoad = 14_880
)

// Row compares two methods on one device, as means over the runs.
type Row struct {
	DUT    string `json:"dut"`
	Method string `json:"method"`
	// Answer is the mean throughput, in frames per second; Truth the load at
	// which half the full-length trials lose too much.
	Answer float64 `json:"answer_pps"`
	Truth  float64 `json:"truth_pps"`
	Trials float64 `json:"trials"`
	Time   float64 `json:"trial_seconds"` // of traffic
	// Ratio is Time over that of RFC 2544's binary search.
	Ratio float64 `json:"time_over_rfc2544"`
	// Regular is the share of runs that ended with both bounds within the
	// width; Holds that of runs whose bounds, or their drifting truth, do
	// enclose a crossing.
	Regular float64 `json:"regular"`
	Holds   float64 `json:"bounds_hold"`
	// Same is the share of runs whose bounds overlap with those of a run of
	// RFC 2544's search on the same device at another time: the same answer
	// within its width. For that search itself it is how well it repeats.
	// Null where another goal is sought.
	Same *float64 `json:"same_answer"`
}

// run is the outcome of one search.
type run struct {
	answer, lower, upper, time, now float64
	trials                          int
	regular                         bool
	low, top                        float64
}

// Table runs every method on every device. The first method of each device is
// RFC 2544's binary search.
func Table(runs int, seed uint64) ([]Row, error) {
	var rows []Row
	for _, d := range Zoo() {
		var reference, again []run
		for k := range runs {
			r, err := one(d, "rfc2544", seed+uint64(k)+1_000_000)
			if err != nil {
				return nil, err
			}
			again = append(again, r)
		}
		for _, name := range []string{"rfc2544", "mlr rfc2544", "mlr rfc2544+tst009", "mlr ndr+pdr"} {
			var done []run
			for k := range runs {
				r, err := one(d, name, seed+uint64(k))
				if err != nil {
					return nil, err
				}
				done = append(done, r)
			}
			if reference == nil {
				reference = done
			}
			rows = append(rows, summarise(d, name, done, reference, again, seed))
		}
	}
	return rows, nil
}

// goals of a method; the table shows the answer of the first.
func goals(method string) []search.Goal {
	named := map[string][]string{
		"mlr rfc2544": {"rfc2544"}, "mlr rfc2544+tst009": {"rfc2544", "tst009"}, "mlr ndr+pdr": {"ndr", "pdr"},
	}[method]
	var out []search.Goal
	for _, n := range named {
		if g, err := search.Preset(n); err == nil {
			out = append(out, g)
		}
	}
	return out
}

func one(d DUT, method string, seed uint64) (run, error) {
	b := On(d, seed)
	var r run
	if method == "rfc2544" {
		p := search.NewBinary(search.BinaryConfig{Min: leastLoad, Max: lineRate, Duration: 60, Resolution: 0.005})
		if err := search.Run(context.Background(), p, b); err != nil {
			return r, err
		}
		lower, upper := p.Result()
		r = bounded(lower, upper, lower)
		r.regular = lower != nil && upper != nil
	} else {
		p := search.NewMLR(search.Config{Min: leastLoad, Max: lineRate, Goals: goals(method)})
		if err := search.Run(context.Background(), p, b); err != nil {
			return r, err
		}
		results := p.Results()
		r = bounded(results[0].Lower, results[0].Upper, results[0].Throughput)
		r.regular = results[0].Regular
	}
	r.time, r.trials, r.now, r.low, r.top = b.Loaded, b.Count, b.Now, b.Low, b.Top
	return r, nil
}

func bounded(lower, upper, answer *float64) run {
	r := run{answer: math.NaN(), lower: 0, upper: math.Inf(1)}
	if lower != nil {
		r.lower = *lower
	}
	if upper != nil {
		r.upper = *upper
	}
	if answer != nil {
		r.answer = *answer
	}
	return r
}

const width = 0.005 // of all goals used here

func summarise(d DUT, method string, runs, reference, again []run, seed uint64) Row {
	row := Row{DUT: d.Name, Method: method}
	g, _ := search.Preset("rfc2544")
	if gs := goals(method); len(gs) > 0 {
		g = gs[0]
	}
	row.Truth = d.Crossing(g, seed)
	n, refTime, same := float64(len(runs)), 0.0, 0.0
	for i, r := range runs {
		row.Answer += r.answer / n
		row.Trials += float64(r.trials) / n
		row.Time += r.time / n
		refTime += reference[i].time / n
		row.Regular += share(r.regular) / n
		row.Holds += share(holds(d, g, r, row.Truth)) / n
		same += share(r.lower <= again[i].upper && again[i].lower <= r.upper) / n
	}
	if g.Name == "rfc2544" {
		row.Same = &same
	}
	row.Ratio = row.Time / refTime
	return row
}

func share(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// holds reports whether the bounds enclose the truth, as far as it moved, or
// the edge of a band of inverted loss. Where chance decides (flicker), one
// width more on either side still encloses it.
func holds(d DUT, g search.Goal, r run, truth float64) bool {
	slack := 0.0
	if d.Flicker > 0 || d.Hiccup > 0 {
		slack = width * truth
	}
	low, top := truth+min(0, r.low-d.Capacity)-slack, truth+max(0, r.top-d.Capacity)+slack
	if r.lower <= top && r.upper >= low {
		return true
	}
	edge := d.Inversion[0] * d.Capacity
	return edge > 0 && r.lower <= edge && r.upper >= edge && g.LossRatio < 0.01
}
