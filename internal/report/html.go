package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"linerate/internal/chart"
	"linerate/internal/list"
	"linerate/internal/profile"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	_ "linerate/internal/study/kinds" // whatever a study may hold
)

//go:embed page.tmpl
var pageText string

var pageTemplate = chart.NewPage("report", pageText, nil)

// htmlPage is what the template shows.
type htmlPage struct {
	Title, Question, Answer, Label, Limits string
	Complete                               bool
	Tiles                                  []tile
	Effects                                []chart.Figure
	Curves                                 []curveFigure
	Ahead, AfterTrials, AfterCounters      []section // of kinds
	AtEnd                                  []section
	More                                   []chart.Figure
	NoNumber                               []string // metrics of which no variant has an effect
	NotMeasured                            []string // metrics of parts that had no trial
	Timelines                              figures
	DUT                                    []htmlTable
	Flames                                 []flame
	FlameStyle                             template.CSS
	InsideTables                           []htmlTable
	Lacks                                  []string
	Tables                                 []htmlTable
	Unavailable                            []lacking
	Warnings                               []string
	Gates                                  []gateLine
	Tripped                                int // gates that refused a trial
	Invalid                                []invalidLine
	Environment                            [][2]string
	Commands                               []string
	Variants                               []variantLine
	Source, Summary                        string
	Method                                 []string
}

// curveFigure is a chart of curves and what they say.
type curveFigure struct {
	chart.Figure
	Words []string
}

// tile is one number that stands beside the answer.
type tile struct{ Value, Label string }

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
	var b bytes.Buffer
	err := pageTemplate.Write(&b, shownOf(s, r))
	return b.Bytes(), err
}

// Body is what HTML has between head and foot, for a page of others' frame; profiles in it
// need profile.FlameStyle.
func Body(s study.Spec, r study.Results) (template.HTML, error) {
	return pageTemplate.Body(shownOf(s, r))
}

// shownOf is what the page of the results shows.
func shownOf(s study.Spec, r study.Results) htmlPage {
	p := htmlPage{
		Title: s.Name, Question: r.Question, Answer: r.Answer, Label: r.Environment.Label, Limits: limitsNote(r.Environment), Complete: r.Complete,
		Tiles: tiles(r), Unavailable: lackings(r), Warnings: r.Warnings,
		Gates: gates(s, r), Invalid: invalids(r), Environment: environment(r), Commands: commands(s, r),
		Source: strings.TrimSpace(s.Source), Summary: strings.TrimSpace(s.Summary), Variants: variants(s), Method: method(s, r),
	}
	if t, ok := dutTable(r); ok {
		p.DUT = append(p.DUT, t)
	}
	for _, g := range p.Gates {
		if g.Tripped > 0 {
			p.Tripped++
		}
	}
	p.charts(s, r)
	p.kinds(s, r)
	for _, g := range s.Metrics {
		p.Tables = append(p.Tables, verdictTable(r, g))
	}
	return p
}

// tiles are the study's result, and the numbers without which no effect should be
// believed.
func tiles(r study.Results) []tile {
	valid, all := study.Valid(r.Trials)
	aa := "A/A: the control against itself"
	if size, _, _ := r.AA.Size(); size.Known() {
		aa += ", " + r.AA.Text()
	}
	floor := tile{r.Floor(), "noise floor: smaller effects cannot be distinguished from zero; minimum detectable effect " + r.Detectable() + ", power 0.8"}
	if floor.Value == show.Unknown {
		floor = tile{r.Detectable(), "minimum detectable effect, power 0.8; the A/A arm has too few " + replicates(r.AA.Metric) + " for a noise floor"}
	}
	return append(resultTile(r),
		tile{string(r.AA.Verdict), aa}, floor,
		tile{fmt.Sprintf("%d of %d", valid, all), "trials valid"})
}

// resultTile counts the verdicts by the primary metric; of one variant it has the
// effect.
func resultTile(r study.Results) []tile {
	of := list.Filter(r.Verdicts, func(v study.Verdict) bool { return v.Primary })
	if len(of) == 0 {
		return nil
	}
	m, _ := r.Metric(of[0].Metric)
	if len(of) == 1 {
		value := string(of[0].Verdict)
		if size, _, _ := of[0].Size(); size.Known() {
			value = of[0].Text() + " " + value
		}
		return []tile{{value, of[0].Variant + " against " + r.Control + ", by " + m.Label}}
	}
	slices.SortStableFunc(of, func(a, b study.Verdict) int { return b.Verdict.Compare(a.Verdict) })
	var counts []string
	for i := 0; i < len(of); {
		n := i
		for n < len(of) && of[n].Verdict == of[i].Verdict {
			n++
		}
		counts = append(counts, fmt.Sprintf("%d %s", n-i, of[i].Verdict))
		i = n
	}
	return []tile{{strings.Join(counts, ", "), fmt.Sprintf("of %d variants against %s, by %s", len(of), r.Control, m.Label)}}
}

func (p *htmlPage) charts(s study.Spec, r study.Results) {
	for _, g := range curveGroups(r) {
		for _, c := range chart.Draw(g.title(), "", func(w float64) string { return curveChart(g, w) }) {
			p.Curves = append(p.Curves, curveFigure{c, g.words()})
		}
	}
	for _, g := range s.Metrics {
		if g.Primary {
			p.effectCharts(r, g)
		}
	}
	p.otherEffects(s, r)
	for _, part := range s.MeasuredParts(&r) {
		m, ok := study.KindOf(part).Timeline(part)
		if !ok {
			continue
		}
		p.inside(r, part.Name)
		p.Timelines.add(s.Unfolded(&r, part.Name), chart.Draw(m.Label+" · part "+part.Name, "", func(w float64) string { return timeline(r, m, part.Name, w) }))
	}
}

// inside shows what instruments saw of a part.
func (p *htmlPage) inside(r study.Results, part string) {
	if p.Flames = append(p.Flames, flames(r, part)...); len(p.Flames) > 0 {
		p.FlameStyle = template.CSS(profile.FlameStyle())
	}
	p.InsideTables = append(p.InsideTables, insideTables(r, part)...)
	p.Lacks = lacks(r)
}

func verdictTable(r study.Results, g study.Goal) htmlTable {
	m, _ := r.Metric(g.Metric)
	t := htmlTable{
		Title:  m.Label + " · part " + g.Part,
		Header: []string{"variant", "mean", "effect", "95 % interval", nsHeader(m), "n", pHeader(r, g.Metric, g.Part), "p Welch", "p Mann–Whitney", "verdict"},
	}
	t.Rows = append(t.Rows, []string{r.Control, meanOf(r, m, g.Part, r.Control), "control", "", "", fmt.Sprint(len(r.Values(g.Part, r.Control, m.Name))), "", "", "", ""})
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
	x := r.Values(part, arm, m.Name)
	if len(x) == 0 {
		return "–"
	}
	return m.Text(stats.Mean(x))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
