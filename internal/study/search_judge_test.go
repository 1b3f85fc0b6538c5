package study

import (
	"math"
	"slices"
	"strings"
	"testing"

	"linerate/internal/document"
	"linerate/internal/hint"
	"linerate/internal/search"
	"linerate/internal/stats"
)

func num(v float64) *float64 { return &v }

// goal returns a search's result for a goal between two bounds; 0 means no bound.
func goal(name string, ratio, lower, upper float64, regular bool, why string) search.GoalResult {
	g := search.GoalResult{Goal: search.Goal{Name: name, LossRatio: ratio}, Regular: regular, Reason: why}
	if lower > 0 {
		g.Lower, g.Throughput = num(lower), num(lower)
	}
	if upper > 0 {
		g.Upper = num(upper)
	}
	return g
}

func at(load, loss float64) search.Outcome {
	return search.Outcome{Trial: search.Trial{Load: load, Duration: 1}, LossRatio: loss}
}

func part(t *testing.T, keys string) Part {
	t.Helper()
	s, err := Parse("x.yaml", []byte("name: x\nquestion: q\nvariants: [{name: a}, {name: b}]\nparts: [{name: p, mode: overload, seconds: 2, warmup: 0.5, search: {"+keys+"}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s.Parts[0]
}

// TestJudgeOfSearches: a search's result becomes the metric named after its method, and every way
// of not having a result is a reason of its own.
func TestJudgeOfSearches(t *testing.T) {
	curve := func(loss ...float64) (out []search.Outcome) {
		for i, l := range loss {
			out = append(out, at(float64(10-i)*1e5, l))
		}
		return out
	}
	points := func(of ...SearchPoint) []SearchPoint { return of }
	lost := func(load, loss, unsent float64) SearchPoint {
		return SearchPoint{Outcome: at(load, loss), UnsentRatio: unsent}
	}
	bothered := func(n, of int) (out []SearchPoint) {
		for i := range of {
			p := SearchPoint{Outcome: at(1e5, 0)}
			if i < n {
				p.Disturbed = "contention"
			}
			out = append(out, p, SearchPoint{Outcome: at(1e5, 0), Warmup: true, Disturbed: "x"}, SearchPoint{Outcome: at(1e5, 0), Repeated: true, Disturbed: "x"})
		}
		return out
	}
	for name, c := range map[string]struct {
		keys   string
		run    *SearchRun
		metric string // of the answer
		value  float64
		want   []string // reasons
	}{
		"none":         {"method: mlr", nil, "", 0, []string{"search: there was none"}},
		"mlr":          {"method: mlr", &SearchRun{Method: MLR, Goals: []search.GoalResult{goal("pdr", 0.005, 9e5, 9.1e5, true, ""), goal("ndr", 0, 5e5, 0, false, "no upper bound")}}, ConditionalThroughput, 9e5, nil},
		"rfc 2544":     {"method: rfc2544", &SearchRun{Method: RFC2544, Goals: []search.GoalResult{goal(RFC2544, 0, 8e5, 8.1e5, true, "")}}, Throughput, 8e5, nil},
		"no bound":     {"method: mlr", &SearchRun{Method: MLR, Goals: []search.GoalResult{goal("pdr", 0.005, 0, 1e6, false, "even the least load is too much")}}, "", 0, []string{"search: even the least load is too much"}},
		"ended":        {"method: mlr", &SearchRun{Method: MLR, Ended: "60 s of trials are over", Goals: []search.GoalResult{goal("pdr", 0.005, 4e5, 9e5, false, "")}}, ConditionalThroughput, 4e5, []string{"search: 60 s of trials are over"}},
		"ended, wide":  {"method: mlr", &SearchRun{Method: MLR, Ended: "over", Goals: []search.GoalResult{goal("pdr", 0.005, 4e5, 9e5, false, "the bounds are 56 % apart")}}, ConditionalThroughput, 4e5, []string{"search: over; the bounds are 56 % apart"}},
		"a curve":      {"method: loss-curve", &SearchRun{Method: LossCurve, LossCurve: curve(0.2, 0.1, 0, 0)}, LossFreeLoad, 8e5, nil},
		"a lucky dip":  {"method: loss-curve", &SearchRun{Method: LossCurve, LossCurve: curve(0.2, 0, 0.1, 0, 0)}, LossFreeLoad, 7e5, nil},
		"always loss":  {"method: loss-curve", &SearchRun{Method: LossCurve, LossCurve: curve(0.2, 0.1, 0), Ended: "over"}, "", 0, []string{"search: no two loads in a row were without loss: over"}},
		"no loss":      {"method: loss-curve", &SearchRun{Method: LossCurve, LossCurve: curve(0, 0)}, LossFreeLoad, 1e6, []string{"generator: the largest load lost nothing"}},
		"no point":     {"method: loss-curve", &SearchRun{Method: LossCurve, LossCurve: []search.Outcome{}}, "", 0, []string{"search: there was none"}},
		"bursts":       {"method: back-to-back", &SearchRun{Method: BackToBack, Goals: []search.GoalResult{goal(RFC2544, 0, 8e5, 8.1e5, true, "")}, BackToBack: &search.BackToBackResult{Mean: 120, Searches: 5, CorrectedTime: 0.002}}, BackToBackFrames, 120, nil},
		"no burst":     {"method: back-to-back", &SearchRun{Method: BackToBack, Ended: "over", Goals: []search.GoalResult{goal(RFC2544, 0, 8e5, 8.1e5, true, "")}, BackToBack: &search.BackToBackResult{Mean: math.NaN()}}, "", 0, []string{"search: no burst was searched to its end: over"}},
		"endless":      {"method: back-to-back", &SearchRun{Method: BackToBack, Goals: []search.GoalResult{goal(RFC2544, 0, 8e5, 8.1e5, true, "")}, BackToBack: &search.BackToBackResult{Mean: 9e4, Searches: 5, AtLimit: true}}, BackToBackFrames, 9e4, []string{"search: a burst of the longest length lost nothing"}},
		"a few bursts": {"method: back-to-back", &SearchRun{Method: BackToBack, Ended: "over", Goals: []search.GoalResult{goal(RFC2544, 0, 8e5, 8.1e5, true, "")}, BackToBack: &search.BackToBackResult{Mean: 120, Searches: 2}}, BackToBackFrames, 120, []string{"search: over after 2 searches for the longest burst"}},
		// The upper bound is the generator's fault if most of its high-loss trials would not have been
		// high-loss had all frames been sent.
		"generator's": {"method: mlr", &SearchRun{Method: MLR, Goals: []search.GoalResult{goal("pdr", 0.005, 9e5, 9.1e5, true, "")}, Points: points(lost(9.1e5, 0.02, 0.016), lost(9.1e5, 0.02, 0.019), lost(9.1e5, 0.3, 0))},
			ConditionalThroughput, 9e5, []string{"generator: at the upper bound of 910000 pps frames were unsent"}},
		"router's":       {"method: mlr", &SearchRun{Method: MLR, Goals: []search.GoalResult{goal("pdr", 0.005, 9e5, 9.1e5, true, "")}, Points: points(lost(9.1e5, 0.02, 0.016), lost(9.1e5, 0.3, 0), lost(9e5, 0.02, 0.02), lost(9.1e5, 0.004, 0.004))}, ConditionalThroughput, 9e5, nil},
		"warm-up's":      {"method: mlr", &SearchRun{Method: MLR, Goals: []search.GoalResult{goal("pdr", 0.005, 9e5, 9.1e5, true, "")}, Points: points(SearchPoint{Outcome: at(9.1e5, 0.02), UnsentRatio: 0.02, Warmup: true}, SearchPoint{Outcome: at(9.1e5, 0.02), UnsentRatio: 0.02, Repeated: true})}, ConditionalThroughput, 9e5, nil},
		"left alone":     {"method: mlr", &SearchRun{Method: MLR, Goals: []search.GoalResult{goal("pdr", 0.005, 9e5, 9.1e5, true, "")}, Points: bothered(2, 8)}, ConditionalThroughput, 9e5, nil},
		"not left alone": {"method: mlr", &SearchRun{Method: MLR, Goals: []search.GoalResult{goal("pdr", 0.005, 9e5, 9.1e5, true, "")}, Points: bothered(3, 8)}, ConditionalThroughput, 9e5, []string{"contention: 3 of 8 trials of the search were disturbed"}},
		"a curve beset":  {"method: loss-curve", &SearchRun{Method: LossCurve, LossCurve: curve(0.2, 0, 0), Points: bothered(1, 3)}, LossFreeLoad, 9e5, []string{"contention: 1 of 3 trials"}},
		"one fault":      {"method: loss-curve", &SearchRun{Method: LossCurve, LossCurve: curve(0, 0), Points: bothered(3, 3)}, LossFreeLoad, 1e6, []string{"generator: the largest load lost nothing"}},
	} {
		p := part(t, c.keys)
		var o Observation
		if c.run != nil {
			c.run.TrialSeconds = 12
			o.Search = c.run
		}
		m, reasons := Judge(p, DefaultGates(), o)
		got := make([]string, len(reasons))
		for i, r := range reasons {
			got[i] = r.String()
		}
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: reasons %q, want %q", name, got, c.want)
		}
		for _, metric := range []string{ConditionalThroughput, Throughput, LossFreeLoad, BackToBackFrames} {
			if v, has := m[metric]; has != (metric == c.metric) || has && v != c.value {
				t.Errorf("%s: %s is %g, %t; want %s of %g", name, metric, v, has, c.metric, c.value)
			}
		}
		if c.run != nil && (m[SearchTime] != 12 || m[SearchTrials] != float64(len(c.run.Points))) {
			t.Errorf("%s: %v", name, m)
		}
	}
	if _, has := measure(part(t, "method: back-to-back"), Observation{Search: &SearchRun{BackToBack: &search.BackToBackResult{Mean: 7, CorrectedTime: 0.5}}}, nil)[BufferSeconds]; !has {
		t.Error("back-to-back bursts without the metric of buffer time")
	}
}

// TestProcedures: a part's search tries loads between its minimum and what the generator can send,
// and reports its result in its method's terms.
func TestProcedures(t *testing.T) {
	run := func(keys string, limit float64, device func(search.Trial) float64) (search.Procedure, search.Found, []search.Trial) {
		t.Helper()
		p, err := NewProcedure(part(t, keys), limit, 2e6)
		if err != nil {
			t.Fatal(err)
		}
		var asked []search.Trial
		for range 400 {
			trial, more := p.Next()
			if !more {
				return p, p.Found(), asked
			}
			asked = append(asked, trial)
			p.Add(search.Outcome{Trial: trial, LossRatio: device(trial)})
		}
		t.Fatalf("%s does not end", keys)
		return p, search.Found{}, nil
	}
	// A router that forwards 600 kpps and buffers 5,000 frames.
	router := func(trial search.Trial) float64 {
		if trial.Frames > 0 {
			return max(0, (float64(trial.Frames)-5000)/float64(trial.Frames))
		}
		return max(0, 1-6e5/trial.Load)
	}
	_, r, asked := run("method: rfc2544, width_percent: 1, min: 10kpps", 1e6, router)
	if g := r.Goals[0]; !g.Regular || *g.Lower > 6e5 || *g.Upper < 6e5 || *g.Upper > 6e5*1.011 || *g.Throughput != *g.Lower {
		t.Errorf("RFC 2544: %+v", g)
	}
	for _, trial := range asked {
		if trial.Load > 1e6 || trial.Load < 1e4 || trial.Duration != 2 {
			t.Errorf("asked for %+v", trial)
		}
	}
	if _, r, _ = run("method: rfc2544", 5e5, router); r.Goals[0].Regular || r.Goals[0].Upper != nil || !strings.Contains(r.Goals[0].Reason, "the largest load loses nothing") {
		t.Errorf("a router that is faster than the generator: %+v", r.Goals[0])
	}
	if _, r, _ = run("method: rfc2544, min: 700kpps", 1e6, router); r.Goals[0].Regular || r.Goals[0].Lower != nil || r.Goals[0].Throughput != nil || !strings.Contains(r.Goals[0].Reason, "even the least load") {
		t.Errorf("a router that is slower than the minimum load: %+v", r.Goals[0])
	}
	_, r, _ = run("method: mlr, width_percent: 1, trials_per_load: 1", 1e6, router)
	if len(r.Goals) != 2 || r.Goals[0].Goal.Name != "pdr" || r.Goals[1].Goal.Name != "ndr" || !r.Goals[0].Regular || *r.Goals[1].Lower > 6e5 || *r.Goals[0].Upper < 6e5 || r.Goals[0].Goal.Width != 0.01 || r.Goals[0].Goal.FinalDuration != 2 || r.Goals[0].Goal.DurationSum != 2 {
		t.Errorf("MLRsearch: %+v", r.Goals)
	}
	_, r, asked = run("method: loss-curve, step_percent: 10", 1e6, router)
	if free := LossFree(r.LossCurve); !(math.Abs(free-6e5) <= 1) || len(asked) != 6 || r.Goals != nil || asked[0].Load != 1e6 {
		t.Errorf("the curve is loss-free up to %g after %d loads: %+v", free, len(asked), r.LossCurve)
	}
	_, r, _ = run("method: back-to-back, repeats: 3, step_frames: 16", 1e6, router)
	if b := r.BackToBack; b == nil || b.Searches != 3 || !(math.Abs(b.Mean-5000) <= 17) || len(r.Goals) != 1 || *r.Goals[0].Throughput > 6e5 ||
		!(math.Abs(b.CorrectedTime/b.ImpliedTime-(1-*r.Goals[0].Throughput/2e6)) <= 0.01) { // frames forwarded meanwhile did not need the buffer
		t.Errorf("bursts: %+v, %+v", r.BackToBack, r.Goals)
	}
	p, err := NewProcedure(part(t, "method: mlr"), 1e6, 2e6)
	if err != nil {
		t.Fatal(err)
	}
	p.(*search.MLR).FirstGoal() // only MLRsearch has several goals
	if _, err := NewProcedure(part(t, "method: rfc2544, min: 900kpps"), 1e5, 2e6); err == nil {
		t.Error("a search whose minimum of 900 kpps exceeds its maximum of 100 is accepted")
	}
}

// TestLossRatiosOfGoals: contention disturbs a search above the loss that its goals allow, RFC 2544 at any loss.
func TestLossRatiosOfGoals(t *testing.T) {
	for keys, want := range map[string][]float64{"method: mlr": {0.005, 0}, "method: mlr, goals: [pdr]": {0.005}, "method: rfc2544": {0}, "method: back-to-back": {0}} {
		if got := part(t, keys).Search.LossRatios(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", keys, got, want)
		}
	}
	if got := (&Search{Method: RFC2544}).Disturbance(DefaultGates(), 0.1, 0, 0.12); got != "contention: other programs took 12 % of the measuring CPU" {
		t.Errorf("%q", got)
	}
	if got := (&Search{Method: RFC2544}).Disturbance(DefaultGates(), 1, 1, 0); got != "unsent: the generator did not send 100 % of the frames due" {
		t.Errorf("%q", got)
	}
}

// TestSearchesThatAreWrong: each mistake is reported by its key, with a hint.
func TestSearchesThatAreWrong(t *testing.T) {
	for _, c := range []struct{ part, want, hint string }{
		{"mode: cost, search: {method: mlr}", "a search chooses its loads in mode overload", "no rate"},
		{"mode: overload, rate: 1Mpps, search: {method: mlr}", "a search chooses its loads in mode overload", "no rate"},
		{"mode: overload, search: {method: golden}", `method: unknown "golden"`, ""},
		{"mode: overload, search: {goals: [pdrr]}", "pdrr", "pdr"},
		{"mode: overload, search: {method: rfc2544, goals: [pdr]}", "goals are MLRsearch's", "remove goals"},
		{"mode: overload, search: {min: 1Gb/s}", `min: "1Gb/s" is not a rate in frames`, "100kpps"},
		{"mode: overload, search: {min: 0pps}", `min: "0pps" is not a rate in frames`, "100kpps"},
		{"mode: overload, search: {max: much}", `max: "much" is not a rate in frames`, "100kpps"},
		{"mode: overload, search: {latency_at: [0.5, 1.01]}", "latency_at: 1.01 is not within 0 and 1", ""},
		{"mode: overload, search: {latency_at: [0]}", "latency_at: 0 is not within 0 and 1", ""},
		{"mode: overload, search: {limit_seconds: 0}", "limit_seconds: 0 is not within 0 and", ""},
		{"mode: overload, search: {trials_per_load: 0}", "trials_per_load: 0 is not within 1 and 1000", ""},
		{"mode: overload, search: {width_percent: 0.04}", "width_percent: 0.04 is not within 0.05 and 50", ""},
		{"mode: overload, search: {repeats: 3}", "belong to method back-to-back", "back-to-back"},
		{"mode: overload, search: {method: rfc2544, longest_seconds: 3}", "belong to method back-to-back", ""},
		{"mode: overload, search: {step_percent: 5}", "step_percent belongs to method loss-curve", "loss-curve"},
		{"mode: overload, search: {method: loss-curve, step_percent: 10.1}", "step_percent: 10.1 is not within 0.5 and 10", ""},
		{"mode: overload, search: {method: loss-curve, step_percent: 0.4}", "step_percent: 0.4 is not within 0.5 and 10", ""},
		{"mode: overload, search: {method: loss-curve, latency_at: [0.5]}", "method loss-curve measures no latency", "remove"},
		{"mode: overload, search: {method: back-to-back, latency_at: [0.5]}", "method back-to-back measures no latency", "remove"},
		{"mode: overload, search: {method: back-to-back, longest_seconds: 31}", "longest_seconds: 31 is not within 0 and 30", ""},
		{"mode: overload, search: {method: back-to-back, repeats: 1001}", "repeats: 1001 is not within 1 and 1000", ""},
		{"mode: overload, search: {method: back-to-back, verify: 101}", "verify: 101 is not within 0 and 100", ""},
		{"mode: overload, search: {method: back-to-back, step_frames: 1000001}", "step_frames: 1000001 is not within", ""},
	} {
		_, err := Parse("s.yaml", []byte("name: x\nquestion: q\nvariants: [{name: a}, {name: b}]\nparts: [{"+c.part+"}]\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(hint.Of(err), c.hint) || !strings.HasPrefix(err.Error(), "s.yaml:4: ") {
			t.Errorf("%s: %v, hint %q; want %q, %q", c.part, err, hint.Of(err), c.want, c.hint)
		}
	}
}

// results returns the valid trials of two arms with the given searches.
func results(runs map[string][]*SearchRun) Results {
	r := Results{Control: "a", Verdicts: []Verdict{{Part: "p", Variant: "b"}}}
	for _, arm := range []string{"a", "b", AA} {
		for _, run := range runs[arm] {
			r.Trials = append(r.Trials, Trial{Part: "p", Variant: arm, Valid: run.Ended == "", Observed: &Observation{Search: run}})
		}
	}
	return r
}

// TestPagesOfSearches: tables show means over the searches that have a value, in any order of the
// searches, and plots show the trials.
func TestPagesOfSearches(t *testing.T) {
	mlr := func(lower, upper float64, latencies ...search.LatencyAt) *SearchRun {
		return &SearchRun{Method: MLR, TrialSeconds: 4, Goals: []search.GoalResult{goal("pdr", 0.005, lower, upper, true, ""), goal("ndr", 0, lower/2, upper/2, true, "")}, Latency: latencies,
			Points: []SearchPoint{{Outcome: at(lower, 0)}, {Outcome: at(upper, 0.2)}, {Outcome: at(upper*2, 0.5), Warmup: true}}}
	}
	half, full := search.LatencyAt{Load: 3e5, P50: 1e5, P99: 3e5}, search.LatencyAt{Load: 6e5, P50: 2e5, P99: 9e5, Loss: 0.01}
	failed := mlr(1e5, 9e5)
	failed.Ended = "over"
	r := results(map[string][]*SearchRun{"a": {mlr(6e5, 6.2e5, half), mlr(6e5, 6.2e5, half, full)}, "b": {mlr(4e5, 5e5), failed}, AA: {mlr(6e5, 6.1e5)}})
	table := searchTable(r, "p")
	want := [][]string{
		{"a", "pdr", "600 kpps", "620 kpps", "600 kpps", "2", "3", "4.00 s"}, {"", "ndr", "300 kpps", "310 kpps", "300 kpps", "", "", ""},
		{"a again (A/A)", "pdr", "600 kpps", "610 kpps", "600 kpps", "1", "3", "4.00 s"}, {"", "ndr", "300 kpps", "305 kpps", "300 kpps", "", "", ""},
		{"b", "pdr", "400 kpps", "500 kpps", "400 kpps", "1", "3", "4.00 s"}, {"", "ndr", "200 kpps", "250 kpps", "200 kpps", "", "", ""},
	}
	if !slices.EqualFunc(table.Rows, want, slices.Equal) {
		t.Errorf("%q", table.Rows)
	}
	table = latencyTable(r, "p") // the first search stopped before it tried all fractions
	want = [][]string{{"a", "50.0 %", "300 kpps", "100 µs", "300 µs", "0 %"}, {"", "100 %", "600 kpps", "200 µs", "900 µs", "1.00 %"}}
	if !slices.EqualFunc(table.Rows, want, slices.Equal) {
		t.Errorf("%q", table.Rows)
	}
	svg := LossOverLoad(r, "p")
	if n := strings.Count(svg, "<circle"); n != 2*5 || strings.Count(svg, "hollow") != 2 || !strings.Contains(svg, ">none<") || strings.Contains(svg, "NaN") {
		t.Errorf("%d points: %s", n, svg)
	}
	if LossOverLoad(Results{Control: "a"}, "p") != "" {
		t.Error("a plot without trials")
	}
	curve := func(loss ...float64) *SearchRun {
		out := &SearchRun{Method: LossCurve}
		for i, l := range loss {
			out.LossCurve = append(out.LossCurve, at(float64(10-i)*1e5, l))
		}
		return out
	}
	r = results(map[string][]*SearchRun{"a": {curve(0.1, 0, 0)}, "b": {curve(0.4, 0.2, 0.1, 0, 0), curve(0.2, 0.1, 0, 0)}})
	table = curveTable(r, "p")
	want = [][]string{{"100 %", "10.0 %", "30.0 %"}, {"90 %", "0 %", "15.0 %"}, {"80 %", "0 %", "5.00 %"}, {"70 %", "", "0 %"}, {"60 %", "", "0 %"}}
	if !slices.EqualFunc(table.Rows, want, slices.Equal) || !slices.Equal(table.Header, []string{"share of the largest load", "a", "b"}) {
		t.Errorf("%q: %q", table.Header, table.Rows)
	}
	bursts := func(mean, least, most, sd float64) *SearchRun {
		return &SearchRun{BackToBack: &search.BackToBackResult{Mean: mean, Min: least, Max: most, SD: stats.Num(sd), ImpliedTime: 0.004, CorrectedTime: 0.002}, Points: make([]SearchPoint, 12)}
	}
	table = burstTable(results(map[string][]*SearchRun{"a": {bursts(4000, 3900, 4100, 50), bursts(6000, 5000, 7000, 70)}}), "p")
	if !slices.EqualFunc(table.Rows, [][]string{{"a", "5,000 frames", "3,900", "7,000", "60.0", "4.00 ms", "2.00 ms", "12"}}, slices.Equal) {
		t.Errorf("%q", table.Rows)
	}
	for keys, title := range map[string]string{"method: mlr": "The search for throughput", "method: loss-curve": "Frame loss over offered load", "method: back-to-back": "The longest bursts without loss"} {
		p := part(t, keys)
		s := searchSections(Spec{Parts: []Part{p}}, r)
		if len(s) != 3 || s[0] != document.Block(document.Heading(title)) || !strings.Contains(searchMethod(p), "Part p (mode overload") {
			t.Errorf("%s: %+v", keys, s)
		}
	}
}

// TestHowLongSearchesLast: a larger value of any key takes longer, and no estimate exceeds the
// search's limit.
func TestHowLongSearchesLast(t *testing.T) {
	lasts := func(keys string) float64 { return searchLasts(part(t, keys)) }
	for _, c := range [][2]string{
		{"method: mlr, trials_per_load: 1", "method: mlr, trials_per_load: 3"}, {"method: back-to-back, repeats: 1, limit_seconds: 900", "method: back-to-back, repeats: 9, limit_seconds: 900"},
		{"method: loss-curve, step_percent: 10", "method: loss-curve, step_percent: 5"}, {"method: rfc2544, limit_seconds: 10", "method: rfc2544, limit_seconds: 20"},
	} {
		if a, b := lasts(c[0]), lasts(c[1]); !(a > 0 && a < b) {
			t.Errorf("%s lasts %g s, %s %g s", c[0], a, c[1], b)
		}
	}
	if got := lasts("method: rfc2544, limit_seconds: 10"); got < 10 || got > 10.5 {
		t.Errorf("a search limited to ten seconds is estimated at %g s", got)
	}
	s := Spec{Variants: []Variant{{Name: "a"}, {Name: "b"}}, Control: "a"}
	if e := s.Expected(part(t, "method: rfc2544, limit_seconds: 10")); e <= 10 {
		t.Errorf("a trial including its overhead is estimated at %g s", e)
	}
	inside, ok := inside(part(t, "method: mlr"))
	if !ok || inside.Search != nil || !inside.Rate.IsMax() || inside.Seconds < SearchSeconds {
		t.Errorf("%+v", inside)
	}
	for keys, want := range map[string]string{"method: mlr": ConditionalThroughput, "method: rfc2544": Throughput, "method: loss-curve": LossFreeLoad, "method: back-to-back": BackToBackFrames} {
		p := part(t, keys)
		if m, ok := Timeline(p); !ok || m.Name != want {
			t.Errorf("%s: the timeline shows %s", keys, m.Name)
		}
		for _, m := range searchMetrics {
			if yields := p.yields(m); m.Verdict && yields != (m.Name == want) || !m.Verdict && m.Answers == "" && !yields {
				t.Errorf("%s yields %s: %t", keys, m.Name, yields)
			}
		}
	}
}
