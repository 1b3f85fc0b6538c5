package study

// Section is what a report shows of a part beside verdicts, as its kind has it.
type Section struct {
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
	Draw        func(width float64) string
}

// Table is rows of text beneath a header. Columns of numbers stand at the right.
type Table struct {
	Title  string
	Note   string
	Header []string
	Rows   [][]string
}
