package outputs

import (
	"fmt"

	"linerate/internal/evidence"
	"linerate/internal/ledger"
	"linerate/internal/show"
)

// Document is the output of import FILE… --json.
type Document struct {
	Version int             `json:"version"`
	Ledger  string          `json:"ledger"`
	Study   ledger.ID       `json:"study"`
	Known   bool            `json:"known"` // the ledger already contained it
	Tool    string          `json:"tool"`
	Metric  string          `json:"metric"`
	Unit    string          `json:"unit"`
	Better  string          `json:"better"`
	Sides   []SideDocument  `json:"sides"`
	Verdict *ledger.Verdict `json:"verdict"` // null if nothing was compared
}

// SideDocument is one side of a comparison, with its runs.
type SideDocument struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// Document returns the JSON form of what was imported. The caller sets Ledger and Known.
func (t Taken) Document() Document {
	of := t.Sides[0].Of
	d := Document{Version: 1, Study: t.Batch.Studies[0].ID, Tool: of.Tool, Metric: t.Metric, Unit: of.Unit, Better: string(of.Better), Verdict: t.Verdict}
	for _, s := range t.Sides {
		d.Sides = append(d.Sides, SideDocument{s.Name, s.Values})
	}
	return d
}

// Print prints what was imported.
func (d Document) Print(p *show.Page) {
	state := "taken into"
	if d.Known {
		state = "was there before, in"
	}
	for _, s := range d.Sides {
		p.Line(fmt.Sprintf("%s: %s of %s, %s", show.Clean(s.Name), show.Plural(len(s.Values), "run"), show.Clean(d.Metric), show.Clean(d.Unit)))
	}
	if v := d.Verdict; v != nil {
		p.Line(fmt.Sprintf("%s: %s, %s (n %d, %s)", show.Clean(v.Variant), v.TextWithBounds(), v.Verdict, v.N, evidence.ByOthers))
	}
	p.Line(fmt.Sprintf("study %s %s %s", d.Study.Short(), state, show.Clean(d.Ledger)))
}
