package profile

import (
	"fmt"
	"io"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/show"
)

// Named is a profile and the file, or the machine, that it is of.
type Named struct {
	File string
	*Profile
}

// Document is what profile show --json prints.
type Document struct {
	Version  int       `json:"version"`
	Profiles []Summary `json:"profiles"`
}

// Changes is what profile diff --json prints.
type Changes struct {
	Version int     `json:"version"`
	Before  Summary `json:"before"`
	After   Summary `json:"after"`
	Movers  []Mover `json:"movers"`
}

// Summary is a profile in JSON: its heaviest functions, not its stacks.
type Summary struct {
	File      string     `json:"file"`
	Format    string     `json:"format"`
	Event     string     `json:"event"`
	Unit      string     `json:"unit"`
	Samples   int64      `json:"samples,omitempty"`
	Total     int64      `json:"total"`
	Stacks    int        `json:"stacks"`
	Notes     []string   `json:"notes"`
	Functions []Function `json:"functions,omitempty"`
}

// Function is a function's weight, in the profile's unit and in percent of its total.
type Function struct {
	Frame
	Self         int64   `json:"self"`
	SelfPercent  float64 `json:"self_percent"`
	Total        int64   `json:"total"`
	TotalPercent float64 `json:"total_percent"`
}

// Summary has the heaviest functions, as many as top.
func (p Named) Summary(top int) Summary {
	d := Summary{p.File, p.Format, p.Event, p.Unit, p.Samples, p.Total(), len(p.Stacks), append([]string{}, p.Notes...), nil}
	if top > 0 {
		whole, all := float64(d.Total), p.Functions()
		for _, x := range all[:min(top, len(all))] {
			d.Functions = append(d.Functions, Function{x.Frame, x.Self, percentOf(x.Self, whole), x.Total, percentOf(x.Total, whole)})
		}
	}
	return d
}

// head prints what a profile is and what to know of it.
func (p Named) head(pg *show.Page, label string) {
	text := fmt.Sprintf("%s: %s", p.Format, WeightOf(p.Profile))
	switch {
	case p.Samples == 0 || p.Unit == "samples":
	case p.Unit == "nanoseconds":
		text += fmt.Sprintf(", %s of CPU time", show.Nanos(float64(p.Total())))
	default:
		text += fmt.Sprintf(", %s%s", show.SI(float64(p.Total()), ""), p.Unit)
	}
	pg.Line(pg.Bold(label+show.Clean(p.File)) + "  " + show.Clean(text) + fmt.Sprintf(", %s", show.Plural(len(p.Stacks), "distinct stack")))
	for _, n := range p.Notes {
		pg.Paragraph("  "+pg.Paint(show.Doubt, "note")+"  ", "        ", show.Clean(n))
	}
}

// Print shows a profile and its heaviest functions, as many as top.
func (p Named) Print(pg *show.Page, top int) {
	p.head(pg, "")
	whole := float64(p.Total())
	t := show.Table{Header: []string{"self", "", "total", "function", "in"}, Right: []bool{true, false, true}}
	for i, f := range p.Functions() {
		if i >= top || f.Self == 0 {
			break
		}
		self := percentOf(f.Self, whole)
		t.Add(show.Percent(self), pg.Bar(self/100, 12), show.Percent(percentOf(f.Total, whole)), show.Clean(f.Name), pg.Dim(show.Clean(f.Module)))
	}
	pg.Table(t)
}

// PrintMovers shows what differs between two profiles, as many functions as top.
func PrintMovers(pg *show.Page, before, after Named, movers []Mover, top int) {
	before.head(pg, "before ")
	after.head(pg, "after  ")
	pg.Line("")
	pg.Paragraph("", "", MoverSentence(movers)+" Shares are of each profile's own total: of equal length or not, they compare.")
	pg.Line("")
	t := show.Table{Header: []string{"self points", "before", "after", "total points", "before", "after", "function"}, Right: []bool{true, true, true, true, true, true}}
	for i, m := range movers {
		if i >= top || Still(m) && m.TotalPoints == 0 {
			break
		}
		t.Add(paintPoints(pg, m.SelfPoints), show.Percent(m.BeforeSelf), show.Percent(m.AfterSelf), paintPoints(pg, m.TotalPoints), show.Percent(m.BeforeTotal), show.Percent(m.AfterTotal), show.Clean(m.Name))
	}
	pg.Table(t)
}

func paintPoints(pg *show.Page, v float64) string {
	text := strings.TrimSuffix(Points(v), " points")
	switch {
	case v >= 1:
		return pg.Paint(show.Bad, text)
	case v <= -1:
		return pg.Paint(show.Good, text)
	}
	return text
}

// Writer is how to write a picture in the form that a file's name asks for: .svg, .html,
// .pb.gz or .folded. A name that asks for none of them is the user's error.
func (p Picture) Writer(name string) (func(io.Writer) error, error) {
	switch lower := strings.ToLower(name); {
	case strings.HasSuffix(lower, ".svg"):
		return p.WriteSVG, nil
	case strings.HasSuffix(lower, ".html"), strings.HasSuffix(lower, ".htm"):
		return p.WriteHTML, nil
	case p.Before != nil:
		return nil, hint.With(hint.Usagef("a difference of profiles cannot be written as %q", name), "name it .svg or .html; write each profile with profile show")
	case strings.HasSuffix(lower, ".pb.gz"), strings.HasSuffix(lower, ".pprof"):
		return p.After.WritePprof, nil
	case strings.HasSuffix(lower, ".folded"), strings.HasSuffix(lower, ".txt"):
		return p.After.WriteFolded, nil
	}
	return nil, hint.With(hint.Usagef("what %q should hold is not known", name), "name it .svg, .html, .pb.gz or .folded")
}

// ReadEvent reads the profile of one event, or the first of a file with several, which
// is noted.
func ReadEvent(r io.Reader, event string) (*Profile, error) {
	found, err := Read(r)
	if err != nil {
		return nil, err
	}
	events := make([]string, len(found))
	for i, p := range found {
		if event != "" && p.Event == event {
			return p, nil
		}
		events[i] = show.Clean(p.Event)
	}
	if event != "" {
		return nil, hint.Unknown("event", event, events)
	}
	if len(found) > 1 {
		found[0].Notes = append(found[0].Notes, fmt.Sprintf("The file has %d events, this is the first: %s.", len(found), show.List(events)))
	}
	return found[0], nil
}
