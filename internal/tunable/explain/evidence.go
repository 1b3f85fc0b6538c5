package explain

import (
	"fmt"
	"slices"
	"time"

	"linerate/internal/evidence"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// Evidence is a verdict of a study about this tunable, or about another of
// the same idea.
type Evidence struct {
	ID       string `json:"id,omitempty"` // of the verdict in its ledger
	Tunable  string `json:"tunable"`      // as the study set it
	Sibling  bool   `json:"sibling"`      // another tunable of the same concept
	Before   string `json:"before"`       // "" for the system's default
	After    string `json:"after"`
	Alone    bool   `json:"alone"`   // nothing else was changed with it
	Machine  string `json:"machine"` // CPU, cores, NIC and driver
	OS       string `json:"os"`
	Release  string `json:"release"`
	Workload string `json:"workload"`
	Study    string `json:"study"`
	// StudyID is the study in its ledger, Started when it began: of what a ledger holds.
	StudyID    string     `json:"study_id,omitempty"`
	Started    *time.Time `json:"started,omitempty"`
	Source     string     `json:"source"` // where the study was read
	Metric     string     `json:"metric"`
	Primary    bool       `json:"primary"` // the metric that the study's question is about
	EffectText string     `json:"effect"`  // "+3.1 % [+2.4, +3.9]"

	stats.Result
	// Published is the verdict of the study's author, Agrees whether it is
	// the same; "" where there is none.
	Published string   `json:"published,omitempty"`
	Agrees    bool     `json:"published_agrees,omitempty"`
	Flags     []string `json:"flags,omitempty"`
	Excluded  string   `json:"excluded,omitempty"`
	Label     string   `json:"label,omitempty"` // what the number is not

	row evidence.Row
}

// AddEvidence puts what was measured on the page: of the tunable itself, one's
// own with what ships with the program, and of others of the same idea. Each
// verdict is there once.
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

// Together is what several verdicts say together, for people.
func (p Page) Together() []string {
	return evidence.Told(list.Filter(p.Pooled, evidence.Change.Several))
}

// Measured are verdicts as pages have them.
func Measured(rows []evidence.Row) []Evidence {
	out := make([]Evidence, len(rows))
	for i, r := range rows {
		out[i] = evidenceOf(r, false)
	}
	return out
}

// evidenceOf is a verdict as the page has it.
func evidenceOf(r evidence.Row, sibling bool) Evidence {
	e := Evidence{
		ID: r.ID, Tunable: r.Tunable, Sibling: sibling, Before: r.Before, After: r.After, Alone: r.Alone, Machine: r.Machine(), OS: r.OS, Release: r.Release,
		Workload: r.Workload, Study: r.Study, StudyID: r.StudyID, Source: r.Source, Metric: r.Metric, Primary: r.Primary, EffectText: r.TextWithBounds(),
		Result: r.Result, Flags: slices.Clone(r.Flags), Excluded: r.Excluded, Label: r.Label, row: r,
	}
	if !r.Started.IsZero() {
		e.Started = &r.Started
	}
	if r.Published != nil {
		e.Published, e.Agrees = r.Published.Verdict, r.Published.Agrees
	}
	if r.Without != nil {
		e.Flags = append(e.Flags, fmt.Sprintf("without %d excluded trials: %s, %s", r.Dropped, r.Without.TextWithBounds(), r.Without.Verdict))
	}
	return e
}

// MetricLabel is the metric in words.
func (e Evidence) MetricLabel() string { return e.row.MetricLabel() }

// maxShown is how many verdicts a page lists for people.
const maxShown = 16

// evidence prints what was measured, machine by machine, nulls and losses
// with the gains.
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
	rows := map[string][]evidence.Row{} // of the tunable itself under ""
	for _, e := range shown {
		name := ""
		if e.Sibling {
			name = e.Tunable
		}
		if rows[name] == nil {
			names = append(names, name)
		}
		rows[name] = append(rows[name], e.row)
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
