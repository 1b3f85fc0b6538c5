package report

import (
	"strings"

	"linerate/internal/chart"
	"linerate/internal/list"
	"linerate/internal/study"
)

// figures are pictures of one kind, one of each part.
type figures struct{ Shown, Folded []chart.Figure }

func (f *figures) add(shown bool, charts []chart.Figure) {
	if shown {
		f.Shown = append(f.Shown, charts...)
	} else {
		f.Folded = append(f.Folded, charts...)
	}
}

// Any reports whether there is one.
func (f figures) Any() bool { return len(f.Shown)+len(f.Folded) > 0 }

// section is what a kind shows of parts, in the page: in view, and folded away.
type section struct {
	Title, Note    string
	Figures        figures
	Tables, Folded []htmlTable
}

// sectionOf draws what a kind has to show; false of nothing.
func sectionOf(from study.Section) (to section, ok bool) {
	to = section{Title: from.Title, Note: from.Note}
	for _, c := range from.Charts {
		to.Figures.add(!c.Folded, chart.Draw(c.Title, c.Note, c.Draw))
	}
	for _, t := range from.Tables {
		if t.Folded {
			to.Folded = append(to.Folded, htmlTable(t))
		} else {
			to.Tables = append(to.Tables, htmlTable(t))
		}
	}
	return to, from.Title != "" && (to.Figures.Any() || len(from.Tables) > 0)
}

// Rest names what is folded away of tables.
func (s section) Rest() string {
	first, _, _ := strings.Cut(s.Folded[0].Title, " ")
	return strings.ToLower(first)
}

// kinds have the sections of all of a study's parts, where each belongs; those of one
// part lead at the end.
func (p *htmlPage) kinds(s study.Spec, r study.Results) {
	all := list.Map(s.MeasuredParts(&r), func(part study.Part) study.Section { return study.KindOf(part).Section(s, r, part) })
	for _, k := range study.Kinds() {
		all = append(all, k.Sections(s, r)...)
	}
	for _, from := range all {
		to, ok := sectionOf(from)
		if !ok {
			continue
		}
		at := map[study.Place]*[]section{study.Ahead: &p.Ahead, study.AfterTrials: &p.AfterTrials, study.AfterCounters: &p.AfterCounters, study.AtEnd: &p.AtEnd}[from.Place]
		*at = append(*at, to)
	}
}
