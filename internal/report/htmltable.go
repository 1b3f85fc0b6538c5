package report

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// htmlTable is a table in the page.
type htmlTable study.Table

// htmlCell is a text and the classes of its looks.
type htmlCell struct{ Text, Class string }

// longCell is from how many columns on a text is broken into lines.
const longCell = 44

// Heads are the header's cells, on the side of what stands below them.
func (t htmlTable) Heads() []htmlCell {
	out := make([]htmlCell, len(t.Header))
	for i, text := range t.Header {
		out[i] = htmlCell{Text: text}
		if t.words(i) {
			out[i].Class = "word"
		}
	}
	return out
}

// Body are the rows' cells: words at the left, numbers at the right, verdicts
// in their colours.
func (t htmlTable) Body() [][]htmlCell {
	out := make([][]htmlCell, len(t.Rows))
	for k, row := range t.Rows {
		for i, text := range row {
			cell := htmlCell{Text: text}
			if t.words(i) {
				cell.Class = "word"
			}
			if show.Width(text) > longCell {
				cell.Class += " long"
			}
			if slices.Contains([]string{string(stats.Worse), string(stats.Better), string(stats.Equivalent), string(stats.Inconclusive)}, text) {
				cell.Class += " " + text
			}
			out[k] = append(out[k], cell)
		}
	}
	return out
}

// numbers are the columns that stand at the right.
func (t htmlTable) numbers() []bool {
	out := make([]bool, len(t.Header))
	for i := range out {
		out[i] = !t.words(i)
	}
	return out
}

// words reports whether a column has anything that is no number.
func (t htmlTable) words(column int) bool {
	if column == 0 {
		return true
	}
	return slices.ContainsFunc(t.Rows, func(row []string) bool {
		return column < len(row) && row[column] != "control" && !startsNumber(row[column])
	})
}

// startsNumber reports whether a cell is a number, an interval, or empty.
func startsNumber(text string) bool {
	text = strings.TrimLeft(text, "[(<>+−±–- ")
	first, _ := utf8.DecodeRuneInString(text)
	return text == "" || unicode.IsDigit(first)
}
