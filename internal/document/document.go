// Package document is the model of a result for people: a title, answers and blocks in
// reading order. A verb builds one Document; Terminal, HTML and Body render it. Tables
// derive alignment and colour from the content of their cells, so that builders only format
// values.
//
//	d := document.Document{Kicker: "linerate compare", Title: "median of two samples"}
//	d.Answer("new against old: ", "2 % better", "better")
//	d.Add(document.Heading("In numbers"),
//		document.Table{Header: []string{"variant", "effect"}, Rows: [][]string{{"new", "+2.0 %"}}},
//		document.OnPage{document.Code("linerate compare old.txt new.txt")})
//	err := d.HTML(w) // or d.Terminal(w, style)
package document

import (
	"html/template"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"linerate/internal/chart"
	"linerate/internal/list"
	"linerate/internal/show"
)

// Document is a result. Kicker and Badges are above the title of a page.
type Document struct {
	Kicker  string
	Badges  []string
	Title   string
	Answers []Answer
	Blocks  []Block
	// Style is added to the page's own, for pictures that need it.
	Style string
}

// Answer is a sentence that answers the title's question, between two highlighted parts; Strong has
// the colour of Verdict, if set.
type Answer struct{ Lead, Text, Strong, Verdict string }

// Answer adds an answer.
func (d *Document) Answer(text, strong, verdict string) {
	d.Answers = append(d.Answers, Answer{Text: text, Strong: strong, Verdict: verdict})
}

// Add appends blocks.
func (d *Document) Add(blocks ...Block) { d.Blocks = append(d.Blocks, blocks...) }

// Block is a Heading, Text, Note, Warning, Code, Contents, Tiles, Table, Figure,
// Picture, OnPage or OnTerminal.
type Block any

// Heading starts a section; pages list it in their Contents.
type Heading string

// Text is a plain paragraph. On a page, words in backquotes are code, as in notes and warnings.
type Text string

// Note is a paragraph in small print.
type Note string

// Warning is a highlighted paragraph.
type Warning string

// Code holds lines to copy verbatim.
type Code string

// Contents is the table of contents of a page.
type Contents struct{}

// Tiles are the few most important numbers.
type Tiles []Tile

// Tile is a number with its label.
type Tile struct{ Value, Label string }

// Figure is a chart.
type Figure = chart.Figure

// Figures converts charts to blocks.
func Figures(all []Figure) []Block {
	return list.Map(all, func(f Figure) Block { return f })
}

// Picture is an SVG, already escaped, that is too wide for small screens.
type Picture struct {
	Title, Text, Caption string
	SVG                  template.HTML
}

// OnPage holds blocks that terminals omit.
type OnPage []Block

// OnTerminal prints what only a terminal shows, such as plots of characters.
type OnTerminal func(*show.Page)

// Table has rows of cells below a header. Columns of numbers are right-aligned, words such as
// "better" have a verdict's colour.
type Table struct {
	Title, Note string
	Header      []string // may be empty
	Rows        [][]string
	Prose       bool // cells are texts that wrap, named by the first column
}

// verdicts maps words that tables colour to inks.
var verdicts = map[string]show.Ink{"better": show.Good, "worse": show.Bad, "equivalent": show.Note, "inconclusive": show.Doubt, "invalid": show.Doubt, "stopped": show.Bad}

// Numbers reports for each column whether it is right-aligned.
func (t Table) Numbers() []bool {
	n := len(t.Header)
	for _, row := range t.Rows {
		n = max(n, len(row))
	}
	out := make([]bool, n)
	for i := range out {
		out[i] = i > 0 && !t.Prose && !slices.ContainsFunc(t.Rows, func(row []string) bool {
			return i < len(row) && row[i] != "control" && !startsNumber(row[i])
		})
	}
	return out
}

// DropEmpty removes columns from the third on that contain only dashes.
func (t *Table) DropEmpty() {
	for i := len(t.Header) - 1; i > 1; i-- {
		if !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != show.Unknown }) {
			t.Header = slices.Delete(t.Header, i, i+1)
			for n := range t.Rows {
				t.Rows[n] = slices.Delete(t.Rows[n], i, i+1)
			}
		}
	}
}

// startsNumber reports whether a cell is a number, an interval, or empty.
func startsNumber(text string) bool {
	text = strings.TrimLeft(text, "[(<>+−±–- ")
	first, _ := utf8.DecodeRuneInString(text)
	return text == "" || unicode.IsDigit(first)
}
