package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"linerate/internal/profile"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

//go:embed page.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Chart widths: beside words on a desk, above them on a phone.
const (
	wideChart   = 860
	narrowChart = 350
)

// htmlPage is what the template shows.
type htmlPage struct {
	Title, Question, Answer, Label, Limits string
	Complete                               bool
	Tiles                                  []tile
	Effects                                []chart
	Curves                                 []curveFigure
	Wire                                   []htmlTable
	More                                   []chart
	NoNumber                               []string // metrics of which no variant has an effect
	NotMeasured                            []string // metrics of parts that had no trial
	Timelines                              figures
	Slices                                 figures
	SliceTables, MoreSliceTables           []htmlTable
	Redone                                 []htmlTable
	Loads                                  figures
	Latencies                              figures
	Served                                 []chart
	ServedLogs                             bool // a server's own log is beside what the clients saw
	Drops                                  figures
	Spread                                 []htmlTable
	States                                 []htmlTable
	Management                             []htmlTable
	Flames                                 []flame
	FlameStyle                             template.CSS
	InsideTables                           []htmlTable
	Lacks                                  []string
	Searches                               []searchSection
	Tables                                 []htmlTable
	Unavailable                            []lacking
	Warnings                               []string
	Gates                                  []gateLine
	Invalid                                []invalidLine
	Environment                            [][2]string
	Commands                               []string
	Variants                               []variantLine
	Source, Summary                        string
	Method                                 []string
}

// curveFigure is a chart of curves and what they say.
type curveFigure struct {
	chart
	Words []string
}

// searchSection is what the searches of a part tried and found.
type searchSection struct {
	Title, Note string
	Charts      []chart
	Tables      []htmlTable
}

// tile is one number that stands beside the answer.
type tile struct{ Value, Label string }

// chart is one picture in two shapes with its words.
type chart struct {
	Title, Note  string
	Wide, Narrow template.HTML
}

type invalidLine struct {
	Where, Reason string
}

type variantLine struct {
	Name, Summary string
	Settings      []string
}

// HTML renders the results as one page that loads nothing: no script, no
// font, no picture from elsewhere.
func HTML(s study.Spec, r study.Results) ([]byte, error) {
	p := htmlPage{
		Title: s.Name, Question: r.Question, Answer: r.Answer, Label: r.Environment.Label, Limits: limitsNote(r.Environment), Complete: r.Complete,
		Tiles: tiles(r), Unavailable: lackings(r), Warnings: r.Warnings,
		Gates: gates(s, r), Invalid: invalids(r), Environment: environment(r), Commands: commands(s, r),
		Source: strings.TrimSpace(s.Source), Summary: strings.TrimSpace(s.Summary), Variants: variants(s), Method: method(s, r),
	}
	if rows := wireRows(r); len(rows) > 0 {
		p.Wire = []htmlTable{{Header: wireHeader, Rows: rows, Note: wireNote(r)}}
	}
	if t, ok := spreadTable(r); ok {
		p.Spread = append(p.Spread, t)
	}
	if t, ok := statesPage(r); ok {
		p.States = append(p.States, t)
	}
	p.Redone = redoneTable(s, r)
	p.charts(s, r)
	for _, g := range s.Metrics {
		p.Tables = append(p.Tables, verdictTable(r, g))
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("render the report: %w", err)
	}
	return b.Bytes(), nil
}

// tiles are the numbers without which no effect should be believed.
func tiles(r study.Results) []tile {
	valid, all := study.Valid(r.Trials)
	aa := "A/A arm: the control against itself"
	if size, _, _ := r.AA.Size(); size.Known() {
		aa += ", " + r.AA.Text()
	}
	return []tile{
		{string(r.AA.Verdict), aa},
		{r.Floor(), "noise floor: effects below it are not told from nothing"},
		{r.Detectable(), "minimum detectable effect, power 0.8"},
		{fmt.Sprintf("%d of %d", valid, all), "trials valid"},
	}
}

// picture draws a chart in both widths; empty when there is nothing to draw.
func picture(title, note string, draw func(width float64) string) []chart {
	wide := draw(wideChart)
	if wide == "" {
		return nil
	}
	// The charts are built by this package, which escapes every text.
	return []chart{{title, note, template.HTML(wide), template.HTML(draw(narrowChart))}} //nolint:gosec // see above
}

func (p *htmlPage) charts(s study.Spec, r study.Results) {
	for _, g := range curveGroups(r) {
		for _, c := range picture(g.title(), "", func(w float64) string { return curveChart(g, w) }) {
			p.Curves = append(p.Curves, curveFigure{c, g.words()})
		}
	}
	for _, g := range s.Metrics {
		if g.Primary {
			p.effectCharts(r, g)
		}
	}
	p.otherEffects(s, r)
	for _, part := range s.Parts {
		m, ok := timelineMetric(part)
		if !ok || len(parts(r)) == 0 || !slices.Contains(parts(r), part.Name) {
			continue
		}
		p.inside(r, part.Name)
		shown := len(parts(r)) <= fewParts || part.Name == s.Primary().Part
		p.Drops.add(shown, picture("part "+part.Name, "", func(w float64) string { return endings(r, part.Name, w) }))
		p.Timelines.add(shown, picture(m.Label+" · part "+part.Name, "", func(w float64) string { return timeline(r, m, part.Name, w) }))
		if part.Mode == testbed.Serve {
			p.servedCharts(r, part)
			continue
		}
		if part.Mode != testbed.Overload {
			p.sliceCharts(s, r, part, shown)
			continue
		}
		if part.Search != nil {
			p.searchCharts(r, part)
			continue
		}
		at := "part " + part.Name + ", offered: " + part.Rate.Words()
		p.Loads.add(shown, picture(at, "", func(w float64) string { return offeredDelivered(r, part.Name, w) }))
		p.Latencies.add(shown, picture(at, "", func(w float64) string { return latencies(r, part.Name, w) }))
	}
}

// inside shows what instruments saw of a part.
func (p *htmlPage) inside(r study.Results, part string) {
	if p.Flames = append(p.Flames, flames(r, part)...); len(p.Flames) > 0 {
		p.FlameStyle = template.CSS(profile.FlameStyle())
	}
	p.InsideTables = append(p.InsideTables, insideTables(r, part)...)
	p.Lacks = lacks(r)
	if t, ok := managementTable(r, part); ok {
		p.Management = append(p.Management, t)
	}
}

// What the pictures of searches show, by method.
const (
	searchNote = "Each point is one run of traffic, hollow in a search that is invalid: what was lost over what was offered. The bars beneath are the intervals between the lower and the upper bound of the first goal, one for each search; the number is the mean throughput."
	burstNote  = "Each point is one run of traffic of the search for the throughput that is wanted first, hollow in a search that is invalid: what was lost over what was offered. The bars beneath are its bounds, one for each search; the number is the mean throughput. The bursts are in the table."
	curveNote  = "Each line is a trial, from the largest load down to the second in a row that loses nothing; hollow points are of an invalid trial: what was lost over what was offered. The bars beneath reach, for each trial, from the load without loss to the next one tried above it; the number is the mean load without loss."
)

// searchCharts shows what a part's searches tried and found.
func (p *htmlPage) searchCharts(r study.Results, part study.Part) {
	s := searchSection{Title: "The search for throughput", Note: searchNote,
		Charts: picture("part "+part.Name+", method "+part.Search.Method, "", func(w float64) string { return lossOverLoad(r, part.Name, w) })}
	switch part.Search.Method {
	case study.LossCurve:
		s.Title, s.Note = "Frame loss over offered load", curveNote
	case study.BackToBack:
		s.Title, s.Note = "The longest bursts without loss", burstNote
	}
	for _, table := range []func(study.Results, string) (htmlTable, bool){searchTable, burstTable, curveTable, latencyTable} {
		if t, ok := table(r, part.Name); ok {
			s.Tables = append(s.Tables, t)
		}
	}
	if len(s.Charts)+len(s.Tables) > 0 {
		p.Searches = append(p.Searches, s)
	}
}

// timelineMetric is what shows a part's drift best.
func timelineMetric(part study.Part) (study.Metric, bool) {
	if part.Search != nil {
		return study.MetricNamed(map[string]string{study.MLRSearch: study.ConditionalThroughput, study.RFC2544: study.Throughput,
			study.BackToBack: study.BackToBackFrames, study.LossCurve: study.LossFreeLoad}[part.Search.Method])
	}
	switch part.Mode {
	case testbed.Cost:
		return study.MetricNamed(study.CostNS)
	case testbed.Serve:
		return servedTimeline(part.Requests())
	}
	return study.MetricNamed(study.OverloadRate)
}

func verdictTable(r study.Results, g study.Goal) htmlTable {
	m, _ := r.Metric(g.Metric)
	t := htmlTable{
		Title:  m.Label + " · part " + g.Part,
		Header: []string{"variant", "mean", "effect", "95 % interval", nsHeader(m), "n", "p (Holm)", "p Welch", "p Mann–Whitney", "verdict"},
	}
	t.Rows = append(t.Rows, []string{r.Control, meanOf(r, m, g.Part, r.Control), "control", "", "", fmt.Sprint(len(values(r, g.Part, r.Control, m.Name))), "", "", "", ""})
	for _, v := range r.Verdicts {
		if v.Metric != g.Metric || v.Part != g.Part {
			continue
		}
		t.Note = v.Method
		t.Rows = append(t.Rows, []string{v.Variant, measured(m, v.VariantMean),
			v.Text(), v.Bounds(), effectNS(m, v, nsDecimals),
			fmt.Sprint(v.N), show.Optional(v.PHolm, show.P), show.Optional(v.PWelch, show.P), show.Optional(v.PMannWhitney, show.P), string(v.Verdict)})
	}
	return t
}

func meanOf(r study.Results, m study.Metric, part, arm string) string {
	x := values(r, part, arm, m.Name)
	if len(x) == 0 {
		return "–"
	}
	return value(m, mean(x))
}

func environment(r study.Results) [][2]string {
	e := r.Environment
	var out [][2]string
	add := func(name, value string) {
		if value != "" {
			out = append(out, [2]string{name, value})
		}
	}
	add("Testbed", testbedLine(e))
	add("Kernel", strings.TrimSpace(e.OS+" "+e.Kernel+" "+e.Arch))
	if e.CPU != "" || e.CPUs > 0 {
		add("CPU", fmt.Sprintf("%s × %d", e.CPU, e.CPUs))
	}
	if e.MemoryBytes > 0 {
		add("Memory", show.Bytes(float64(e.MemoryBytes)))
	}
	add("Machine", strings.Join(strings.Fields(e.Hostname+" "+e.Machine+" "+e.Hypervisor), " "))
	add("Governor", e.Governor)
	add("Clock source", e.Clocksource)
	for _, name := range slices.Sorted(maps.Keys(e.Mitigations)) {
		add("Mitigation "+name, e.Mitigations[name])
	}
	add("Traffic engine", e.Engine)
	for _, mode := range slices.Sorted(maps.Keys(e.Testbeds)) {
		add("Mode "+mode, strings.Join(append(slices.Clone(e.Testbeds[mode].Notes), missing(e.Testbeds[mode])...), "; "))
	}
	add("linerate", e.Linerate)
	add("Called as", strings.Join(e.Command, " "))
	if r.Started != nil {
		add("Started", r.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
		add("Took", r.Finished.Sub(*r.Started).Round(time.Second).String())
	}
	return out
}

func missing(d testbed.Description) []string {
	out := make([]string, len(d.Missing))
	for i, m := range d.Missing {
		out[i] = "this kernel lacks " + m
	}
	return out
}

// commands repeat the study: the same schedule from the record, and the
// analysis from its trials.
func commands(s study.Spec, r study.Results) []string {
	return []string{
		"# the same study in the same order, from this directory",
		fmt.Sprintf("linerate study run study.yaml --seed %d --out ../%s-again", r.Seed, s.Name),
		"# the same question in another order",
		fmt.Sprintf("linerate study run study.yaml --seed %d --out ../%s-other", r.Seed+1, s.Name),
		"# this report again, from its trials",
		"linerate report .",
	}
}

func variants(s study.Spec) []variantLine {
	var out []variantLine
	for _, v := range s.Variants {
		line := variantLine{Name: v.Name, Summary: v.Summary}
		for _, set := range v.Settings {
			line.Settings = append(line.Settings, set.Setting().String())
		}
		out = append(out, line)
	}
	return out
}

// method says in words how the numbers came to be.
func method(s study.Spec, r study.Results) []string {
	out := []string{fmt.Sprintf("Each block tries every variant once, and the control twice, in an order drawn from seed %d; before every trial the router's %s is rebuilt. "+
		"Effects are Student's t on block-wise log ratios against %s, of shares on their differences in percentage points; p-values are corrected by Holm over the variants; within the margin a variant is equivalent by two one-sided tests. "+
		"Welch and Mann–Whitney stand beside and decide nothing.", r.Seed, dutIs(r.Environment), s.Control)}
	for _, p := range s.Parts {
		if p.Mode == testbed.Serve {
			out = append(out, servedMethod(s, p))
			continue
		}
		if p.Mode == testbed.Cost {
			out = append(out, fmt.Sprintf("Part %s (mode cost, %d blocks of %g s trials): %s. "+
				"The chain's CPU time per packet, minus that of the same chain without a router in the same block, is the router's cost; the forwarding rate is what that cost allows one CPU. It is not a throughput.", p.Name, p.Blocks, p.Seconds, costRuns(r.Environment))+bothWays(p))
			continue
		}
		if p.Search != nil {
			out = append(out, searchMethod(p))
			continue
		}
		if p.Flood != "" {
			out = append(out, fmt.Sprintf("Part %s (mode overload, %d blocks of %g s trials): segments that open TCP connections, %s, from addresses that nobody has, to a service on the router, while a prober on the same wire asks for it.", p.Name, p.Blocks, p.Seconds, offeredWords(p.Rate)))
			continue
		}
		out = append(out, fmt.Sprintf("Part %s (mode overload, %d blocks of %g s trials): %s is offered %s. "+
			"The rate it then forwards is the forwarding rate of RFC 2285, not a throughput.", p.Name, p.Blocks, p.Seconds, overloaded(r.Environment), offeredWords(p.Rate))+bothWays(p))
	}
	return out
}

// bothWays says what a part's directions make of its numbers.
func bothWays(p study.Part) string {
	switch {
	case !p.BothWays():
		return ""
	case p.Mode == testbed.Cost:
		return " Both directions at once: frames leave by the two ends in turn, so that each batch holds as many of both and frames wait at both of the router's ports; the cost is of a frame, whichever way it goes."
	}
	return " Both directions at once: the load is offered in each, and rates are of both together."
}

func invalids(r study.Results) []invalidLine {
	var out []invalidLine
	for _, t := range r.Trials {
		if !t.Valid && t.Unavailable == "" {
			out = append(out, invalidLine{fmt.Sprintf("%s, block %d, trial %d, %s", t.Part, t.Block, t.Order, armName(r, t.Variant)), strings.Join(t.Reasons, "; ")})
		}
	}
	return out
}

// offeredWords say what a router is offered.
func offeredWords(r study.Rate) string {
	if r.IsMax() {
		return "all that the generator can send"
	}
	return r.Words()
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
