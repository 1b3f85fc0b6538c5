package report

import (
	"strings"

	"linerate/internal/chart"
	"linerate/internal/document"
	"linerate/internal/list"
	"linerate/internal/study"
)

// figures are pictures of one kind, one of each part: in view, and folded away.
type figures struct{ shown, folded []document.Figure }

func (f *figures) add(shown bool, charts []document.Figure) {
	if shown {
		f.shown = append(f.shown, charts...)
	} else {
		f.folded = append(f.folded, charts...)
	}
}

func (f figures) blocks() []document.Block {
	out := document.Figures(f.shown)
	if len(f.folded) > 0 {
		out = append(out, document.Fold{Summary: "The same of the other parts", Blocks: document.Figures(f.folded)})
	}
	return out
}

// section is what a kind of study shows; nothing without a title, charts or tables.
func section(from study.Section) []document.Block {
	var f figures
	for _, c := range from.Charts {
		f.add(!c.Folded, chart.Draw(c.Title, c.Note, c.Draw))
	}
	if from.Title == "" || len(f.shown)+len(f.folded)+len(from.Tables) == 0 {
		return nil
	}
	out := []document.Block{document.Heading(from.Title)}
	if from.Note != "" {
		out = append(out, document.Note(from.Note))
	}
	out = append(out, f.blocks()...)
	var rest document.Fold
	for _, t := range from.Tables {
		shown := document.Table{Title: t.Title, Header: t.Header, Rows: t.Rows, Note: sentence(t.Note)}
		if !t.Folded {
			out = append(out, shown)
			continue
		}
		if rest.Blocks == nil {
			first, _, _ := strings.Cut(t.Title, " ")
			rest.Summary = "The " + strings.ToLower(first) + " of the other parts"
		}
		rest.Blocks = append(rest.Blocks, shown)
	}
	if rest.Blocks != nil {
		out = append(out, rest)
	}
	return out
}

// sentence ends a note.
func sentence(note string) string {
	if note == "" {
		return ""
	}
	return note + "."
}

// kindSections are the sections of all of a study's parts by their place; those of one part
// lead at the end.
func kindSections(s study.Spec, r study.Results) map[study.Place][]document.Block {
	all := list.Map(s.MeasuredParts(&r), func(part study.Part) study.Section { return study.KindOf(part).Section(s, r, part) })
	for _, k := range study.Kinds() {
		all = append(all, k.Sections(s, r)...)
	}
	at := map[study.Place][]document.Block{}
	for _, from := range all {
		at[from.Place] = append(at[from.Place], section(from)...)
	}
	return at
}
