// Package show is the one way linerate writes for people: numbers with their
// units, percents, p-values, intervals, durations, tables, paragraphs, colour,
// and lines that are written over. Machines read JSON instead, where numbers
// are never rounded.
//
// Three significant digits are the rule: a measurement here is rarely good for
// more, and a column of them can be read. What is unknown is an en dash.
package show

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Unknown stands for a value that is not known.
const Unknown = "–"

// DefaultWidth is the width of a page where none is given.
const DefaultWidth = 80

// Style is how a page looks. The zero value is plain text of 80 columns.
type Style struct {
	Colour bool // ANSI colours
	Width  int  // columns; 0: DefaultWidth
	Fold   bool // tables that are wider go on below; elsewhere a record is a line
}

// Columns is the style's width, never 0.
func (s Style) Columns() int {
	if s.Width <= 0 {
		return DefaultWidth
	}
	return s.Width
}

// Ink is a meaning that a terminal shows as a colour or a weight.
type Ink int

// The inks. Good and Bad are for verdicts, Doubt for what could not be
// decided and for warnings.
const (
	Plain Ink = iota
	Bold
	Dim
	Good
	Bad
	Doubt
	Note
)

var inks = map[Ink]ansi.Style{
	Bold:  ansi.NewStyle(ansi.AttrBold),
	Dim:   ansi.NewStyle(ansi.AttrFaint),
	Good:  ansi.NewStyle(ansi.AttrGreenForegroundColor),
	Bad:   ansi.NewStyle(ansi.AttrRedForegroundColor),
	Doubt: ansi.NewStyle(ansi.AttrYellowForegroundColor),
	Note:  ansi.NewStyle(ansi.AttrCyanForegroundColor),
}

// Paint writes text in an ink, or plainly where the style has no colour.
func (s Style) Paint(ink Ink, text string) string {
	if !s.Colour || ink == Plain || text == "" {
		return text
	}
	return inks[ink].Styled(text)
}

// Headline is Paint in bold letters.
func (s Style) Headline(ink Ink, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return append(ansi.NewStyle(ansi.AttrBold), inks[ink]...).Styled(text)
}

// Bold is Paint in the ink Bold.
func (s Style) Bold(text string) string { return s.Paint(Bold, text) }

// Dim is Paint in the ink Dim.
func (s Style) Dim(text string) string { return s.Paint(Dim, text) }

// Width is how many columns a text takes on a terminal: escape sequences none,
// wide characters two.
func Width(text string) int { return ansi.StringWidth(text) }

// Pad fills a text with spaces to n columns; a wider one stays as it is.
func Pad(text string, n int) string { return text + strings.Repeat(" ", max(0, n-Width(text))) }

// KeepEnd cuts a text to n columns, its beginning first: the end of a path
// tells it from its neighbours.
func KeepEnd(text string, n int) string {
	w := Width(text)
	if w <= n {
		return text
	}
	return ansi.TruncateLeft(text, w-n+1, "…")
}

// KeepStart cuts a text to n columns, its end first.
func KeepStart(text string, n int) string { return ansi.Truncate(text, n, "…") }

// Clean keeps what a hostile file or host wrote from steering a terminal:
// control characters become "?", white space becomes a space.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return ' '
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0, bidi(r):
			return '?'
		}
		return r
	}, text)
}

// bidi tells characters that turn the direction of writing: they make a line
// read as something it is not (CVE-2021-42574).
func bidi(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f
}
