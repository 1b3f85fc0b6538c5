package study

import (
	"fmt"
	"math"
	"strings"

	"linerate/internal/chart"
	"linerate/internal/document"
	"linerate/internal/search"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// Captions of the charts of searches, by method.
const (
	searchNote = "Loss over offered load. Each point is one run of traffic; hollow points belong to invalid searches. The table has the bounds."
	burstNote  = "Loss over offered load while each trial first searches for the throughput. Each point is one run of traffic; hollow points belong to invalid searches. The tables have the bounds and the bursts."
	curveNote  = "Loss over offered load. Each line is a trial, from the largest load down to the second consecutive load without loss; hollow points belong to invalid trials."
)

// searchSections returns a report's sections on searches, beyond those on packets.
func searchSections(s Spec, r Results) (out []document.Block) {
	for _, p := range s.MeasuredParts(&r) {
		if p.Search == nil {
			continue
		}
		title, note := "The search for throughput", searchNote
		switch p.Search.Method {
		case LossCurve:
			title, note = "Frame loss over offered load", curveNote
		case BackToBack:
			title, note = "The longest bursts without loss", burstNote
		}
		drawn := figure("part "+p.Name+", method "+p.Search.Method, "", LossOverLoad(r, p.Name))
		out = append(out, section(title, note, append(drawn, searchTable(r, p.Name), burstTable(r, p.Name), curveTable(r, p.Name), latencyTable(r, p.Name))...)...)
	}
	return out
}

// searches returns an arm's valid searches in a part.
func searches(r Results, part, arm string) []*SearchRun { return searchesBy(r, part, arm, true) }

func searchesBy(r Results, part, arm string, valid bool) []*SearchRun {
	var out []*SearchRun
	for _, t := range r.Trials {
		if t.Part == part && t.Variant == arm && t.Valid == valid && t.Saw().Search != nil {
			out = append(out, t.Saw().Search)
		}
	}
	return out
}

// lossFloor is the end of a logarithmic axis of loss: zero loss is drawn there.
const lossFloor = 1e-5

// LossOverLoad draws every trial of the searches: loss over offered load.
func LossOverLoad(r Results, part string) string {
	a := chart.Axes{X: show.Tick, Across: "offered, pps", Up: "lost", LogX: true, LogY: true, Height: 230, Y: func(v float64) string {
		if v <= lossFloor*(1+1e-9) {
			return "none"
		}
		return show.Loss(v)
	}}
	var all []chart.Series
	for i, arm := range r.Arms(part) {
		name := r.ArmName(arm)
		for _, s := range searchesBy(r, part, arm, false) {
			all = append(all, lossSeries(s, "", name+", invalid", fmt.Sprintf("hollow c%d", i%8), i))
		}
		for k, s := range searches(r, part, arm) {
			named := ""
			if k == 0 {
				named = name
			}
			all = append(all, lossSeries(s, named, name, fmt.Sprintf("trial c%d", i%8), i))
		}
	}
	return chart.Lines(all, a, fmt.Sprintf("loss over offered load in the searches of part %s", part))
}

// lossSeries returns the points of a search; those of a loss curve are joined by a line.
func lossSeries(s *SearchRun, name, arm, dots string, class int) chart.Series {
	line := chart.Series{Name: name, Class: class, Dots: dots, Line: s.LossCurve != nil}
	for _, p := range s.Points {
		if !p.Counts() {
			continue
		}
		loss := p.LossRatio
		if loss > 0 {
			loss = max(2*lossFloor, loss)
		}
		line.Points = append(line.Points, [2]float64{p.Load, max(lossFloor, loss)})
		line.Words = append(line.Words, fmt.Sprintf("%s: %.3g s at %s, %s lost", arm, p.Duration, show.Rate(p.Load), show.Loss(p.LossRatio)))
	}
	return line
}

// meanGoal averages a number of a goal over the searches that have one.
func meanGoal(runs []*SearchRun, goal int, of func(search.GoalResult) *float64) float64 {
	var x []float64
	for _, s := range runs {
		if goal < len(s.Goals) {
			if v := of(s.Goals[goal]); v != nil {
				x = append(x, *v)
			}
		}
	}
	if len(x) == 0 {
		return math.NaN()
	}
	return stats.Mean(x)
}

// searchTable shows each arm's bounds for every goal, and the cost of its searches.
func searchTable(r Results, part string) document.Table {
	t := document.Table{Title: "part " + part, Header: []string{"variant", "goal", "lower bound", "upper bound", "throughput", "searches", "trials", "trial time"}}
	for _, arm := range r.Arms(part) {
		runs := searches(r, part, arm)
		if len(runs) == 0 {
			continue
		}
		for k, g := range runs[0].Goals {
			row := []string{r.ArmName(arm), g.Goal.Name}
			for _, of := range []func(search.GoalResult) *float64{
				func(g search.GoalResult) *float64 { return g.Lower },
				func(g search.GoalResult) *float64 { return g.Upper },
				func(g search.GoalResult) *float64 { return g.Throughput },
			} {
				row = append(row, show.Rate(meanGoal(bounded(runs, k), k, of)))
			}
			if k > 0 {
				row[0] = ""
				t.Rows = append(t.Rows, append(row, "", "", ""))
				continue
			}
			trials, took := 0.0, 0.0
			for _, s := range runs {
				trials += float64(len(s.Points)) / float64(len(runs))
				took += s.TrialSeconds / float64(len(runs))
			}
			t.Rows = append(t.Rows, append(row, fmt.Sprint(len(runs)), show.Grouped(trials, 0), show.Nanos(1e9*took)))
		}
	}
	t.Note = "means over the searches that found both bounds and the throughput of a goal; with MLRsearch these are Relevant Bounds and Conditional Throughput."
	return t
}

// bounded returns the searches that found both bounds and the throughput of a goal, because means
// over different searches would contradict each other. If there are none, it returns all searches.
func bounded(runs []*SearchRun, goal int) []*SearchRun {
	var out []*SearchRun
	for _, s := range runs {
		if goal >= len(s.Goals) {
			continue
		}
		if g := s.Goals[goal]; g.Lower != nil && g.Upper != nil && g.Throughput != nil {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return runs
	}
	return out
}

// latencyTable shows the delay at fractions of each search's throughput, as
// means over the searches.
func latencyTable(r Results, part string) document.Table {
	t := document.Table{Header: []string{"variant", "share of throughput", "offered", "latency, median", "99th percentile", "lost"},
		Note: "one-way delay below the throughput found, means over the searches."}
	for _, arm := range r.Arms(part) {
		runs := searches(r, part, arm)
		for k := range searchLatencies(runs) {
			var load, p50, p99, loss, share, n float64
			for _, s := range runs {
				if k >= len(s.Latency) || len(s.Goals) == 0 || s.Goals[0].Throughput == nil {
					continue
				}
				l := s.Latency[k]
				load, p50, p99, loss, share, n = load+l.Load, p50+l.P50, p99+l.P99, loss+l.Loss, share + l.Load / *s.Goals[0].Throughput, n+1
			}
			if n == 0 {
				continue
			}
			name := r.ArmName(arm)
			if k > 0 {
				name = ""
			}
			t.Rows = append(t.Rows, []string{name, show.Percent(100 * share / n), show.Rate(load / n), show.Nanos(p50 / n), show.Nanos(p99 / n), show.Loss(loss / n)})
		}
	}
	return t
}

// searchLatencies returns the largest number of fractions that any of the searches tried.
func searchLatencies(runs []*SearchRun) (most int) {
	for _, s := range runs {
		most = max(most, len(s.Latency))
	}
	return most
}

func searchMethod(p Part) string {
	s := p.Search
	switch s.Method {
	case LossCurve:
		return curveMethod(p)
	case BackToBack:
		return burstMethod(p)
	}
	head := fmt.Sprintf("Part %s (mode overload, %d blocks): each trial sets the variant up once and searches for its throughput between %s and the generator's maximum, in trials of up to %g s, until the bounds are %g %% apart. Frames that the generator did not send count as lost. ",
		p.Name, p.Blocks, s.Min, p.Seconds, s.WidthPercent)
	if s.Method == RFC2544 {
		return head + "The method is RFC 2544's binary search: the throughput is the highest load tried at which no frame was lost. RFC 2544 asks for trials of 60 s; these are shorter."
	}
	return head + fmt.Sprintf("The method is MLRsearch with the goals %s; %d full-length trials decide a load, and during half of that time the loss may exceed the goal. "+
		"The number compared is the conditional throughput of the first goal at its relevant lower bound.", strings.Join(s.Goals, ", "), s.TrialsPerLoad)
}

// burstTable shows each arm's longest bursts (RFC 9004 §6), as means over its
// searches.
func burstTable(r Results, part string) document.Table {
	t := document.Table{Title: "part " + part, Header: []string{"variant", "longest burst", "least", "most", "SD", "implied buffer time", "corrected buffer time", "trials of the block"},
		Note: "longest burst at the generator's full rate without loss, means over the blocks; least and most over all; SD within a block; the corrected time leaves out what was forwarded meanwhile."}
	for _, arm := range r.Arms(part) {
		var all []search.BackToBackResult
		trials := 0.0
		for _, s := range searches(r, part, arm) {
			if s.BackToBack != nil {
				all = append(all, *s.BackToBack)
				trials += float64(len(s.Points))
			}
		}
		if len(all) == 0 {
			continue
		}
		n := float64(len(all))
		least, most := math.Inf(1), 0.0
		var longest, sd, implied, corrected float64
		for _, b := range all {
			least, most = min(least, b.Min), max(most, b.Max)
			longest, sd = longest+b.Mean/n, sd+b.SD.Float()/n
			implied, corrected = implied+b.ImpliedTime/n, corrected+b.CorrectedTime/n
		}
		frames := func(v float64) string { return show.Grouped(v, 0) }
		t.Rows = append(t.Rows, []string{r.ArmName(arm), frames(longest) + " frames", frames(least), frames(most), show.Grouped(sd, 1),
			show.Nanos(1e9 * implied), show.Nanos(1e9 * corrected), frames(trials / n)})
	}
	return t
}

// curveTable shows each arm's loss at each load, as means over its curves.
// Loads are matched as shares of the largest.
func curveTable(r Results, part string) document.Table {
	t := document.Table{Title: "part " + part, Header: []string{"share of the largest load"},
		Note: "frame loss rate (RFC 1242 §3.6), means over the curves that reach down to the load; a curve ends at the second load in a row without loss."}
	var shares []string
	loss := map[string]map[string][]float64{} // arm, share
	for _, arm := range r.Arms(part) {
		runs := searches(r, part, arm)
		if len(runs) == 0 || runs[0].LossCurve == nil {
			continue
		}
		t.Header = append(t.Header, r.ArmName(arm))
		loss[r.ArmName(arm)] = map[string][]float64{}
		for _, s := range runs {
			for i, p := range s.LossCurve {
				share := fmt.Sprintf("%.3g %%", 100*p.Load/s.LossCurve[0].Load)
				if i >= len(shares) {
					shares = append(shares, share)
				}
				loss[r.ArmName(arm)][share] = append(loss[r.ArmName(arm)][share], p.LossRatio)
			}
		}
	}
	for _, share := range shares {
		row := []string{share}
		for _, arm := range t.Header[1:] {
			cell := ""
			if v := loss[arm][share]; len(v) > 0 {
				cell = show.Loss(stats.Mean(v))
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func burstMethod(p Part) string {
	s := p.Search
	return fmt.Sprintf("Part %s (mode overload, %d blocks): each trial sets the variant up once, finds its throughput by RFC 2544's search, and then %d times the longest burst at the generator's full rate that loses nothing, to %d frames (RFC 9004); "+
		"a burst that loses some is tried %d times more before it counts. The mean of the %d is the number compared.", p.Name, p.Blocks, s.Repeats, s.StepFrames, s.Verify, s.Repeats)
}

// curveMethod describes how a loss curve was measured.
func curveMethod(p Part) string {
	return fmt.Sprintf("Part %s (mode overload, %d blocks): each trial sets the variant up once and offers what the generator can send, then less by steps of %g %% of it, %g s each, until two loads in a row lose nothing (RFC 2544 §26.3). "+
		"The upper of these two is the number compared: it is known to a step, and no throughput.", p.Name, p.Blocks, p.Search.StepPercent, p.Seconds)
}
