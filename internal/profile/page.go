package profile

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"linerate/internal/chart"
	"linerate/internal/show"
)

//go:embed page.html
var pageText string

var page = chart.NewPage("profile", pageText, nil)

// pageData is what the page's template shows.
type pageData struct {
	Title, Answer string
	Warnings      []string
	Figures       []figure
	Table         pageTable
	Style         template.CSS
	Script        template.JS
}

type figure struct {
	Title, Caption string
	SVG            template.HTML
}

type pageTable struct {
	Title, Note string
	NamesLast   bool // the last column holds words
	Header      []string
	Rows        [][]string
}

// tableRows is how many functions a page lists.
const tableRows = 40

// WriteHTML writes the picture as a page of its own: the flame graph, for a
// comparison as wide as after and as before, and the table of functions.
func (p Picture) WriteHTML(w io.Writer) error {
	d := pageData{Title: p.Title, Style: template.CSS(flameCSS), Script: template.JS(flameJS)}
	if p.Before == nil {
		d.Answer, d.Warnings = HeaviestSentence(p.After), p.After.Notes
		d.Figures = []figure{p.figure("Flame graph")}
		d.Table = functionsTable(p.After)
	} else {
		d.Answer = MoverSentence(Movers(p.Before, p.After))
		for _, n := range p.Before.Notes {
			d.Warnings = append(d.Warnings, "Before: "+n)
		}
		for _, n := range p.After.Notes {
			d.Warnings = append(d.Warnings, "After: "+n)
		}
		gone := p
		gone.ByBefore = true
		p.ByBefore = false
		d.Figures = []figure{p.figure("As it is after"), gone.figure("As it was before")}
		d.Table = moversTable(p.Before, p.After)
	}
	return page.Write(w, d)
}

func (p Picture) figure(title string) figure {
	// inline escapes every name.
	return figure{title, p.caption(), template.HTML(p.inline())}
}

// HeaviestSentence says which function takes most itself.
func HeaviestSentence(p *Profile) string {
	f := p.Functions()[0]
	return fmt.Sprintf("The heaviest function itself is %s, with %s.", show.Clean(f.Name), show.Percent(percentOf(f.Self, float64(p.Total()))))
}

// MoverSentence says what moved most.
func MoverSentence(movers []Mover) string {
	if len(movers) == 0 || Still(movers[0]) {
		return "No function's own share moved."
	}
	m := movers[0]
	return fmt.Sprintf("%s %s: it took %s itself before, %s after.", show.Clean(m.Name), Points(m.SelfPoints), show.Percent(m.BeforeSelf), show.Percent(m.AfterSelf))
}

// Still tells that a function's own share did not move as far as it prints.
func Still(m Mover) bool { return m.SelfPoints < 0.005 && m.SelfPoints > -0.005 }

func functionsTable(p *Profile) pageTable {
	t := pageTable{Title: "Functions", Note: "Self: running in it. Total: in it or in what it calls.", NamesLast: true, Header: []string{"function", "self", "total", "in"}}
	whole := float64(p.Total())
	for i, f := range p.Functions() {
		if i == tableRows || f.Self == 0 {
			break
		}
		t.Rows = append(t.Rows, []string{show.Clean(f.Name), show.Percent(percentOf(f.Self, whole)), show.Percent(percentOf(f.Total, whole)), show.Clean(f.Module)})
	}
	return t
}

func moversTable(before, after *Profile) pageTable {
	t := pageTable{Title: "What moved most", Note: "Shares of each profile's total; differences in percentage points, by the function's own share.",
		Header: []string{"function", "self", "before", "after", "with callees", "before", "after"}}
	for i, m := range Movers(before, after) {
		if i == tableRows || Still(m) {
			break
		}
		t.Rows = append(t.Rows, []string{show.Clean(m.Name), Points(m.SelfPoints), show.Percent(m.BeforeSelf), show.Percent(m.AfterSelf),
			Points(m.TotalPoints), show.Percent(m.BeforeTotal), show.Percent(m.AfterTotal)})
	}
	return t
}
