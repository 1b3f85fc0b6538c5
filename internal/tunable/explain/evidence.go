package explain

import (
	"fmt"
	"slices"

	"linerate/internal/evidence"
	"linerate/internal/list"
	"linerate/internal/show"
)

// Evidence is a study's verdict on this tunable, or on another of the same concept.
type Evidence struct {
	evidence.Row
	ID         string `json:"id,omitempty"` // of the verdict in its ledger
	Sibling    bool   `json:"sibling"`      // another tunable of the same concept
	Machine    string `json:"machine"`      // CPU, cores, NIC and driver
	EffectText string `json:"effect"`       // "+3.1 % [+2.4, +3.9]"
	// Published is the verdict of the study's author, "" if none; Agrees reports whether ours is
	// the same.
	Published string `json:"published,omitempty"`
	Agrees    bool   `json:"published_agrees,omitempty"`
}

// AddEvidence adds measurements to the page: of the tunable itself, from the user's ledger and
// shipped with the program, and of others of the same concept. Each verdict appears once.
func (p *Page) AddEvidence(own, siblings, shipped []evidence.Row) {
	all := evidence.Merge(slices.Clone(own), shipped)
	p.Pooled = evidence.Together(all, p.For)
	seen := map[string]bool{}
	add := func(rows []evidence.Row, sibling bool) {
		for _, r := range rows {
			if !seen[r.ID] {
				p.Evidence = append(p.Evidence, evidenceOf(r, sibling))
			}
			seen[r.ID] = true
		}
	}
	add(all, false)
	add(siblings, true)
}

// Together summarises several verdicts on the same change.
func (p Page) Together() []string {
	return evidence.Told(list.Filter(p.Pooled, evidence.Change.Several))
}

// Measured converts verdicts for pages.
func Measured(rows []evidence.Row) []Evidence {
	out := make([]Evidence, len(rows))
	for i, r := range rows {
		out[i] = evidenceOf(r, false)
	}
	return out
}

// evidenceOf converts a verdict.
func evidenceOf(r evidence.Row, sibling bool) Evidence {
	e := Evidence{Row: r, ID: r.ID, Sibling: sibling, Machine: r.Machine(), EffectText: r.TextWithBounds()}
	e.Flags = slices.Clone(r.Flags)
	if r.Published != nil {
		e.Published, e.Agrees = r.Published.Verdict, r.Published.Agrees
	}
	if r.Without != nil {
		e.Flags = append(e.Flags, fmt.Sprintf("without %d excluded trials: %s, %s", r.Dropped, r.Without.TextWithBounds(), r.Without.Verdict))
	}
	return e
}

// maxShown is the maximum number of verdicts that a page prints.
const maxShown = 16

// evidence prints the measurements by machine: gains, losses and null results.
func (o *page) evidence(p Page) {
	o.heading("Measured")
	if len(p.Evidence) == 0 {
		o.line("  not yet: no verdict in the ledger")
		return
	}
	shown := p.Evidence
	if slices.ContainsFunc(shown, func(e Evidence) bool { return e.Primary }) {
		shown = slices.DeleteFunc(slices.Clone(shown), func(e Evidence) bool { return !e.Primary && !e.Verdict.Differs() })
	}
	for _, text := range p.Together() {
		o.Paragraph("  ", "    ", text)
	}
	if len(shown) > maxShown {
		shown = shown[:maxShown]
	}
	var names []string
	rows := map[string][]evidence.Row{} // the tunable itself is under ""
	for _, e := range shown {
		name := ""
		if e.Sibling {
			name = e.Tunable
		}
		if rows[name] == nil {
			names = append(names, name)
		}
		rows[name] = append(rows[name], e.Row)
	}
	for _, name := range names {
		if name != "" {
			o.line("\nThe same idea under another name, %s:", name)
		}
		evidence.Tables(o.Page, rows[name])
	}
	if n := len(p.Evidence) - len(shown); n > 0 {
		o.line("\n  and %s more, all in the JSON", show.Plural(n, "verdict"))
	}
	o.Paragraph("  ", "  ", "Intervals are 95 %, verdicts after Holm within each study.")
}
