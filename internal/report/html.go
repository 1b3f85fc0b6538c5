package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
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
	DUT                                    []htmlTable
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
	if t, ok := dutTable(r); ok {
		p.DUT = append(p.DUT, t)
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
	if part.Flood != "" {
		return study.MetricNamed(study.ManagementLoss)
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

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
