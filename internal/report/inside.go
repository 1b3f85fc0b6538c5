package report

import (
	"fmt"
	"html/template"
	"strings"

	"linerate/internal/document"
	"linerate/internal/list"
	"linerate/internal/profile"
	"linerate/internal/show"
	"linerate/internal/study"
)

// moversShown is the number of functions listed for each variant.
const moversShown = 6

// insideOf returns a part's telemetry, the control first; nil if there is none.
func insideOf(r study.Results, part string) (all []study.Telemetry) {
	for _, t := range r.Telemetry {
		switch {
		case t.Part != part || t.Unavailable != "":
		case t.Variant == r.Control:
			all = append([]study.Telemetry{t}, all...)
		default:
			all = append(all, t)
		}
	}
	return all
}

// inside shows what instruments recorded for the parts: where the control spent its time,
// and what changed in the variants.
func inside(d *document.Document, s study.Spec, r study.Results) {
	var pictures document.OnPage
	var tables []document.Block
	for _, part := range s.MeasuredParts(&r) {
		all := insideOf(r, part.Name)
		if len(all) == 0 {
			continue
		}
		if before := all[0].Stacks; before != nil {
			title := all[0].Variant + ", part " + part.Name
			svg, caption := profile.Flame(before, title) // escapes all names
			pictures = append(pictures, document.Picture{Title: title, Text: profile.HeaviestSentence(before), Caption: caption, SVG: template.HTML(svg)})
			if t := movers(all, part.Name); len(t.Rows) > 0 {
				tables = append(tables, t)
			}
		}
	}
	if len(pictures) > 0 {
		d.Style = profile.FlameStyle()
		d.Add(append(document.OnPage{document.Heading("Where the time went"), document.Note("Each variant was profiled in a separate run, whose rates are not used because sampling disturbs them. Shares are of the time that packets took on the router's CPU. The profiles are in the same directory as this page; `go tool pprof` opens them, and compares two with `-diff_base`.")}, pictures...))
	}
	d.Add(tables...)
	d.Add(lacks(r)...)
}

// movers shows the functions whose share of time changed most compared with the first variant.
func movers(all []study.Telemetry, part string) document.Table {
	t := document.Table{Title: fmt.Sprintf("Where the time of part %s went: what moved most against %s", part, all[0].Variant),
		Header: []string{"variant", "function", "self", "before", "after"}}
	for _, o := range all[1:] {
		if o.Stacks == nil {
			continue
		}
		for i, m := range profile.Movers(all[0].Stacks, o.Stacks) {
			if i == moversShown {
				break
			}
			t.Rows = append(t.Rows, []string{o.Variant, show.Clean(m.Name), show.SignedPoints(m.After - m.Before), show.Percent(m.Before), show.Percent(m.After)})
		}
	}
	return t
}

// lacks lists what the instruments could not observe, without repetitions.
func lacks(r study.Results) (out []document.Block) {
	var said []string
	for _, t := range r.Telemetry {
		for _, m := range t.Missing {
			said = list.With(said, m.What+": "+m.Why)
		}
	}
	if len(said) > 0 {
		out = append(out, document.Note("Not seen: "+strings.Join(said, "; ")+"."))
	}
	return out
}
