package report

import (
	"linerate/internal/chart"
	"linerate/internal/study"
)

// section is what this package draws of the parts of a kind, beside verdicts.
type section interface {
	// method says in words how a part was measured.
	method(s study.Spec, r study.Results, p study.Part) string
	// charts adds the pictures and tables of a part that has trials; those that
	// are not shown are folded away.
	charts(p *htmlPage, s study.Spec, r study.Results, part study.Part, shown bool)
}

// sections are those by kind; of any other kind its own are shown.
var sections = map[string]section{"forward": forwarded{}, "serve": requested{}}

func sectionOf(p study.Part) section {
	k := study.KindOf(p)
	if s, ok := sections[k.Name()]; ok {
		return s
	}
	return own{k}
}

// own is the section that a kind makes itself.
type own struct{ study.Kind }

func (o own) method(s study.Spec, r study.Results, p study.Part) string {
	return o.Section(s, r, p).Method
}

func (o own) charts(p *htmlPage, s study.Spec, r study.Results, part study.Part, _ bool) {
	from := o.Section(s, r, part)
	to := searchSection{Title: from.Title, Note: from.Note}
	for _, c := range from.Charts {
		to.Charts = append(to.Charts, chart.Draw(c.Title, c.Note, c.Draw)...)
	}
	for _, t := range from.Tables {
		to.Tables = append(to.Tables, htmlTable(t))
	}
	if to.Title != "" && len(to.Charts)+len(to.Tables) > 0 {
		p.Searches = append(p.Searches, to)
	}
}
