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

// What the pictures of searches show, by method.
const (
	searchNote = "Loss over offered load. Each point is one run of traffic; hollow points belong to invalid searches. The bars below show the first goal's lower and upper bound in each search; the number is the mean throughput."
	burstNote  = "Loss over offered load while each trial first searches for the throughput. Each point is one run of traffic; hollow points belong to invalid searches. The bars below show the bounds of each search; the number is the mean throughput. The table has the bursts."
	curveNote  = "Loss over offered load. Each line is a trial, from the largest load down to the second consecutive load without loss; hollow points belong to invalid trials. The bars below reach, for each trial, from the load without loss to the next load above it; the number is the mean load without loss."
)

// searchSections are what a report shows of searches, in addition to what it shows of packets.
func searchSections(s Spec, r Results) (out []Section) {
	for _, p := range s.MeasuredParts(&r) {
		if p.Search == nil {
			continue
		}
		section := Section{Title: "The search for throughput", Note: searchNote}
		switch p.Search.Method {
		case LossCurve:
			section.Title, section.Note = "Frame loss over offered load", curveNote
		case BackToBack:
			section.Title, section.Note = "The longest bursts without loss", burstNote
		}
		section.figure(true, "part "+p.Name+", method "+p.Search.Method, "", func(w float64) string { return LossOverLoad(r, p.Name, w) })
		section.add(true, searchTable(r, p.Name), burstTable(r, p.Name), curveTable(r, p.Name), latencyTable(r, p.Name))
		out = append(out, section)
	}
	return out
}

// searches are an arm's valid searches in a part.
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

// lossFloor is where a logarithmic axis of loss ends; no loss at all is drawn
// below it.
const lossFloor = 1e-5

// LossOverLoad draws every trial of the searches, what was lost over what was
// offered, and beneath for each arm where the bounds of the first goal lie.
func LossOverLoad(r Results, part string, width float64) string {
	list := r.Arms(part)
	low, high := math.Inf(1), 0.0
	for _, a := range list {
		for _, s := range append(searchesBy(r, part, a, true), searchesBy(r, part, a, false)...) {
			for _, p := range s.Points {
				low, high = min(low, p.Load), max(high, p.Load)
			}
		}
	}
	if !(high > low) {
		return ""
	}
	narrow := chart.IsNarrow(width)
	left, right, top, plot, row := 52.0, 14.0, 16.0, 230.0, 24.0
	if !narrow {
		for _, a := range list {
			left = max(left, 14+chart.TextWidth(r.ArmName(a)))
		}
		right = 120
	} else {
		row = 40
	}
	bottom := top + plot
	c := chart.New(width, bottom+46+row*float64(len(list))+8)
	x := chart.Scale{From: low / 1.15, To: high * 1.15, Left: left, Span: width - left - right, Log: true}
	y := chart.Scale{From: lossFloor / 3, To: 1.3, Left: bottom - 18, Span: -(plot - 18), Log: true}
	for _, v := range []float64{1e-4, 1e-3, 1e-2, 1e-1, 1} {
		c.Line("grid", left, y.At(v), width-right, y.At(v))
		c.Text("tick", "end", left-6, y.At(v)+4, fmt.Sprintf("%g %%", 100*v))
	}
	c.Line("lossless", left, bottom-6, width-right, bottom-6)
	c.Text("tick", "end", left-6, bottom-2, "none")
	for _, v := range x.Ticks(int(x.Span / 60)) {
		c.Line("grid", x.At(v), top, x.At(v), c.H-8)
		c.Tick(x.At(v), bottom+16, show.Tick(v))
	}
	c.Text("tick", "start", 2, top-4, "lost")
	c.Text("tick", "middle", (left+width-right)/2, bottom+32, "offered, pps")
	for i, a := range list {
		drawPoints(c, r, part, a, i, x, y, bottom-6)
		drawBounds(c, r, part, a, i, x, bottom+46+row*float64(i)+row/2, left, right, narrow)
	}
	return c.SVG(fmt.Sprintf("loss over offered load in the searches of part %s, with each variant's bounds", part))
}

// drawPoints draws an arm's trials, those of invalid searches hollow; zero is
// the row of trials without loss.
func drawPoints(c *chart.Canvas, r Results, part, arm string, i int, x, y chart.Scale, zero float64) {
	drawRuns(c, searchesBy(r, part, arm, false), r.ArmName(arm)+", invalid", fmt.Sprintf("hollow c%d", i%8), x, y, zero)
	drawRuns(c, searches(r, part, arm), r.ArmName(arm), fmt.Sprintf("trial c%d", i%8), x, y, zero)
}

func drawRuns(c *chart.Canvas, runs []*SearchRun, name, class string, x, y chart.Scale, zero float64) {
	height := func(loss float64) float64 {
		if loss > 0 {
			return y.At(max(lossFloor, loss))
		}
		return zero
	}
	for _, s := range runs {
		for i := 1; i < len(s.LossCurve); i++ {
			a, b := s.LossCurve[i-1], s.LossCurve[i]
			c.Line("thread "+strings.TrimPrefix(strings.TrimPrefix(class, "hollow "), "trial "), x.At(a.Load), height(a.LossRatio), x.At(b.Load), height(b.LossRatio))
		}
		for _, p := range s.Points {
			if !p.Counts() {
				continue
			}
			at := height(p.LossRatio)
			c.Dot(class, x.At(p.Load), at, 3.5, fmt.Sprintf("%s: %.3g s at %s, %s lost", name, p.Duration, show.Rate(p.Load), show.Loss(p.LossRatio)))
		}
	}
}

// drawBounds draws the interval between the bounds of each search of an arm,
// one over the other, and tells the mean throughput.
func drawBounds(c *chart.Canvas, r Results, part, arm string, i int, x chart.Scale, y, left, right float64, narrow bool) {
	runs := searches(r, part, arm)
	if len(runs) == 0 {
		return
	}
	words := show.Rate(meanFound(runs))
	if narrow {
		c.Text("name", "start", 2, y-6, r.ArmName(arm))
		c.Text("number", "end", c.W-2, y-6, words)
		y += 8
	} else {
		c.Text("name", "end", left-10, y+4, r.ArmName(arm))
		c.Text("number", "start", c.W-right+10, y+4, words)
	}
	class := fmt.Sprintf("c%d", i%8)
	for k, s := range runs {
		low, high, ok := between(s)
		if !ok {
			continue
		}
		// A fan of thin bars, so that equal bounds stay visible.
		at := y + 10*(float64(k)/float64(max(1, len(runs)-1))-0.5)
		c.Line("range "+class, x.At(low), at, max(x.At(high), x.At(low)+2), at)
	}
}

// between is what a search has its answer between: the bounds of its first goal,
// or the loads of a loss curve next to each other of which one lost nothing.
func between(s *SearchRun) (low, high float64, ok bool) {
	if s.LossCurve != nil {
		low = LossFree(s.LossCurve)
		for _, p := range s.LossCurve { // from above
			if p.Load <= low {
				break
			}
			high = p.Load
		}
		return low, high, low > 0 && high > 0
	}
	if len(s.Goals) == 0 || s.Goals[0].Lower == nil || s.Goals[0].Upper == nil {
		return 0, 0, false
	}
	return *s.Goals[0].Lower, *s.Goals[0].Upper, true
}

// meanFound is the mean throughput of searches, of loss curves the mean load
// without loss.
func meanFound(runs []*SearchRun) float64 {
	var free []float64
	for _, s := range runs {
		if s.LossCurve != nil {
			free = append(free, LossFree(s.LossCurve))
		}
	}
	if len(free) > 0 {
		return stats.Mean(free)
	}
	return meanGoal(runs, 0, func(g search.GoalResult) *float64 { return g.Throughput })
}

// meanGoal averages a number of a goal over the searches that have it.
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

// searchTable tells each arm's bounds for every goal, and what the search took.
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

// bounded are the searches that found both bounds and the throughput of a goal:
// means of different searches contradict each other. Where none did they are all.
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

// latencyTable tells the delay at fractions of each search's throughput, as
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

// latencies is how many fractions an arm's searches tried: one may have ended before all.
func searchLatencies(runs []*SearchRun) (most int) {
	for _, s := range runs {
		most = max(most, len(s.Latency))
	}
	return most
}

// searchMethod says in words how a search went.
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
