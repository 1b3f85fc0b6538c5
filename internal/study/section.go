package study

import (
	"slices"

	"linerate/internal/chart"
	"linerate/internal/document"
)

// Place is where a section stands among the report's own.
type Place int

// Sections of a kind stand at the end, ahead of the effects in other parts, after the trials
// in the order of time, or after the DUT's own counters.
const (
	AtEnd Place = iota
	Ahead
	AfterTrials
	AfterCounters
)

// Section is what a report shows of a kind in addition to the verdicts; one without blocks
// is not shown.
type Section struct {
	Place       Place
	Title, Note string
	// Blocks are shown, Folded are when a reader of the page asks for them.
	Blocks, Folded []document.Block
}

// figure adds a picture of a part, which Draw draws at a width; nothing where it is "".
func (x *Section) figure(shown bool, title, note string, draw func(width float64) string) {
	x.add(shown, document.Figures(chart.Draw(title, note, draw))...)
}

// add adds blocks, but tables without rows.
func (x *Section) add(shown bool, blocks ...document.Block) {
	blocks = slices.DeleteFunc(blocks, rowless)
	if shown {
		x.Blocks = append(x.Blocks, blocks...)
	} else {
		x.Folded = append(x.Folded, blocks...)
	}
}

// rowless reports a table without rows, or nothing but such.
func rowless(b document.Block) bool {
	switch b := b.(type) {
	case document.Table:
		return len(b.Rows) == 0
	case document.OnPage:
		return !slices.ContainsFunc(b, func(b document.Block) bool { return !rowless(b) })
	}
	return false
}

// MeasuredParts are the parts that results have trials of, in the study's order.
func (s *Spec) MeasuredParts(r *Results) []Part {
	measured := r.Measured()
	return slices.DeleteFunc(slices.Clone(s.Parts), func(p Part) bool { return !slices.Contains(measured, p.Name) })
}

// Unfolded reports whether what a report shows of a measured part is in view: of few parts
// all are, of many the primary metric's.
func (s *Spec) Unfolded(r *Results, part string) bool {
	return len(r.Measured()) <= 3 || part == s.Primary().Part
}
