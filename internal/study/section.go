package study

import "slices"

// Place is where a section stands among the report's own.
type Place int

// Sections of a kind stand at the end, before the verdicts' numbers, ahead of the effects,
// after the trials in the order of time, or after the DUT's own counters.
const (
	AtEnd Place = iota
	Ahead
	AfterTrials
	AfterCounters
)

// Section is what a report shows of a part, or of all parts, of a kind beside verdicts.
type Section struct {
	// Place is that of a section of all parts; those of one part stand at the end.
	Place Place
	// Method says in words how the part was measured: a paragraph.
	Method string
	// Title and Note head what follows; without Title nothing does.
	Title, Note string
	Charts      []Chart
	Tables      []Table
	// Answers: the first chart answers a question by the part's metric better than
	// effects do.
	Answers bool
}

// Chart is a picture that Draw draws at a width as SVG that loads nothing, all text
// in it escaped; "" where there is nothing to draw.
type Chart struct {
	Title, Note string
	// Folded is shown when it is asked for.
	Folded bool
	Draw   func(width float64) string
}

// Table is rows of text beneath a header. Columns of numbers stand at the right.
type Table struct {
	Title  string
	Note   string
	Header []string
	Rows   [][]string
	Folded bool // as a Chart's
}

// Any is the table, where it has a row.
func (t Table) Any() []Table {
	if len(t.Rows) == 0 {
		return nil
	}
	return []Table{t}
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
